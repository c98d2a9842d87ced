//! Formats of scene attachments.

use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::Formats;

use crate::scene::keys::BlendMode;
use crate::scene::prepass::PrepassOutputs;

/// Scene-referred colors: radiance times exposure, linear, with coverage as alpha.
pub(crate) const COLOR: Format = Format::R16G16B16A16_SFLOAT;

/// Depth, reversed: 1 is near.
pub(crate) const DEPTH: Format = Format::D32_SFLOAT;

/// World normals of a prepass: half of each component plus a half, and alpha 1 where a mesh is.
pub(crate) const NORMAL: Format = Format::A2B10G10R10_UNORM_PACK32;

/// Motion of a prepass: difference of texture coordinates since the previous frame.
pub(crate) const MOTION: Format = Format::R16G16_SFLOAT;

/// G-buffer: packed by `gbuffer.wgsl`.
pub(crate) const GBUFFER: Format = Format::R32G32B32A32_UINT;

/// Images that a pipeline draws to, and whether its shader ends with tone mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PipelineTarget {
    pub(crate) formats: Formats,
    /// Output is display-referred.
    pub(crate) maps_tones: bool,
}

impl PipelineTarget {
    /// Target of draws to the lists of order-independent transparency, with the depth of a view alone.
    pub(crate) fn fragment_lists(maps_tones: bool) -> Self {
        Self {
            formats: Formats {
                depth: DEPTH,
                ..Formats::default()
            },
            maps_tones,
        }
    }

    /// Whether pipelines of a blend mode, with or without tone mapping in the shader, draw to it.
    pub(crate) fn takes(&self, blend_mode: BlendMode, maps_tones: bool) -> bool {
        let has_color = self.formats.colors[0] != Format::UNDEFINED;
        self.maps_tones == maps_tones && has_color == (blend_mode != BlendMode::OrderIndependent)
    }
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

/// Formats of the images of a prepass with a number of samples.
pub(crate) fn prepass_formats(outputs: PrepassOutputs, samples: u32) -> Formats {
    let mut formats = Formats {
        depth: DEPTH,
        samples,
        ..Formats::default()
    };
    let colors = [
        (outputs.normal, NORMAL),
        (outputs.motion, MOTION),
        (outputs.deferred, GBUFFER),
    ];
    let colors = colors.into_iter().filter(|(is_drawn, _)| *is_drawn);
    for (at, (_, format)) in formats.colors.iter_mut().zip(colors) {
        *at = format;
    }
    formats
}

/// Formats of shadow maps. The first is for cascades, where its precision is enough ([`has_precision_of_16_bits`]).
///
/// [`has_precision_of_16_bits`]: crate::prepare::cascades::has_precision_of_16_bits
pub(crate) const SHADOW_FORMATS: [Format; 2] = [Format::D16_UNORM, Format::D32_SFLOAT];
