//! Checks of images.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Checks that a PNG file has more than one color. Returns its size.
///
/// # Errors
/// When it is not an image, or an empty one.
pub(crate) fn check(path: &Path) -> Result<String> {
    let (frame, pixels) = read(path)?;
    let pixel_bytes = (frame.line_size / frame.width.max(1) as usize).max(1);
    if !has_two_colors(&pixels, pixel_bytes) {
        bail!("{} shows one color only", path.display());
    }
    Ok(format!("{}x{}", frame.width, frame.height))
}

/// Returns the bytes of a PNG file's pixels, row by row.
///
/// # Errors
/// When it is not an image.
pub(crate) fn pixels(path: &Path) -> Result<Vec<u8>> {
    read(path).map(|(_, pixels)| pixels)
}

/// Returns width and height of a PNG file, and red, green and blue of its pixels, row by row.
///
/// # Errors
/// When it is not an image of eight bits per channel with at least three channels.
pub(crate) fn colors(path: &Path) -> Result<([u32; 2], Vec<[u8; 3]>)> {
    let (frame, pixels) = read(path)?;
    let channels = frame.color_type.samples();
    if channels < 3 || frame.bit_depth != png::BitDepth::Eight {
        bail!(
            "{} has no eight bits of red, green and blue",
            path.display()
        );
    }
    let colors = pixels.chunks_exact(channels);
    let colors = colors.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Ok(([frame.width, frame.height], colors))
}

fn read(path: &Path) -> Result<(png::OutputInfo, Vec<u8>)> {
    let file = File::open(path).with_context(|| format!("no picture {}", path.display()))?;
    let decoder = png::Decoder::new(BufReader::new(file));
    let mut reader = decoder
        .read_info()
        .with_context(|| format!("{} is no PNG", path.display()))?;
    let bytes = reader
        .output_buffer_size()
        .context("a picture too large to hold")?;
    let mut pixels = vec![0; bytes];
    let frame = reader
        .next_frame(&mut pixels)
        .with_context(|| format!("{} is cut off", path.display()))?;
    pixels.truncate(frame.buffer_size());
    Ok((frame, pixels))
}

/// Whether some pixel differs from the first.
pub(crate) fn has_two_colors(pixels: &[u8], pixel_bytes: usize) -> bool {
    let mut rest = pixels.chunks_exact(pixel_bytes);
    let first = rest.next();
    rest.any(|pixel| Some(pixel) != first)
}
