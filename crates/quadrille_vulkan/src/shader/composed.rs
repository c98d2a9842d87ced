//! Shaders whose composed text a program changes before it is translated.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::compose::{Joined, Root, compose};
use super::{GpuShader, ShaderOptions};
use crate::error::ShaderError;

/// WGSL with all that it imports, after conditional translation: one text, which may be changed before it is translated.
///
/// Errors show the lines of the files that the text comes from; a replacement stands there for what it replaced.
///
/// ```
/// use quadrille_vulkan::shader::ShaderOptions;
///
/// let source = "@compute @workgroup_size(SIDE) fn main() {}";
/// let mut shader = ShaderOptions::new().compose("fill", source, None)?;
/// let at = shader.text().find("SIDE").expect("it is there");
/// shader.replace(&[(at..at + 4, "64".to_owned())]);
/// assert_eq!(shader.translate()?.entry_points()[0].workgroup_size, [64, 1, 1]);
/// # Ok::<(), quadrille_vulkan::ShaderError>(())
/// ```
pub struct ComposedShader {
    label: String,
    joined: Joined,
    files: Vec<PathBuf>,
    options: ShaderOptions,
}

impl ComposedShader {
    /// The text. Declarations of imported modules may have other names than there.
    pub fn text(&self) -> &str {
        self.joined.text()
    }

    /// Files that the shader imports, canonical; also those that it looked for and that do not exist.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether this is the name in the text of a declaration that was imported. Imported entry points are not those
    /// of the shader.
    pub fn is_imported(&self, name: &str) -> bool {
        self.joined.is_imported(name)
    }

    /// The name in its module of a declaration with this name in the text.
    pub fn own_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.joined.own_name(name).0
    }

    /// Replaces ranges of the text, which are in order and do not overlap.
    pub fn replace(&mut self, edits: &[(Range<usize>, String)]) {
        self.joined.replace(edits);
    }

    /// The error of a range of the text, with its file, line and column.
    pub fn error(&self, message: &str, at: Range<usize>) -> ShaderError {
        self.joined
            .error(message, &[(at, String::new())], Vec::new())
    }

    /// Translates the text.
    ///
    /// # Errors
    /// As for [`GpuShader::wgsl`].
    pub fn translate(self) -> Result<GpuShader, ShaderError> {
        GpuShader::of_joined(&self.label, self.joined, &self.options)
    }
}

impl ShaderOptions {
    /// Composes WGSL without translating it. `file` is the file of the source, beside which imports by `super::` lie.
    ///
    /// # Errors
    /// [`ShaderError::Source`] with the location; [`ShaderError::File`] if the folder of imports does not exist.
    pub fn compose(
        self,
        label: &str,
        source: &str,
        file: Option<&Path>,
    ) -> Result<ComposedShader, ShaderError> {
        let mut files = Vec::new();
        let options = self.canonical()?;
        let root = Root {
            label,
            source,
            file,
            options: &options,
            follows_files: false,
        };
        let joined = compose(&root, &mut files)?;
        Ok(ComposedShader {
            label: label.to_owned(),
            joined,
            files,
            options,
        })
    }

    /// Files that a source imports, canonical; also those that do not exist, and those of a source with errors.
    pub fn imported_files(self, label: &str, source: &str, file: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        if let Ok(options) = self.canonical() {
            let root = Root {
                label,
                source,
                file: Some(file),
                options: &options,
                follows_files: false,
            };
            // Translation reports the error.
            let _ = compose(&root, &mut files);
        }
        files
    }
}

#[cfg(test)]
mod tests;
