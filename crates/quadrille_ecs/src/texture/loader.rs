//! Image loading with limits: sizes in a file's header are checked before memory is allocated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bevy_asset::io::{Reader, VecReader};
use bevy_asset::{AssetLoader, AsyncReadExt as _, LoadContext};
use bevy_ecs::prelude::*;
use bevy_image::{
    CompressedImageFormats, Image, ImageFormat, ImageFormatSetting, ImageLoader, ImageLoaderError,
    ImageLoaderSettings,
};
use bevy_reflect::TypePath;
use image::ImageFormat as FileFormat;
use quadrille_vulkan::device::Gpu;
use thiserror::Error;

use super::checks::check;
use super::files::AssetFolder;
use super::format;
use super::gamma::to_linear;

/// Size limits of image files and images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Maximum size of a file in bytes.
    pub file_bytes: u64,
    /// Maximum width and height in pixels.
    pub side: u32,
    /// Maximum size in bytes of the decoded pixels with all mip levels and layers, which may be far more than the
    /// file's size. Loading takes several times as much host memory.
    ///
    /// `None` is the lesser of 512 MiB and an eighth of the device's memory
    /// ([`DeviceInfo::memory_bytes`](quadrille_vulkan::device::DeviceInfo::memory_bytes)). 512 MiB suffice, with all mip
    /// levels, for an image of the maximum size in a compressed format, or of half that width and height with four
    /// bytes per pixel.
    pub decoded_bytes: Option<u64>,
}

impl Default for ImageLimits {
    /// Files of 256 MiB, and sides of 16,384 pixels, the largest on most devices. `decoded_bytes` is `None`.
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            side: 16_384,
            decoded_bytes: None,
        }
    }
}

/// Default limit of decoded bytes on devices with much memory.
const MAX_DECODED_BYTES: u64 = 512 << 20;

/// Default limit of decoded bytes on a device with this much memory.
fn default_decoded_bytes(memory_bytes: u64) -> u64 {
    (memory_bytes / 8).min(MAX_DECODED_BYTES)
}

/// Reason why an image file is rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckedImageError {
    /// The file is too large.
    #[error(
        "the file is longer than the limit of {limit} bytes, which \
         `ImageLimits::file_bytes` sets"
    )]
    FileTooLong {
        /// The limit in bytes.
        limit: u64,
    },
    /// The image is too wide or too high.
    #[error(
        "the image claims to have {}x{} pixels, more than the limit of {limit} on a side, which \
         `ImageLimits::side` sets",
        size[0], size[1]
    )]
    TooLarge {
        /// Width and height.
        size: [u32; 2],
        /// The limit of both.
        limit: u32,
    },
    /// Its pixels take too much memory.
    #[error(
        "the {}x{} pixels of the image take {bytes} bytes when they are decoded, more than the \
         limit of {limit}; `ImageLimits::decoded_bytes` sets another",
        size[0], size[1]
    )]
    DecodedTooLarge {
        /// Width and height.
        size: [u32; 2],
        /// Bytes of all mip levels and layers.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// No enabled loader reads files with this file name extension.
    #[error(
        "files that end in `{extension}` are not loaded; take one that ends in {known}, or turn on the \
         feature of bevy_image that loads such files"
    )]
    UnknownKind {
        /// The file name extension.
        extension: String,
        /// Supported extensions.
        known: String,
    },
    /// The header of a KTX2 file contradicts its contents.
    #[error("the KTX2 file is inconsistent: {0}")]
    Inconsistent(String),
    /// The file cannot be read or decoded.
    #[error(transparent)]
    Load(#[from] ImageLoaderError),
}

/// Image limits of the current device. Shared with loaders, because these run concurrently with frames and outlive a
/// device.
#[derive(Resource, Clone, Default)]
pub(crate) struct DeviceLimits(Arc<Shared>);

struct Shared {
    /// The compressed formats that the device can sample: images in others are rejected.
    formats: AtomicU32,
    /// Default limit of decoded bytes.
    decoded_bytes: AtomicU64,
}

impl Default for Shared {
    /// Values before a device exists.
    fn default() -> Self {
        Self {
            formats: AtomicU32::new(CompressedImageFormats::NONE.bits()),
            decoded_bytes: AtomicU64::new(MAX_DECODED_BYTES),
        }
    }
}

impl DeviceLimits {
    /// Sets the limits of a new device.
    pub(crate) fn set(&self, gpu: &Gpu) {
        let formats = format::compressed(gpu);
        self.0.formats.store(formats.bits(), Ordering::Relaxed);
        let decoded_bytes = default_decoded_bytes(gpu.info().memory_bytes);
        let known = &self.0.decoded_bytes;
        known.store(decoded_bytes, Ordering::Relaxed);
    }

    /// The compressed formats that the device can sample.
    pub(crate) fn formats(&self) -> CompressedImageFormats {
        CompressedImageFormats::from_bits_truncate(self.0.formats.load(Ordering::Relaxed))
    }

    /// Fills missing limits of the app with those of the device.
    pub(super) fn complete(&self, limits: ImageLimits) -> Complete {
        let default = || self.0.decoded_bytes.load(Ordering::Relaxed);
        Complete {
            file_bytes: limits.file_bytes,
            side: limits.side,
            decoded_bytes: limits.decoded_bytes.unwrap_or_else(default),
        }
    }
}

/// [`ImageLimits`] without missing values.
#[derive(Clone, Copy)]
pub(super) struct Complete {
    pub(super) file_bytes: u64,
    pub(super) side: u32,
    pub(super) decoded_bytes: u64,
}

/// bevy's image loader with checks of [`ImageLimits`].
pub(crate) struct CheckedImageLoader {
    limits: ImageLimits,
    device: DeviceLimits,
    folder: AssetFolder,
}

impl CheckedImageLoader {
    pub(crate) fn new(limits: ImageLimits, device: DeviceLimits, folder: AssetFolder) -> Self {
        Self {
            limits,
            device,
            folder,
        }
    }
}

impl TypePath for CheckedImageLoader {
    /// Type path of bevy's loader, which this one replaces: `ImagePlugin` has reserved that name for image file
    /// extensions, and meta files use it.
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
        check_kind(settings, load_context)?;
        let checked = self.folder.check(load_context.path());
        checked.map_err(ImageLoaderError::Io)?;
        let limits = self.device.complete(self.limits);
        let bytes = read(reader, limits).await?;
        check(&bytes, file_format(settings, load_context), limits)?;
        let is_gamma_coded = settings.is_srgb && settings.texture_format.is_none();
        let mut checked = VecReader::new(bytes);
        let loader = ImageLoader::new(self.device.formats());
        let mut image = loader.load(&mut checked, settings, load_context).await?;
        if is_gamma_coded {
            to_linear(&mut image, &checked.bytes);
        }
        Ok(image)
    }

    fn extensions(&self) -> &[&str] {
        ImageLoader::SUPPORTED_FILE_EXTENSIONS
    }
}

/// Checks that files with this extension are supported, if the name has an extension. The asset server passes every
/// file that is loaded as an image to this loader.
fn check_kind(
    settings: &ImageLoaderSettings,
    load_context: &LoadContext<'_>,
) -> Result<(), CheckedImageError> {
    let path = load_context.path().path();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let known = ImageLoader::SUPPORTED_FILE_EXTENSIONS;
    let is_known = |known: &&str| known.eq_ignore_ascii_case(&extension);
    let by_name = matches!(settings.format, ImageFormatSetting::FromExtension);
    if !by_name || known.iter().any(is_known) {
        Ok(())
    } else {
        Err(CheckedImageError::UnknownKind {
            extension: extension.into_owned(),
            known: known.join(" or "),
        })
    }
}

/// Reads a file up to one byte beyond the limit, which suffices to detect that it is too long.
async fn read(reader: &mut dyn Reader, limits: Complete) -> Result<Vec<u8>, CheckedImageError> {
    let mut bytes = Vec::new();
    reader
        .take(limits.file_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .await
        .map_err(ImageLoaderError::Io)?;
    Ok(bytes)
}

/// Returns the format of a file if it is known before reading.
fn file_format(
    settings: &ImageLoaderSettings,
    load_context: &LoadContext<'_>,
) -> Option<FileFormat> {
    let format = match settings.format {
        ImageFormatSetting::Guess => None,
        ImageFormatSetting::Format(format) => Some(format),
        ImageFormatSetting::FromExtension => {
            let path = load_context.path().path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.and_then(ImageFormat::from_extension)
        }
    };
    format.and_then(|format| format.as_image_crate_format())
}

#[cfg(test)]
mod tests;
