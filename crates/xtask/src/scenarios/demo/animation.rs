//! Animated PNG files (APNG, PNG specification, third edition, 2025) of frames that are mostly alike.

use anyhow::{Result, ensure};
use png::{BitDepth, BlendOp, ColorType, Compression, Encoder, Filter};

/// Red, green and blue.
pub(super) type Color = [u8; 3];

/// Difference of a channel up to which a pixel keeps its earlier color: less than eyes see in motion.
const TOLERANCE: u8 = 2;

/// Part of a frame that changes the frame before.
struct Change {
    /// Left, top, width and height.
    area: [u32; 4],
    /// Red, green, blue and alpha of its pixels, row by row.
    pixels: Vec<u8>,
    blend: BlendOp,
}

/// Encodes frames of one size, which follow each other `rate` times a second, again and again.
///
/// # Errors
/// When there is no frame, or one has another number of pixels.
pub(super) fn encode(
    [width, height]: [u32; 2],
    frames: &[Vec<Color>],
    rate: u16,
) -> Result<Vec<u8>> {
    let count = width as usize * height as usize;
    ensure!(!frames.is_empty(), "an animation needs a frame");
    ensure!(
        frames.iter().all(|frame| frame.len() == count),
        "a frame has not {width}x{height} pixels"
    );
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    set_up(&mut encoder);
    encoder.set_animated(u32::try_from(frames.len())?, 0)?;
    encoder.set_frame_delay(1, rate)?;
    let mut writer = encoder.write_header()?;
    let mut shown: Option<Vec<Color>> = None;
    for frame in frames {
        let change = match &mut shown {
            Some(shown) => smaller(changes(shown, frame, width)?)?,
            None => {
                shown = Some(frame.clone());
                whole(frame, [width, height])
            }
        };
        let [x, y, wide, high] = change.area;
        // The area of the frame before may not contain the new corner with the new size.
        writer.reset_frame_position()?;
        writer.set_frame_dimension(wide, high)?;
        writer.set_frame_position(x, y)?;
        writer.set_blend_op(change.blend)?;
        writer.write_image_data(&change.pixels)?;
    }
    writer.finish()?;
    Ok(file)
}

fn set_up<W: std::io::Write>(encoder: &mut Encoder<'_, W>) {
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    encoder.set_filter(Filter::Adaptive);
}

fn opaque([red, green, blue]: Color) -> [u8; 4] {
    [red, green, blue, 255]
}

/// Returns a frame that replaces everything.
fn whole(frame: &[Color], [width, height]: [u32; 2]) -> Change {
    Change {
        area: [0, 0, width, height],
        pixels: frame.iter().copied().flat_map(opaque).collect(),
        blend: BlendOp::Source,
    }
}

/// Returns two encodings of the area that differs: all of its pixels, and the changed ones over transparent ones.
/// Updates the colors that are shown.
fn changes(shown: &mut [Color], next: &[Color], width: u32) -> Result<[Change; 2]> {
    let row = width as usize;
    let differs: Vec<bool> = shown
        .iter()
        .zip(next)
        .map(|(a, b)| is_other(*a, *b))
        .collect();
    let mut corners: Option<[usize; 4]> = None;
    for at in (0..next.len()).filter(|at| differs[*at]) {
        let (x, y) = (at % row, at / row);
        let [left, top, right, bottom] = corners.unwrap_or([x, y, x, y]);
        corners = Some([left.min(x), top.min(y), right.max(x), bottom.max(y)]);
        shown[at] = next[at];
    }
    // A frame without a change has one transparent pixel: none is not allowed.
    let [left, top, right, bottom] = corners.unwrap_or([0; 4]);
    let area = [left, top, right + 1 - left, bottom + 1 - top].map(u32::try_from);
    let [x, y, wide, high] = area;
    let area = [x?, y?, wide?, high?];
    let inside = (top..=bottom).flat_map(|y| (left..=right).map(move |x| y * row + x));
    let change = |blend, pixel: &dyn Fn(usize) -> [u8; 4]| Change {
        area,
        pixels: inside.clone().flat_map(pixel).collect(),
        blend,
    };
    let keyed = |at: usize| match differs[at] {
        true => opaque(next[at]),
        false => [0; 4],
    };
    Ok([
        change(BlendOp::Source, &|at| opaque(shown[at])),
        change(BlendOp::Over, &keyed),
    ])
}

fn is_other(a: Color, b: Color) -> bool {
    a.iter().zip(b).any(|(a, b)| a.abs_diff(b) > TOLERANCE)
}

/// Returns the change with fewer compressed bytes.
fn smaller([first, second]: [Change; 2]) -> Result<Change> {
    let is_second = compressed(&second)? < compressed(&first)?;
    Ok(if is_second { second } else { first })
}

fn compressed(change: &Change) -> Result<usize> {
    let mut file = Vec::new();
    let [.., width, height] = change.area;
    let mut encoder = Encoder::new(&mut file, width, height);
    set_up(&mut encoder);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&change.pixels)?;
    writer.finish()?;
    Ok(file.len())
}

#[cfg(test)]
#[path = "animation_tests.rs"]
mod tests;
