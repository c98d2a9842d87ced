//! Checks of image headers before memory for the pixels is allocated.

use std::io::Cursor;

use bevy_ecs::prelude::*;
use bevy_image::{CompressedImageFormats, Image, ImageFormat};
use image::{ImageDecoder as _, ImageFormat as FileFormat, ImageReader};

use super::gamma::to_linear;
use super::ktx2::Ktx2;
use super::loader::{CheckedImageError, Complete, DeviceLimits, ImageLimits};

/// The checks of [`TexturePlugin`](crate::TexturePlugin), for loaders of files with embedded images.
#[derive(Resource, Clone)]
pub struct EmbeddedImages {
    limits: ImageLimits,
    device: DeviceLimits,
}

impl EmbeddedImages {
    pub(super) fn new(limits: ImageLimits, device: DeviceLimits) -> Self {
        Self { limits, device }
    }

    /// Compares an embedded image file with [`ImageLimits`]. Returns the size in bytes of its decoded pixels, with all
    /// mip levels and layers.
    ///
    /// # Errors
    /// Returns the reason why the image is rejected.
    pub fn check(
        &self,
        file: &[u8],
        format: Option<ImageFormat>,
    ) -> Result<u64, CheckedImageError> {
        let format = format.and_then(|it| it.as_image_crate_format());
        check(file, format, self.device.complete(self.limits))
    }

    /// The block-compressed formats that the device can sample.
    pub fn compressed_formats(&self) -> CompressedImageFormats {
        self.device.formats()
    }

    /// Whether an image has 16 bits per channel, which bevy treats as linear although the file encodes them with the
    /// sRGB transfer function. Decode such an image with [`linear`](Self::linear).
    pub fn is_coded_in_16_bits(&self, file: &[u8], format: Option<ImageFormat>) -> bool {
        super::gamma::has_16_bits(file, format.and_then(|it| it.as_image_crate_format()))
    }

    /// Decodes sRGB values of an image that was loaded from `file`, if its format does not decode them when sampled,
    /// unlike `Rgba8UnormSrgb`.
    pub fn linear(&self, image: &mut Image, file: &[u8]) {
        to_linear(image, file);
    }
}

/// Compares a file with the limits.
///
/// Returns the size in bytes of its decoded pixels: 0 for a file that no decoder reads.
pub(super) fn check(
    file: &[u8],
    format: Option<FileFormat>,
    limits: Complete,
) -> Result<u64, CheckedImageError> {
    if file.len() as u64 > limits.file_bytes {
        return Err(CheckedImageError::FileTooLong {
            limit: limits.file_bytes,
        });
    }
    if let Some(ktx2) = Ktx2::read(file) {
        // Sizes are checked first, because measuring decompressed levels takes time.
        check_side(ktx2.size, limits)?;
        let claimed = ktx2.claimed();
        check_bytes(ktx2.size, claimed, limits)?;
        let bytes = ktx2.check().map_err(CheckedImageError::Inconsistent)?;
        check_bytes(ktx2.size, bytes, limits)?;
        return Ok(bytes);
    }
    // Before decoding: the PNG decoder allocates a row right after the header.
    if let Some(size) = png_size(file) {
        check_side(size, limits)?;
    }
    // The decoder reports unreadable files itself.
    let Some((size, bytes)) = decoded(file, format) else {
        return Ok(0);
    };
    check_side(size, limits)?;
    check_bytes(size, bytes, limits)?;
    Ok(bytes)
}

fn check_side(size: [u32; 2], limits: Complete) -> Result<(), CheckedImageError> {
    let limit = limits.side;
    if size.iter().any(|&side| side > limit) {
        Err(CheckedImageError::TooLarge { size, limit })
    } else {
        Ok(())
    }
}

fn check_bytes(size: [u32; 2], bytes: u64, limits: Complete) -> Result<(), CheckedImageError> {
    let limit = limits.decoded_bytes;
    if bytes > limit {
        Err(CheckedImageError::DecodedTooLarge { size, bytes, limit })
    } else {
        Ok(())
    }
}

/// Returns width and height from the header of a PNG file (section 11.2.1 of its specification).
fn png_size(file: &[u8]) -> Option<[u32; 2]> {
    let header = file.get(..24)?;
    header.starts_with(b"\x89PNG\r\n\x1a\n").then_some(())?;
    let word = |at: usize| <[u8; 4]>::try_from(&header[at..at + 4]).ok();
    Some([u32::from_be_bytes(word(16)?), u32::from_be_bytes(word(20)?)])
}

/// Returns width and height from the header of a file, and its decoded size in bytes: bevy converts to four channels
/// with the file's channel width.
fn decoded(file: &[u8], format: Option<FileFormat>) -> Option<([u32; 2], u64)> {
    let cursor = Cursor::new(file);
    let mut reader = match format {
        Some(format) => ImageReader::with_format(cursor, format),
        None => ImageReader::new(cursor).with_guessed_format().ok()?,
    };
    reader.no_limits();
    let decoder = reader.into_decoder().ok()?;
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let channel = color.bytes_per_pixel() / color.channel_count();
    let bytes = u64::from(width) * u64::from(height);
    Some((
        [width, height],
        bytes.saturating_mul(4 * u64::from(channel)),
    ))
}
