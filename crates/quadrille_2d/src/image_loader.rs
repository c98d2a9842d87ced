//! Loading images with limits: what a file claims is checked before memory is taken for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bevy_asset::io::{Reader, VecReader};
use bevy_asset::{AssetLoader, AsyncReadExt as _, LoadContext};
use bevy_ecs::prelude::*;
use bevy_image::{
    CompressedImageFormats, Image, ImageLoader, ImageLoaderError, ImageLoaderSettings,
};
use bevy_reflect::TypePath;
use quadrille::vulkan::Gpu;
use thiserror::Error;

use crate::image_format;

/// How large image files and images may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Bytes of a file.
    pub file_bytes: u64,
    /// Width and height in pixels.
    pub side: u32,
}

impl Default for ImageLimits {
    /// 256 MiB, and 16,384 pixels.
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            side: 16_384,
        }
    }
}

/// Why an image file is refused.
#[derive(Debug, Error)]
pub enum CheckedImageError {
    /// The file is too long.
    #[error("the file is longer than the limit of {limit} bytes")]
    FileTooLong {
        /// The limit in bytes.
        limit: u64,
    },
    /// The image is too wide or too high.
    #[error(
        "the image claims to have {}x{} pixels, more than the limit of {limit} on a side",
        size[0], size[1]
    )]
    TooLarge {
        /// Width and height.
        size: [u32; 2],
        /// The limit.
        limit: u32,
    },
    /// It cannot be read or decoded.
    #[error(transparent)]
    Load(#[from] ImageLoaderError),
}

/// The compressed formats of the device: images of others are refused when they are loaded.
/// Loaders run beside the frames and outlive a device, so they share this.
#[derive(Resource, Clone, Default)]
pub(crate) struct DeviceFormats(Arc<AtomicU32>);

impl DeviceFormats {
    /// Takes those of another device.
    pub(crate) fn set(&self, gpu: &Gpu) {
        let formats = image_format::compressed(gpu);
        self.0.store(formats.bits(), Ordering::Relaxed);
    }

    fn now(&self) -> CompressedImageFormats {
        CompressedImageFormats::from_bits_truncate(self.0.load(Ordering::Relaxed))
    }
}

/// bevy's image loader behind [`ImageLimits`].
pub(crate) struct CheckedImageLoader {
    limits: ImageLimits,
    formats: DeviceFormats,
}

impl CheckedImageLoader {
    pub(crate) fn new(limits: ImageLimits, formats: DeviceFormats) -> Self {
        Self { limits, formats }
    }
}

impl TypePath for CheckedImageLoader {
    /// The name of bevy's loader, whose place it takes: `ImagePlugin` has reserved that name for
    /// the extensions of images, and meta files use it.
    fn type_path() -> &'static str {
        ImageLoader::type_path()
    }

    fn short_type_path() -> &'static str {
        ImageLoader::short_type_path()
    }
}

impl AssetLoader for CheckedImageLoader {
    type Asset = Image;
    type Settings = ImageLoaderSettings;
    type Error = CheckedImageError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &ImageLoaderSettings,
        load_context: &mut LoadContext<'_>,
    ) -> Result<Image, CheckedImageError> {
        let bytes = read(reader, self.limits).await?;
        check(&bytes, self.limits)?;
        let mut checked = VecReader::new(bytes);
        let loader = ImageLoader::new(self.formats.now());
        Ok(loader.load(&mut checked, settings, load_context).await?)
    }

    fn extensions(&self) -> &[&str] {
        ImageLoader::SUPPORTED_FILE_EXTENSIONS
    }
}

/// Reads a file up to one byte more than may be: that it is too long is known without the rest.
async fn read(reader: &mut dyn Reader, limits: ImageLimits) -> Result<Vec<u8>, CheckedImageError> {
    let mut bytes = Vec::new();
    reader
        .take(limits.file_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .await
        .map_err(ImageLoaderError::Io)?;
    Ok(bytes)
}

/// Compares a file with the limits.
fn check(bytes: &[u8], limits: ImageLimits) -> Result<(), CheckedImageError> {
    if bytes.len() as u64 > limits.file_bytes {
        return Err(CheckedImageError::FileTooLong {
            limit: limits.file_bytes,
        });
    }
    match claimed_size(bytes) {
        Some(size) if size.iter().any(|&side| side > limits.side) => {
            Err(CheckedImageError::TooLarge {
                size,
                limit: limits.side,
            })
        }
        _ => Ok(()),
    }
}

/// The width and height in the header of a PNG (section 11.2.1 of its specification) or KTX2
/// (section 3 of its) file; none if it is neither, which the decoder will find as well.
fn claimed_size(bytes: &[u8]) -> Option<[u32; 2]> {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
    const KTX2: &[u8] = b"\xABKTX 20\xBB\r\n\x1A\n";
    let word = |at: usize| <[u8; 4]>::try_from(bytes.get(at..at + 4)?).ok();
    if bytes.starts_with(PNG) {
        Some([u32::from_be_bytes(word(16)?), u32::from_be_bytes(word(20)?)])
    } else if bytes.starts_with(KTX2) {
        Some([u32::from_le_bytes(word(20)?), u32::from_le_bytes(word(24)?)])
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
