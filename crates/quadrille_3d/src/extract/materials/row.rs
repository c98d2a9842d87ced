//! Rows of materials in the table of all materials.

use bevy_asset::Handle;
use bevy_color::ColorToComponents as _;
use bevy_image::Image;
use bevy_mesh::UvChannel;
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille_content::warnings::{first_non_finite, is_finite};

use crate::components::material::{AlphaMode, ParallaxMappingMethod, StandardMaterial};
use crate::constants::{
    ALPHA_ADD, ALPHA_BLEND, ALPHA_MULTIPLY, ALPHA_OPAQUE, ALPHA_PREMULTIPLIED, ALPHA_TO_COVERAGE,
    BASE_IS_OPAQUE, DOUBLE_SIDED, FLIP_NORMAL_MAP_Y, FOG_ENABLED, MATERIAL_ROW_SHIFT,
    METALLIC_IN_GREEN, NO_TEXTURE, TWO_COMPONENT_NORMAL_MAP, UNLIT,
};
use crate::extract::custom_materials::MaterialDesc;
use crate::tables::textures::TextureSource;

/// Material row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/scene.wgsl", "Material")]
pub(crate) struct MaterialRow {
    /// Linear base color with alpha.
    pub(crate) base_color: [f32; 4],
    /// Linear emission; w is the exposure weight.
    pub(crate) emissive: [f32; 4],
    /// Reflectance of each channel.
    pub(crate) reflectance: [f32; 3],
    pub(crate) perceptual_roughness: f32,
    pub(crate) metallic: f32,
    /// `ALPHA_*` code, or the threshold of an alpha mask (0 to 1).
    pub(crate) alpha: f32,
    /// Bit flags such as [`UNLIT`].
    pub(crate) flags: u32,
    /// Depth bias in units of the minimum resolvable depth difference.
    pub(crate) depth_bias: f32,
    pub(crate) clearcoat: f32,
    pub(crate) clearcoat_roughness: f32,
    /// Strength, and rotation from the tangent as cosine and sine.
    pub(crate) anisotropy: f32,
    /// Factor on the texels of lightmaps.
    pub(crate) lightmap_exposure: f32,
    pub(crate) anisotropy_direction: [f32; 2],
    /// Offset added to the transformed texture coordinates.
    pub(crate) uv_offset: [f32; 2],
    /// Columns of the 2x2 matrix of the UV transform.
    pub(crate) uv_axes: [f32; 4],
    /// Parallax mapping: depth scale, layers, bisection steps; w is the thickness.
    pub(crate) parallax: [f32; 4],
    /// Attenuation exponent per channel and unit of thickness; w is the diffuse transmission.
    pub(crate) attenuation_and_diffuse_transmission: [f32; 4],
    /// Specular transmission, and the index of refraction.
    pub(crate) specular_transmission: f32,
    pub(crate) ior: f32,
    pub(crate) unused: [f32; 2],
    /// Texture indices of [`images`].
    pub(crate) textures: [u32; TEXTURES],
}

/// Texture indices of a row, the last of which is unused.
const TEXTURES: usize = 16;

/// Maximum parallax layers and bisection steps; more make no visible difference.
const MAX_PARALLAX_LAYERS: f32 = 1024.0;
const MAX_RELIEF_STEPS: u32 = 24;

impl MaterialRow {
    /// Creates the row of a material with shaders of its own. `row` is the index of its values in the table of its type.
    pub(crate) fn custom(row: u32, desc: &MaterialDesc, textures: &mut TextureSource) -> Self {
        let base = match &desc.base {
            Some(base) => Self::new(base, textures),
            None => Self {
                base_color: [1.0; 4],
                textures: [NO_TEXTURE; TEXTURES],
                ..Self::zeroed()
            },
        };
        Self {
            alpha: alpha_code(desc.alpha_mode),
            flags: base.flags | opaque_flag(desc) | row << MATERIAL_ROW_SHIFT,
            depth_bias: desc.depth_bias,
            ..base
        }
    }

    /// Describes the first value that cannot be drawn.
    pub(crate) fn invalid_value(&self) -> Option<String> {
        (!self.is_finite()).then(|| first_non_finite(&self.numbers()))
    }

    /// Creates the row of a material with an unusable shader: unlit magenta.
    pub(crate) fn fallback() -> Self {
        Self {
            base_color: [1.0, 0.0, 1.0, 1.0],
            alpha: ALPHA_OPAQUE,
            flags: UNLIT,
            textures: [NO_TEXTURE; TEXTURES],
            ..Self::zeroed()
        }
    }

    /// Creates the row of a standard material.
    pub(super) fn new(material: &StandardMaterial, textures: &mut TextureSource) -> Self {
        let tint = material.specular_tint.to_linear();
        let [r, g, b] =
            [tint.red, tint.green, tint.blue].map(|channel| channel * material.reflectance);
        let mut emissive = material.emissive.to_f32_array();
        emissive[3] = material.emissive_exposure_weight;
        let (sine, cosine) = material.anisotropy_rotation.sin_cos();
        let mut indices = [NO_TEXTURE; TEXTURES];
        for (index, (image, channel)) in indices.iter_mut().zip(images(material)) {
            *index = textures.index_of(image.as_ref(), channel);
        }
        Self {
            base_color: material.base_color.to_linear().to_f32_array(),
            emissive,
            reflectance: [r, g, b],
            perceptual_roughness: material.perceptual_roughness.clamp(0.0, 1.0),
            metallic: material.metallic,
            alpha: alpha_code(material.alpha_mode),
            flags: flags(material, textures),
            depth_bias: material.depth_bias,
            clearcoat: material.clearcoat,
            clearcoat_roughness: material.clearcoat_perceptual_roughness,
            anisotropy: material.anisotropy_strength,
            lightmap_exposure: material.lightmap_exposure,
            anisotropy_direction: [cosine, sine],
            uv_offset: material.uv_transform.translation.to_array(),
            uv_axes: material.uv_transform.matrix2.to_cols_array(),
            parallax: parallax(material),
            attenuation_and_diffuse_transmission: attenuation_and_diffuse_transmission(material),
            specular_transmission: material.specular_transmission,
            ior: material.ior,
            unused: [0.0; 2],
            textures: indices,
        }
    }

    /// Names and values for validation.
    fn numbers(&self) -> [(&'static str, &[f32]); 18] {
        [
            ("base color", &self.base_color),
            ("emissive color", &self.emissive),
            ("reflectance", &self.reflectance),
            (
                "roughness",
                std::slice::from_ref(&self.perceptual_roughness),
            ),
            ("metallic", std::slice::from_ref(&self.metallic)),
            ("depth bias", std::slice::from_ref(&self.depth_bias)),
            ("alpha", std::slice::from_ref(&self.alpha)),
            ("clearcoat", std::slice::from_ref(&self.clearcoat)),
            (
                "clearcoat roughness",
                std::slice::from_ref(&self.clearcoat_roughness),
            ),
            ("anisotropy", std::slice::from_ref(&self.anisotropy)),
            ("anisotropy rotation", &self.anisotropy_direction),
            (
                "lightmap exposure",
                std::slice::from_ref(&self.lightmap_exposure),
            ),
            (
                "parallax depth and layers, or the thickness",
                &self.parallax,
            ),
            (
                "attenuation and transmission",
                &self.attenuation_and_diffuse_transmission,
            ),
            (
                "specular transmission",
                std::slice::from_ref(&self.specular_transmission),
            ),
            ("index of refraction", std::slice::from_ref(&self.ior)),
            ("matrix of uv_transform", &self.uv_axes),
            ("translation of uv_transform", &self.uv_offset),
        ]
    }

    fn is_finite(&self) -> bool {
        let mut numbers = self.numbers().into_iter();
        numbers.all(|(_, numbers)| is_finite(numbers))
    }
}

/// Flag of a material that extends an opaque one.
fn opaque_flag(desc: &MaterialDesc) -> u32 {
    match &desc.base {
        Some(base) if base.alpha_mode == AlphaMode::Opaque => BASE_IS_OPAQUE,
        _ => 0,
    }
}

/// Returns the code of an alpha mode in [`MaterialRow::alpha`].
fn alpha_code(alpha_mode: AlphaMode) -> f32 {
    match alpha_mode {
        AlphaMode::Opaque => ALPHA_OPAQUE,
        AlphaMode::Mask(threshold) => threshold.clamp(0.0, 1.0),
        AlphaMode::Blend => ALPHA_BLEND,
        AlphaMode::Premultiplied => ALPHA_PREMULTIPLIED,
        AlphaMode::Add => ALPHA_ADD,
        AlphaMode::Multiply => ALPHA_MULTIPLY,
        AlphaMode::AlphaToCoverage => ALPHA_TO_COVERAGE,
    }
}

/// Returns the bits of [`MaterialRow::flags`].
fn flags(material: &StandardMaterial, textures: &TextureSource) -> u32 {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    let two_channels = |image: &Option<Handle<Image>>| textures.has_two_channels(image.as_ref());
    flag(material.unlit, UNLIT)
        | flag(material.double_sided, DOUBLE_SIDED)
        | flag(material.fog_enabled, FOG_ENABLED)
        | flag(material.flip_normal_map_y, FLIP_NORMAL_MAP_Y)
        | flag(
            two_channels(&material.normal_map_texture),
            TWO_COMPONENT_NORMAL_MAP,
        )
        | flag(
            two_channels(&material.metallic_roughness_texture),
            METALLIC_IN_GREEN,
        )
}

/// Returns the values of [`MaterialRow::parallax`].
fn parallax(material: &StandardMaterial) -> [f32; 4] {
    let relief_steps = match material.parallax_mapping_method {
        ParallaxMappingMethod::Occlusion => 0.0,
        ParallaxMappingMethod::Relief { max_steps } => max_steps.min(MAX_RELIEF_STEPS) as f32,
    };
    [
        material.parallax_depth_scale,
        material.max_parallax_layer_count.min(MAX_PARALLAX_LAYERS),
        relief_steps,
        material.thickness,
    ]
}

/// Returns the values of [`MaterialRow::attenuation_and_diffuse_transmission`].
fn attenuation_and_diffuse_transmission(material: &StandardMaterial) -> [f32; 4] {
    let color = material.attenuation_color.to_linear();
    let [red, green, blue] = [color.red, color.green, color.blue]
        .map(|left| attenuation(left, material.attenuation_distance));
    [red, green, blue, material.diffuse_transmission]
}

/// Returns the attenuation exponent per unit of length of light of which the fraction `left` remains after `distance`.
fn attenuation(left: f32, distance: f32) -> f32 {
    if distance == f32::INFINITY || distance == 0.0 {
        return 0.0;
    }
    -left.max(1e-6).ln() / distance
}

/// Returns the images of a material, with the UV channel of each.
pub(crate) fn images(material: &StandardMaterial) -> [(&Option<Handle<Image>>, &UvChannel); 15] {
    let it = material;
    [
        (&it.base_color_texture, &it.base_color_channel),
        (&it.emissive_texture, &it.emissive_channel),
        (
            &it.metallic_roughness_texture,
            &it.metallic_roughness_channel,
        ),
        (&it.occlusion_texture, &it.occlusion_channel),
        (&it.normal_map_texture, &it.normal_map_channel),
        (&it.specular_texture, &it.specular_channel),
        (&it.specular_tint_texture, &it.specular_tint_channel),
        (&it.clearcoat_texture, &it.clearcoat_channel),
        (
            &it.clearcoat_roughness_texture,
            &it.clearcoat_roughness_channel,
        ),
        (&it.clearcoat_normal_texture, &it.clearcoat_normal_channel),
        (&it.anisotropy_texture, &it.anisotropy_channel),
        // Sampled with both UV channels.
        (&it.depth_map, &UvChannel::Uv0),
        (
            &it.specular_transmission_texture,
            &it.specular_transmission_channel,
        ),
        (&it.thickness_texture, &it.thickness_channel),
        (
            &it.diffuse_transmission_texture,
            &it.diffuse_transmission_channel,
        ),
    ]
}

/// Whether a material has any image other than that of its base color.
pub(super) fn has_other_images(material: &StandardMaterial) -> bool {
    let mut others = images(material).into_iter().skip(1);
    others.any(|(image, _)| image.is_some())
}
