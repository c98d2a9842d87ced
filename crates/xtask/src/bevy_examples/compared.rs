//! Comparison of two images of one program, and the reasons why images cannot be compared.
//!
//! Background pixels say nothing about a renderer, and are the majority in many images. So the result is the fraction
//! of drawn pixels that differ.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::scenarios::picture;

/// Threshold of a channel's difference, of 255, above which it is visible side by side.
const OFF: u8 = 8;

/// Variation of backgrounds by dithering and rounding, of 255.
const NOISE: u8 = 2;

/// Errors that renderers log before they omit something from the image, with the reason to report. Details of bevy's
/// follow on the next line (`pipeline_cache.rs` and `error_handler.rs` of bevy_render 0.20.1).
const RENDERER_ERRORS: [(&str, &str); 5] = [
    (
        "are drawn in magenta",
        "the shader of a material cannot be used",
    ),
    ("failed to process shader", "a shader does not compile"),
    (
        "failed to create shader module",
        "a shader does not compile",
    ),
    ("Caught rendering error", "the renderer fails"),
    ("Caught DeviceLost error", "the device is lost"),
];

/// Difference of two images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Pixels that differ from the background in either picture.
    drawn: usize,
    /// Drawn pixels with a channel above the threshold.
    off: usize,
    /// Maximum difference of a channel.
    most: u8,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.off as f64 / self.drawn as f64;
        let Self { drawn, off, most } = self;
        write!(
            f,
            "{share:.2} % off ({off} of {drawn} drawn pixels, by up to {most})"
        )
    }
}

/// Compares an image with that of bevy's renderer.
///
/// # Errors
/// When a file is no picture, the sizes differ, or nothing is drawn.
pub(super) fn difference(reference: &Path, picture: &Path) -> Result<Difference> {
    let (size, reference) = picture::colors(reference)?;
    let (own_size, picture) = picture::colors(picture)?;
    if size != own_size {
        bail!("the pictures differ in size: {own_size:?}, and {size:?} on bevy_render");
    }
    let Some(difference) = of_pixels(&reference, &picture) else {
        bail!("nothing is drawn");
    };
    Ok(difference)
}

/// The most frequent color of the reference is the background.
fn of_pixels(reference: &[[u8; 3]], picture: &[[u8; 3]]) -> Option<Difference> {
    let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
    for color in reference {
        *counts.entry(*color).or_default() += 1;
    }
    // Deterministic for equally frequent colors.
    let (&background, _) = counts
        .iter()
        .max_by_key(|(color, count)| (**count, **color))?;
    let apart = |one: [u8; 3], other: [u8; 3]| {
        let differences = (0..3).map(|channel| one[channel].abs_diff(other[channel]));
        differences.max().unwrap_or_default()
    };
    let mut found = Difference {
        drawn: 0,
        off: 0,
        most: 0,
    };
    for (&wanted, &own) in reference.iter().zip(picture) {
        if apart(wanted, background) > NOISE || apart(own, background) > NOISE {
            let difference = apart(wanted, own);
            found.drawn += 1;
            found.off += usize::from(difference > OFF);
            found.most = found.most.max(difference);
        }
    }
    (found.drawn > 0).then_some(found)
}

/// Returns the reason why the image of a program with this output is not comparable; `None` if it is.
pub(super) fn unfit(output: &str) -> Option<String> {
    let line_with = |mark: &str| output.lines().find(|line| line.contains(mark));
    if let Some(line) = line_with("panicked at") {
        return Some(format!("it panics: {line}"));
    }
    if let Some(line) = line_with("ERROR bevy_asset") {
        return Some(format!("an asset does not load: {}", message(line)));
    }
    for (mark, reason) in RENDERER_ERRORS {
        let mut lines = output.lines().skip_while(|line| !line.contains(mark));
        if let Some(line) = lines.next() {
            let detail = lines.find(|line| !line.trim().is_empty());
            let detail = detail.unwrap_or_default().trim();
            return Some(
                format!("{reason}: {} {detail}", message(line))
                    .trim_end()
                    .to_owned(),
            );
        }
    }
    let line = output
        .lines()
        .find(|line| line.starts_with("still loading"));
    line.map(str::to_owned)
}

/// Returns the message of a log line, without time and level.
fn message(line: &str) -> &str {
    line.split_once("ERROR ")
        .map_or(line, |(_, message)| message)
}

#[cfg(test)]
mod tests;
