//! sRGB decoding of images with 16 bits per channel.
//!
//! Vulkan has no sRGB format with 16 bits per channel. So bevy_image loads such files as `Rgba16Unorm`, whose values
//! are linear, without decoding them: 128 of 255 would be displayed as 188. They are decoded here. The smallest 8-bit
//! step (1 / 255 / 12.92) corresponds to 20 steps of the result.

use std::io::Cursor;
use std::sync::OnceLock;

use bevy_image::Image as ImageAsset;
use image::{ExtendedColorType as C, ImageDecoder as _, ImageFormat as FileFormat, ImageReader};
use wgpu_types::TextureFormat;

/// Magic numbers of container formats that declare their color encoding.
const CONTAINERS: [&[u8]; 2] = [b"\xABKTX 20\xBB\r\n\x1A\n", b"DDS "];

/// Decodes red, green and blue of an image whose file has 16 bits per channel in sRGB. Alpha is always linear.
pub(super) fn to_linear(image: &mut ImageAsset, file: &[u8]) {
    let is_container = CONTAINERS.iter().any(|magic| file.starts_with(magic));
    if image.texture_descriptor.format != TextureFormat::Rgba16Unorm || is_container {
        return;
    }
    let Some(data) = &mut image.data else {
        return;
    };
    let table = table();
    for [red, green, blue, _] in data.as_chunks_mut::<2>().0.as_chunks_mut::<4>().0 {
        for channel in [red, green, blue] {
            let value = u16::from_ne_bytes(*channel);
            *channel = table[usize::from(value)].to_ne_bytes();
        }
    }
}

/// Whether a file of this format has 16 bits per channel, according to its header.
pub(super) fn has_16_bits(file: &[u8], format: Option<FileFormat>) -> bool {
    let cursor = Cursor::new(file);
    let mut reader = match format {
        Some(format) => ImageReader::with_format(cursor, format),
        None => return false,
    };
    reader.no_limits();
    reader.into_decoder().is_ok_and(|decoder| {
        let of_16 = [C::L16, C::La16, C::Rgb16, C::Rgba16];
        of_16.contains(&decoder.color_type().into())
    })
}

/// Table of the linear values of all encoded ones, of 65,535 (IEC 61966-2-1).
fn table() -> &'static [u16] {
    static TABLE: OnceLock<Vec<u16>> = OnceLock::new();
    TABLE.get_or_init(|| (0..=u16::MAX).map(linear).collect())
}

fn linear(coded: u16) -> u16 {
    let coded = f64::from(coded) / 65_535.0;
    let linear = if coded <= 0.040_45 {
        coded / 12.92
    } else {
        ((coded + 0.055) / 1.055).powf(2.4)
    };
    (linear * 65_535.0).round() as u16
}

#[cfg(test)]
mod tests;
