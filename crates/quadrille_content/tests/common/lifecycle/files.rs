//! Files of assets, in memory: whole ones, broken ones, and none is read before a test lets it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use bevy_app::App;
use bevy_asset::AssetApp as _;
use bevy_asset::io::memory::{Dir, MemoryAssetReader};
use bevy_asset::io::{AssetReader, AssetReaderError, AssetSourceBuilder, PathStream, Reader};
use bevy_ecs::prelude::*;

use super::Made;

/// An asset that can be written to a file.
pub(crate) trait FileAsset: Made {
    const EXTENSION: &str;

    fn to_file(&self) -> Vec<u8>;

    /// Whether another one has the same contents.
    fn is_like(&self, other: &Self) -> bool;
}

/// The contents of a PNG file with the texels of an image, 4 bytes each.
pub(crate) fn png_file(image: &bevy_image::Image) -> Vec<u8> {
    let size = image.texture_descriptor.size;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size.width, size.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("a header");
    let texels = image.data.as_deref().expect("it has texels");
    writer
        .write_image_data(texels)
        .expect("the image is written");
    drop(writer);
    file
}

/// The files.
#[derive(Resource, Default)]
pub(crate) struct Files {
    folder: Dir,
    is_closed: Arc<AtomicBool>,
    count: usize,
}

impl Files {
    /// Adds a source of assets, which has to come before bevy's plugin of assets.
    pub(crate) fn add_to(app: &mut App) {
        let files = Self::default();
        let (folder, is_closed) = (files.folder.clone(), Arc::clone(&files.is_closed));
        let source = AssetSourceBuilder::new(move || {
            Box::new(GatedReader {
                files: MemoryAssetReader {
                    root: folder.clone(),
                },
                is_closed: Arc::clone(&is_closed),
            })
        });
        app.register_asset_source("life", source);
        app.insert_resource(files);
    }

    /// A path that no file had before.
    pub(super) fn new_path(&mut self, extension: &str) -> String {
        self.count += 1;
        format!("{}.{extension}", self.count)
    }

    pub(super) fn write(&self, path: &str, bytes: Vec<u8>) {
        self.folder.insert_asset(Path::new(path), bytes);
    }

    /// Has reading wait, or go on.
    pub(super) fn set_closed(&self, is_closed: bool) {
        self.is_closed.store(is_closed, Ordering::Relaxed);
    }
}

/// Reads files while it is not closed.
struct GatedReader {
    files: MemoryAssetReader,
    is_closed: Arc<AtomicBool>,
}

impl AssetReader for GatedReader {
    async fn read<'a>(&'a self, path: &'a Path) -> Result<impl Reader + 'a, AssetReaderError> {
        std::future::poll_fn(|context| {
            if !self.is_closed.load(Ordering::Relaxed) {
                return Poll::Ready(());
            }
            std::thread::sleep(Duration::from_millis(1));
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        self.files.read(path).await
    }

    async fn read_meta<'a>(&'a self, path: &'a Path) -> Result<impl Reader + 'a, AssetReaderError> {
        self.files.read_meta(path).await
    }

    async fn read_directory<'a>(
        &'a self,
        path: &'a Path,
    ) -> Result<Box<PathStream>, AssetReaderError> {
        self.files.read_directory(path).await
    }

    async fn is_directory<'a>(&'a self, path: &'a Path) -> Result<bool, AssetReaderError> {
        self.files.is_directory(path).await
    }
}
