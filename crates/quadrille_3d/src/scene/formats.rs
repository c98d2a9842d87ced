//! Formats of scene attachments.

use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::Formats;

/// Scene-referred colors: radiance times exposure, linear, with coverage as alpha.
pub(crate) const COLOR: Format = Format::R16G16B16A16_SFLOAT;

/// Depth, reversed: 1 is near.
pub(crate) const DEPTH: Format = Format::D32_SFLOAT;

/// Images that a pipeline draws to, and whether its shader ends with tone mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PipelineTarget {
    pub(crate) formats: Formats,
    /// Output is display-referred.
    pub(crate) maps_tones: bool,
}

/// Formats of the images of a scene with colors of a format and a number of samples.
pub(crate) fn scene_formats(color: Format, samples: u32) -> Formats {
    let mut formats = Formats {
        depth: DEPTH,
        samples,
        ..Formats::default()
    };
    formats.colors[0] = color;
    formats
}

/// Format of all shadow maps.
pub(crate) const SHADOW_FORMAT: Format = Format::D32_SFLOAT;
