//! Formats of the images that scenes are drawn to.

use quadrille::prelude::Format;
use quadrille::vulkan::Formats;

/// The radiance of each view times its exposure, linear, with alpha: what is covered.
pub(crate) const COLOR: Format = Format::R16G16B16A16_SFLOAT;

/// Reversed: 1 is near.
pub(crate) const DEPTH: Format = Format::D32_SFLOAT;

/// The formats of the images that a scene with so many samples is drawn to.
pub(crate) fn scene_formats(samples: u32) -> Formats {
    let mut formats = Formats {
        depth: DEPTH,
        samples,
        ..Formats::default()
    };
    formats.colors[0] = COLOR;
    formats
}

/// Format of all shadow maps.
pub(crate) const SHADOW_FORMAT: Format = Format::D32_SFLOAT;
