//! Restricted reading of asset files: regular files within the asset folder, up to a maximum size.
//!
//! bevy's `FileAssetReader` opens any path. A glTF file can name any path as a buffer, and
//! `load_context.read_asset_bytes` ignores `UnapprovedPathMode`. Reading a device file may never end, reading a pipe
//! blocks, and a symbolic link may lead out of the folder. A reader that replaces bevy's covers all loaders, including
//! those of other crates, and meta files. Checks in a loader would come after the file was opened.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bevy_app::App;
use bevy_asset::io::file::FileAssetReader;
use bevy_asset::io::{
    AssetReader, AssetReaderError, AssetSourceBuilder, AssetSourceId, PathStream, Reader,
    ReaderNotSeekableError, STACK_FUTURE_SIZE, SeekableReader, StackFuture,
};
use bevy_asset::{AssetPath, AssetPlugin, AssetServer};
use bevy_ecs::prelude::*;
use bevy_tasks::block_on;
use futures_io::{AsyncRead, AsyncSeek};
use quadrille_vulkan::file::open_regular;

/// Rules for the files that assets are read from: insert it before the plugins that read assets.
///
/// The rules apply where [`TexturePlugin`](crate::TexturePlugin), or a plugin of 2D or 3D, adds bevy's `AssetPlugin`.
/// An app that adds `AssetPlugin` itself has bevy's reader: images and buffers of glTF files are still checked, but
/// other files are not, and reading a pipe blocks. A warning says so. To avoid it, such an app registers the source
/// first:
///
/// ```
/// use bevy_app::App;
/// use bevy_asset::io::AssetSourceId;
/// use bevy_asset::{AssetApp as _, AssetPlugin};
/// use quadrille_ecs::{AssetFileRules, checked_asset_source};
///
/// let source = checked_asset_source("data", AssetFileRules::default());
/// let mut app = App::new();
/// app.register_asset_source(AssetSourceId::Default, source)
///     .add_plugins((bevy_app::TaskPoolPlugin::default(), AssetPlugin::default()));
/// ```
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssetFileRules {
    /// Maximum size of a file in bytes, checked before memory is allocated.
    pub file_bytes: u64,
    /// Whether symbolic links may lead out of the asset folder. Paths with `..` never may.
    pub allow_links_outside: bool,
}

impl Default for AssetFileRules {
    /// 1 GiB, and no links out of the folder.
    fn default() -> Self {
        Self {
            file_bytes: 1 << 30,
            allow_links_outside: false,
        }
    }
}

/// Folder and rules of the default asset source. For loaders, because an app with its own `AssetPlugin` may use bevy's
/// reader, which does not check files.
#[derive(Clone)]
pub struct AssetFolder {
    reader: Arc<CheckedReader>,
}

impl AssetFolder {
    /// Returns folder and rules of an app.
    pub fn of(app: &App) -> Self {
        let rules = app.world().get_resource::<AssetFileRules>();
        let plugins = app.get_added_plugins::<AssetPlugin>();
        let default = AssetPlugin::default();
        let plugin = plugins.first().copied().unwrap_or(&default);
        let rules = rules.copied().unwrap_or_default();
        let reader = Arc::new(CheckedReader::new(&plugin.file_path, rules));
        Self { reader }
    }

    /// Returns the file of an asset of the default source; `None` for other sources and for paths that leave the
    /// folder.
    pub fn file(&self, path: &AssetPath<'_>) -> Option<PathBuf> {
        let is_inside = *path.source() == AssetSourceId::Default && !leaves(path.path());
        is_inside.then(|| self.reader.files.root_path().join(path.path()))
    }

    /// Asset of the default source in a file; `None` for a file outside of the folder. The inverse of [`Self::file`].
    pub fn asset_path(&self, file: &Path) -> Option<AssetPath<'static>> {
        let root = self.reader.files.root_path();
        let canonical = root.canonicalize().ok();
        let below = file.strip_prefix(root);
        let below = below.ok().or_else(|| file.strip_prefix(canonical?).ok())?;
        (!leaves(below)).then(|| AssetPath::from(below.to_path_buf()))
    }

    /// Checks that a file may be read. A file that does not exist is accepted, because some sources have no files.
    ///
    /// # Errors
    /// Returns the reason why it may not be read.
    pub fn check(&self, path: &AssetPath<'_>) -> Result<()> {
        if *path.source() != AssetSourceId::Default || leaves(path.path()) {
            // `UnapprovedPathMode` handles paths that leave the folder.
            return Ok(());
        }
        match self.reader.open(path.path(), self.reader.rules.file_bytes) {
            Err(AssetReaderError::Io(error)) => Err(Error::new(error.kind(), error)),
            _ => Ok(()),
        }
    }
}

/// Maximum size of a meta file, which holds settings of a loader.
const MAX_META_BYTES: u64 = 1 << 20;

/// Creates an asset source that enforces [`AssetFileRules`]. The folder is relative to the project, like that of bevy's
/// `AssetPlugin`.
pub fn checked_asset_source(folder: &str, rules: AssetFileRules) -> AssetSourceBuilder {
    let path = folder.to_owned();
    AssetSourceBuilder::platform_default(folder, None)
        .with_reader(move || Box::new(CheckedReader::new(&path, rules)))
}

/// Whether the default asset source reads files outside of its folder, as bevy's reader does. Tested by looking up the
/// folder by a path that leaves and re-enters it.
pub(super) fn reads_outside(app: &App) -> bool {
    let plugins = app.get_added_plugins::<AssetPlugin>();
    let Some(folder) = plugins
        .first()
        .and_then(|it| Path::new(&it.file_path).file_name())
    else {
        return false;
    };
    let path = Path::new("..").join(folder);
    let server = app.world().get_resource::<AssetServer>();
    let source = server.and_then(|server| server.get_source(AssetSourceId::Default).ok());
    source.is_some_and(|source| {
        let found = block_on(source.reader().is_directory(&path));
        found.is_ok_and(|is_directory| is_directory)
    })
}

/// bevy's file reader restricted by [`AssetFileRules`].
struct CheckedReader {
    files: FileAssetReader,
    rules: AssetFileRules,
}

impl CheckedReader {
    fn new(folder: &str, rules: AssetFileRules) -> Self {
        let files = FileAssetReader::new(folder);
        Self { files, rules }
    }

    /// Resolves a path to a file within the asset folder.
    fn find(&self, path: &Path) -> std::result::Result<PathBuf, AssetReaderError> {
        let root = self.files.root_path();
        if leaves(path) {
            return Err(outside(path, root, "move the file into it").into());
        }
        let full = root.join(path);
        let missing = |error: Error| match error.kind() {
            ErrorKind::NotFound => AssetReaderError::NotFound(full.clone()),
            _ => error.into(),
        };
        let found = full.canonicalize().map_err(missing)?;
        if self.rules.allow_links_outside
            || found.starts_with(root.canonicalize().map_err(missing)?)
        {
            return Ok(found);
        }
        let advice = "it is or lies behind a symbolic link; copy the file, or set \
                      `AssetFileRules::allow_links_outside`";
        Err(outside(path, root, advice).into())
    }

    fn open(
        &self,
        path: &Path,
        most_bytes: u64,
    ) -> std::result::Result<RegularFile, AssetReaderError> {
        let (file, length) = open_regular(&self.find(path)?, most_bytes).map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::FileTooLarge => "; `AssetFileRules::file_bytes` sets the limit",
                _ => "",
            };
            let message = format!("{}: {error}{hint}", path.display());
            Error::new(error.kind(), message)
        })?;
        Ok(RegularFile {
            file,
            length,
            left: most_bytes,
        })
    }
}

/// Whether a relative path leaves its folder, ignoring links.
fn leaves(path: &Path) -> bool {
    let mut depth: usize = 0;
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return true,
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
        }
    }
    false
}

fn outside(path: &Path, root: &Path, advice: &str) -> Error {
    let (path, root) = (path.display(), root.display());
    let message = format!("{path} leaves the folder of assets, {root}: {advice}");
    Error::new(ErrorKind::PermissionDenied, message)
}

impl AssetReader for CheckedReader {
    async fn read<'a>(
        &'a self,
        path: &'a Path,
    ) -> std::result::Result<impl Reader + 'a, AssetReaderError> {
        self.open(path, self.rules.file_bytes)
    }

    async fn read_meta<'a>(
        &'a self,
        path: &'a Path,
    ) -> std::result::Result<impl Reader + 'a, AssetReaderError> {
        let mut meta = path.as_os_str().to_owned();
        meta.push(".meta");
        let most = MAX_META_BYTES.min(self.rules.file_bytes);
        self.open(Path::new(&meta), most)
    }

    async fn read_directory<'a>(
        &'a self,
        path: &'a Path,
    ) -> std::result::Result<Box<PathStream>, AssetReaderError> {
        self.find(path)?;
        AssetReader::read_directory(&self.files, path).await
    }

    async fn is_directory<'a>(
        &'a self,
        path: &'a Path,
    ) -> std::result::Result<bool, AssetReaderError> {
        Ok(self.find(path)?.is_dir())
    }
}

/// A regular file with blocking reads. Loaders run on threads meant for blocking, where they also decode.
struct RegularFile {
    file: File,
    length: u64,
    /// Number of bytes that may still be read, in case the file grows meanwhile.
    left: u64,
}

impl RegularFile {
    fn take(&mut self, read: usize) -> Result<usize> {
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let message = "it grew beyond the limit while it was read";
            Error::new(ErrorKind::FileTooLarge, message)
        })?;
        Ok(read)
    }
}

impl AsyncRead for RegularFile {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<Result<usize>> {
        let read = self.file.read(into);
        Poll::Ready(read.and_then(|read| self.take(read)))
    }
}

impl AsyncSeek for RegularFile {
    fn poll_seek(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<Result<u64>> {
        Poll::Ready(self.file.seek(to))
    }
}

impl Reader for RegularFile {
    fn read_to_end<'a>(
        &'a mut self,
        into: &'a mut Vec<u8>,
    ) -> StackFuture<'a, Result<usize>, STACK_FUTURE_SIZE> {
        StackFuture::from(async move {
            into.reserve_exact(usize::try_from(self.length).unwrap_or_default());
            let most = self.left.saturating_add(1);
            let read = (&mut self.file).take(most).read_to_end(into)?;
            self.take(read)
        })
    }

    fn seekable(&mut self) -> std::result::Result<&mut dyn SeekableReader, ReaderNotSeekableError> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
