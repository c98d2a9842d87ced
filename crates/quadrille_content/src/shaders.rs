//! Shader files as assets, by bevy's names. bevy has these types in `bevy_shader`, which comes with a translator of its own
//! (`wesl`, declared for Rust 1.97.1); this crate has the one of [`GpuShader`](quadrille::prelude::GpuShader), so it
//! defines them.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use bevy_app::App;
use bevy_asset::io::Reader;
use bevy_asset::{
    Asset, AssetApp as _, AssetLoader, AssetPath, AsyncReadExt as _, Handle, LoadContext,
};
use bevy_reflect::{Reflect, TypePath};
use quadrille::ecs::AssetFolder;
use quadrille::vulkan::shader::ShaderOptions;

/// WGSL of a file, or of a program.
#[derive(Asset, Reflect, Clone, Debug, PartialEq, Eq)]
#[reflect(Clone, Debug, PartialEq)]
pub struct Shader {
    /// Name in errors: the path of the asset.
    pub path: String,
    /// The text.
    pub source: Cow<'static, str>,
    /// The file, beside which imports by `super::` lie; `None` for a shader of the program.
    pub file: Option<PathBuf>,
}

impl Shader {
    /// A shader of the program. `path` stands for the file in errors.
    pub fn from_wgsl(source: impl Into<Cow<'static, str>>, path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            source: source.into(),
            file: None,
        }
    }

    /// A shader of the program with imports, as in files of WESL. [`Shader::from_wgsl`] resolves imports as well; bevy does so
    /// in this one alone.
    pub fn from_wesl(source: impl Into<Cow<'static, str>>, path: impl Into<String>) -> Self {
        Self::from_wgsl(source, path)
    }
}

/// Shader of a material: bevy's type by name and variants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ShaderRef {
    /// The one that the renderer has.
    #[default]
    Default,
    /// An asset.
    Handle(Handle<Shader>),
    /// A file of the asset folder.
    Path(AssetPath<'static>),
}

impl From<Handle<Shader>> for ShaderRef {
    fn from(handle: Handle<Shader>) -> Self {
        Self::Handle(handle)
    }
}

impl From<AssetPath<'static>> for ShaderRef {
    fn from(path: AssetPath<'static>) -> Self {
        Self::Path(path)
    }
}

impl From<&'static str> for ShaderRef {
    fn from(path: &'static str) -> Self {
        Self::Path(AssetPath::from(path))
    }
}

/// Returns the asset of a material's shader; `None` for the renderer's own.
pub fn shader_handle(
    shader: ShaderRef,
    load: impl FnOnce(AssetPath<'static>) -> Handle<Shader>,
) -> Option<Handle<Shader>> {
    match shader {
        ShaderRef::Default => None,
        ShaderRef::Handle(handle) => Some(handle),
        ShaderRef::Path(path) => Some(load(path)),
    }
}

/// Maximum bytes of a shader file.
const MAX_BYTES: usize = 16 << 20;

/// Loads `.wgsl` and `.wesl` files as [`Shader`].
#[derive(TypePath)]
struct ShaderLoader {
    folder: AssetFolder,
}

impl ShaderLoader {
    /// Paths of the assets that a shader file imports, without shader defs.
    fn imports(&self, label: &str, source: &str, file: &Path) -> Vec<AssetPath<'static>> {
        let files = ShaderOptions::new().imported_files(label, source, file);
        let paths = files.iter().filter_map(|file| self.folder.asset_path(file));
        paths.collect()
    }
}

impl AssetLoader for ShaderLoader {
    type Asset = Shader;
    type Settings = ();
    type Error = Error;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _: &(),
        load_context: &mut LoadContext<'_>,
    ) -> Result<Shader> {
        let path = load_context.path();
        self.folder.check(path)?;
        let mut bytes = Vec::new();
        // One byte past the limit suffices to detect an oversized file.
        let most = MAX_BYTES as u64 + 1;
        reader.take(most).read_to_end(&mut bytes).await?;
        if bytes.len() > MAX_BYTES {
            let message = format!("the shader file has more than {} MiB", MAX_BYTES >> 20);
            return Err(Error::new(ErrorKind::FileTooLarge, message));
        }
        let source = String::from_utf8(bytes)
            .map_err(|error| Error::new(ErrorKind::InvalidData, error.utf8_error()))?;
        let (label, file) = (path.to_string(), self.folder.file(path));
        for import in file
            .iter()
            .flat_map(|file| self.imports(&label, &source, file))
        {
            // Reading a file makes the asset depend on it. Translation reports one that does not exist.
            let _ = load_context.read_asset_bytes(import).await;
        }
        Ok(Shader {
            path: label,
            source: source.into(),
            file,
        })
    }

    fn extensions(&self) -> &[&str] {
        &["wgsl", "wesl"]
    }
}

/// Registers [`Shader`] as an asset.
pub(crate) fn add_shader_assets(app: &mut App) {
    let folder = AssetFolder::of(app);
    app.init_asset::<Shader>()
        .register_asset_reflect::<Shader>()
        .register_asset_loader(ShaderLoader { folder });
}

#[cfg(test)]
mod tests;
