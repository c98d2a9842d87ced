//! Values of the `override` constants of `pbr.wgsl` and its modules.

use quadrille::vulkan::shader::Constant;

use crate::constants::ANY_FILTER;
use crate::scene::keys::{BlendMode, LightingFeatures, MaterialFeatures, PipelineKey};

/// Constants by name.
pub(crate) type Constants = Vec<(String, Constant)>;

/// Constants of the shading of a key in a frame's lighting.
pub(super) fn pbr_constants(
    (key, lighting): (PipelineKey, LightingFeatures),
    dfg_lut: bool,
    maps_tones: bool,
) -> Constants {
    // Ambient occlusion maps have the surfaces behind blended and transmissive ones.
    let has_ambient_occlusion =
        lighting.ambient_occlusion && !key.blend_mode.is_transparent() && !key.is_transmissive;
    let mut constants = material_constants(key);
    constants.extend(lighting_constants(lighting));
    constants.extend(named([
        ("DFG_LUT", dfg_lut),
        ("MAPS_TONES", maps_tones),
        ("HAS_SPECULAR_TRANSMISSION", key.is_transmissive),
        ("HAS_AMBIENT_OCCLUSION", has_ambient_occlusion),
    ]));
    constants
}

/// Constants of a key, for the main pass and prepasses.
pub(super) fn material_constants(key: PipelineKey) -> Constants {
    let has = |features| key.features >= features;
    named([
        ("HAS_ALPHA_MASK", key.blend_mode != BlendMode::Opaque),
        (
            "HAS_ALPHA_TO_COVERAGE",
            key.blend_mode == BlendMode::AlphaToCoverage,
        ),
        (
            "HAS_BASE_COLOR_TEXTURE",
            has(MaterialFeatures::BaseColorTexture),
        ),
        ("HAS_TEXTURES", has(MaterialFeatures::Textured)),
        ("HAS_EXTENDED_FEATURES", has(MaterialFeatures::Extended)),
    ])
    .collect()
}

/// Constants of the lighting of a frame, without ambient occlusion.
pub(crate) fn lighting_constants(lighting: LightingFeatures) -> Constants {
    let filter = lighting.shadow_filter.unwrap_or(ANY_FILTER);
    let constants = named([
        ("HAS_RANGED_LIGHTS", lighting.ranged_lights),
        ("HAS_RECT_LIGHTS", lighting.rect_lights),
        ("HAS_SHADOWS", lighting.shadows),
        ("HAS_SOFT_SHADOWS", lighting.soft_shadows),
        ("HAS_ENVIRONMENTS", lighting.environments),
        ("HAS_FOG", lighting.fog),
        ("HAS_CONTACT_SHADOWS", lighting.contact_shadows),
        ("HAS_LIGHT_TEXTURES", lighting.light_textures),
        ("HAS_DECALS", lighting.decals),
        ("HAS_ATMOSPHERE", lighting.atmosphere),
    ]);
    let filter = ("SHADOW_FILTER".to_owned(), filter.into());
    constants.chain([filter]).collect()
}

fn named<const N: usize>(
    constants: [(&str, bool); N],
) -> impl Iterator<Item = (String, Constant)> + use<'_, N> {
    let constants = constants.into_iter();
    constants.map(|(name, value)| (name.to_owned(), value.into()))
}
