//! Loading of shader files, whose contents are untrusted.

use std::path::{Path, PathBuf};

use super::GpuShader;
use super::compose::Root;
use super::defs::ShaderOptions;
use crate::error::ShaderError;
use crate::file::read_file;

/// Maximum size of a shader file in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, ShaderError> {
    let error = |reason: String| ShaderError::File {
        path: path.to_owned(),
        reason,
    };
    if !is_known(path) {
        return Err(error(
            "its name must end in .wesl, .wgsl or .spv".to_owned(),
        ));
    }
    read_file(path, MAX_BYTES).map_err(|it| error(it.to_string()))
}

/// Creates a shader from the contents of a file, and adds the imported files to `files`, also on failure.
pub(super) fn parse(
    path: &Path,
    bytes: &[u8],
    options: &ShaderOptions,
    follows_files: bool,
    files: &mut Vec<PathBuf>,
) -> Result<GpuShader, ShaderError> {
    let label = path.display().to_string();
    if is_wgsl(path) {
        let root = Root {
            label: &label,
            source: text(&label, bytes)?,
            file: Some(path),
            options,
            follows_files,
        };
        GpuShader::composed(&root, files)
    } else {
        GpuShader::spirv_bytes(&label, bytes)
    }
}

/// Returns the canonical path of a file, as in events of a file watcher; `None` if its folder does not exist.
pub(super) fn canonical(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let folder = absolute.parent()?.canonicalize().ok()?;
    Some(folder.join(absolute.file_name()?))
}

fn is_wgsl(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "wgsl" || extension == "wesl")
}

fn is_known(path: &Path) -> bool {
    is_wgsl(path) || path.extension().is_some_and(|extension| extension == "spv")
}

/// Decodes UTF-8, or returns an error at the first invalid byte.
pub(super) fn text<'a>(label: &str, bytes: &'a [u8]) -> Result<&'a str, ShaderError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let last = before.rsplit('\n').next().unwrap_or_default();
        ShaderError::Source {
            label: label.to_owned(),
            line: 1 + before.matches('\n').count() as u32,
            column: 1 + last.len() as u32,
            message: "the text is not UTF-8".to_owned(),
            excerpt: String::new(),
        }
    })
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
