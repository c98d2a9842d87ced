//! Formats of scene attachments.

use quadrille::prelude::Format;
use quadrille::vulkan::Formats;

/// Color: radiance times exposure, linear; alpha is coverage.
pub(crate) const COLOR: Format = Format::R16G16B16A16_SFLOAT;

/// Depth, reversed: 1 is near.
pub(crate) const DEPTH: Format = Format::D32_SFLOAT;

/// Returns the attachment formats of a scene with this sample count.
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
