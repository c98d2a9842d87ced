//! PNG encoding of image readbacks.

use std::io::{Error, ErrorKind, Result};

use quadrille_vulkan::Format;

use crate::data::readback::ReadbackComplete;

/// Encodes an image readback as an opaque PNG file in sRGB.
pub fn encode(readback: &ReadbackComplete) -> Result<Vec<u8>> {
    let Some(([width, height], format)) = readback.image else {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "a buffer is not a picture",
        ));
    };
    let rgb = to_rgb(&readback.bytes, format)?;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(Error::other)?;
    writer.write_image_data(&rgb).map_err(Error::other)?;
    writer.finish().map_err(Error::other)?;
    Ok(file)
}

fn to_rgb(texels: &[u8], format: Format) -> Result<Vec<u8>> {
    let order = match format {
        Format::R8G8B8A8_SRGB | Format::R8G8B8A8_UNORM => [0, 1, 2],
        Format::B8G8R8A8_SRGB | Format::B8G8R8A8_UNORM => [2, 1, 0],
        other => {
            let message = format!("images of format {other:?} cannot be written as PNG");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
    };
    Ok(texels
        .chunks_exact(4)
        .flat_map(|texel| order.map(|channel| texel[channel]))
        .collect())
}
