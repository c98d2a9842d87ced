//! State of materials that pipelines depend on.

use bevy_color::{Alpha as _, Color};

use super::row::has_other_images;
use crate::components::material::{AlphaMode, StandardMaterial};
use crate::constants::MIN_SHADOW_ALPHA;
use crate::extract::custom_materials::MaterialDesc;
use crate::scene::keys::{BlendMode, CullMode, MaterialFeatures, MaterialShader, RendererMethod};

/// Pipeline-relevant state of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MaterialState {
    pub(crate) blend_mode: BlendMode,
    pub(crate) cull: CullMode,
    /// Sort bias towards the camera, for blended instances.
    pub(crate) sort_bias: f32,
    /// Whether alpha suffices to cast shadows.
    pub(crate) casts_shadows: bool,
    pub(crate) features: MaterialFeatures,
    /// Whether it has specular transmission.
    pub(crate) is_transmissive: bool,
    pub(crate) shader: MaterialShader,
    pub(crate) renderer: RendererMethod,
}

impl MaterialState {
    /// Returns the state of a standard material.
    pub(super) fn new(material: &StandardMaterial) -> Self {
        let alpha = material.base_color.alpha();
        Self {
            blend_mode: BlendMode::new(material.alpha_mode),
            sort_bias: material.depth_bias,
            cull: CullMode::new(material.cull_mode),
            casts_shadows: match material.alpha_mode {
                AlphaMode::Opaque => true,
                AlphaMode::Mask(threshold) => alpha >= threshold,
                _ => alpha >= MIN_SHADOW_ALPHA,
            },
            features: MaterialFeatures::new(material),
            is_transmissive: material.is_transmissive(),
            shader: MaterialShader::Standard,
            renderer: renderer_method(material),
        }
    }

    /// Returns the state of a material with shaders of its own.
    pub(crate) fn custom(
        desc: &MaterialDesc,
        cull: CullMode,
        (shader, renderer): (MaterialShader, RendererMethod),
    ) -> Self {
        let base = desc.base.as_ref();
        Self {
            blend_mode: BlendMode::of_custom(desc.alpha_mode),
            cull,
            sort_bias: desc.depth_bias,
            casts_shadows: desc.casts_shadows
                && base.is_none_or(|base| Self::new(base).casts_shadows),
            // Shaders without a base set all inputs of the shading themselves.
            features: base.map_or(MaterialFeatures::Extended, |base| {
                MaterialFeatures::new(base)
            }),
            is_transmissive: desc.reads_transmission,
            shader,
            renderer,
        }
    }

    /// Returns the state of a material with an unusable shader.
    pub(crate) fn fallback(casts_shadows: bool) -> Self {
        Self {
            blend_mode: BlendMode::Opaque,
            cull: CullMode::None,
            sort_bias: 0.0,
            casts_shadows,
            features: MaterialFeatures::Base,
            is_transmissive: false,
            shader: MaterialShader::Standard,
            renderer: RendererMethod::Forward,
        }
    }

    /// Returns the state for an instance that cross-fades or has a lightmap.
    pub(crate) fn for_instance(self, fades: bool, has_lightmap: bool) -> Self {
        // Cross-fades discard pixels, which opaque pipelines cannot.
        let needs_alpha_mask = fades && self.blend_mode == BlendMode::Opaque;
        Self {
            blend_mode: if needs_alpha_mask {
                BlendMode::Mask
            } else {
                self.blend_mode
            },
            features: if has_lightmap {
                self.features.max(MaterialFeatures::Extended)
            } else {
                self.features
            },
            ..self
        }
    }
}

impl MaterialFeatures {
    fn new(material: &StandardMaterial) -> Self {
        let is_rich = material.clearcoat != 0.0
            || material.anisotropy_strength != 0.0
            || material.diffuse_transmission != 0.0
            || material.depth_map.is_some();
        if is_rich {
            Self::Extended
        } else if has_other_images(material) {
            Self::Textured
        } else if material.base_color_texture.is_some() {
            Self::BaseColorTexture
        } else {
            Self::Base
        }
    }
}

/// The method of a material: forward where the G-buffer has no room for its specular tint.
fn renderer_method(material: &StandardMaterial) -> RendererMethod {
    let is_tinted =
        material.specular_tint != Color::WHITE || material.specular_tint_texture.is_some();
    match is_tinted {
        true => RendererMethod::Forward,
        false => RendererMethod::new(material.opaque_render_method),
    }
}
