//! Table of materials.

use std::any::TypeId;

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets, Handle, UntypedAssetId};
use bevy_color::{Alpha as _, ColorToComponents as _};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::Image;
use bevy_mesh::UvChannel;
use bevy_platform::collections::{HashMap, HashSet};
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille::sync::resource::ResourceId;
use quadrille_content::images::DeviceImages;
use quadrille_content::warnings::{RateLimitedWarnings, asset_label, first_non_finite, is_finite};

use crate::components::material::{AlphaMode, ParallaxMappingMethod, StandardMaterial};
use crate::constants::{
    ALPHA_ADD, ALPHA_BLEND, ALPHA_MULTIPLY, ALPHA_OPAQUE, ALPHA_PREMULTIPLIED, ALPHA_TO_COVERAGE,
    DOUBLE_SIDED, FLIP_NORMAL_MAP_Y, FOG_ENABLED, MATERIAL_ROW_SHIFT, METALLIC_IN_GREEN,
    MIN_SHADOW_ALPHA, NO_TEXTURE, TWO_COMPONENT_NORMAL_MAP, UNLIT,
};
use crate::extract::custom_materials::{CustomMaterials, MaterialDesc};
use crate::scene::keys::{BlendMode, CullMode, MaterialFeatures, MaterialShader};
use crate::tables::table::Table;
use crate::tables::textures::{TextureIndices, TextureSource, Textures3d};

/// Minimum perceptual roughness: below it, its fourth power (alpha squared) underflows half floats.
pub(crate) const MIN_PERCEPTUAL_ROUGHNESS: f32 = 0.089;

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
    /// Texture indices of [`images`].
    pub(crate) textures: [u32; 12],
}

/// Material of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaterialId {
    Standard(AssetId<StandardMaterial>),
    /// Material of a type with a shader of its own.
    Custom(UntypedAssetId),
}

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
    pub(crate) shader: MaterialShader,
}

/// Maximum parallax layers and bisection steps; more make no visible difference.
const MAX_PARALLAX_LAYERS: f32 = 1024.0;
const MAX_RELIEF_STEPS: u32 = 24;

impl MaterialRow {
    /// Creates the row of a material with a shader of its own. `row` is the index of its values in the table of its
    /// type.
    pub(crate) fn custom(row: u32, alpha_mode: AlphaMode, depth_bias: f32) -> Self {
        Self {
            base_color: [1.0; 4],
            alpha: alpha_code(alpha_mode),
            flags: row << MATERIAL_ROW_SHIFT,
            depth_bias,
            textures: [NO_TEXTURE; 12],
            ..Self::zeroed()
        }
    }

    /// Creates the row of a material with an unusable shader: unlit magenta.
    pub(crate) fn fallback() -> Self {
        Self {
            base_color: [1.0, 0.0, 1.0, 1.0],
            alpha: ALPHA_OPAQUE,
            flags: UNLIT,
            textures: [NO_TEXTURE; 12],
            ..Self::zeroed()
        }
    }

    fn new(material: &StandardMaterial, textures: &mut TextureSource) -> Self {
        let tint = material.specular_tint.to_linear();
        let [r, g, b] =
            [tint.red, tint.green, tint.blue].map(|channel| channel * material.reflectance);
        let mut emissive = material.emissive.to_f32_array();
        emissive[3] = material.emissive_exposure_weight;
        let (sine, cosine) = material.anisotropy_rotation.sin_cos();
        let mut indices = [NO_TEXTURE; 12];
        for (index, (image, channel)) in indices.iter_mut().zip(images(material)) {
            *index = textures.index_of(image.as_ref(), channel);
        }
        Self {
            base_color: material.base_color.to_linear().to_f32_array(),
            emissive,
            reflectance: [r, g, b],
            perceptual_roughness: material
                .perceptual_roughness
                .clamp(MIN_PERCEPTUAL_ROUGHNESS, 1.0),
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
            textures: indices,
        }
    }

    /// Names and values for validation.
    fn numbers(&self) -> [(&'static str, &[f32]); 13] {
        [
            ("base colour", &self.base_color),
            ("emissive colour", &self.emissive),
            ("reflectance", &self.reflectance),
            (
                "roughness",
                std::slice::from_ref(&self.perceptual_roughness),
            ),
            ("metallic", std::slice::from_ref(&self.metallic)),
            ("depth bias", std::slice::from_ref(&self.depth_bias)),
            ("clearcoat", std::slice::from_ref(&self.clearcoat)),
            ("anisotropy", std::slice::from_ref(&self.anisotropy)),
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
            ("matrix of uv_transform", &self.uv_axes),
            ("translation of uv_transform", &self.uv_offset),
        ]
    }

    fn is_finite(&self) -> bool {
        let rest = [self.alpha, self.clearcoat_roughness];
        let mut numbers = self.numbers().into_iter();
        numbers.all(|(_, numbers)| is_finite(numbers))
            && is_finite(&rest)
            && is_finite(&self.anisotropy_direction)
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
fn images(material: &StandardMaterial) -> [(&Option<Handle<Image>>, &UvChannel); 12] {
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
    ]
}

fn has_images(material: &StandardMaterial) -> bool {
    images(material).iter().any(|(image, _)| image.is_some())
}

impl MaterialState {
    fn new(material: &StandardMaterial) -> Self {
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
            shader: MaterialShader::Standard,
        }
    }

    /// Returns the state of a material with a shader of its own.
    pub(crate) fn custom(desc: &MaterialDesc, shader: MaterialShader) -> Self {
        Self {
            blend_mode: BlendMode::of_custom(desc.alpha_mode),
            cull: desc.cull,
            sort_bias: desc.depth_bias,
            casts_shadows: desc.casts_shadows,
            features: MaterialFeatures::Base,
            shader,
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
            shader: MaterialShader::Standard,
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
            features: if has_lightmap && self.shader == MaterialShader::Standard {
                MaterialFeatures::Extended
            } else {
                self.features
            },
            ..self
        }
    }
}

/// All materials.
#[derive(Resource, Default)]
pub(crate) struct MaterialStore {
    pub(crate) table: Table<MaterialRow>,
    pub(crate) custom: CustomMaterials,
    rows_by_id: HashMap<AssetId<StandardMaterial>, (u32, MaterialState)>,
    material_images: MaterialImages,
    textures: TextureIndices,
    /// [`DeviceImages::changes`] at the last lookup of images.
    image_version: Option<u64>,
}

/// Bidirectional map of materials and images.
#[derive(Default)]
struct MaterialImages {
    /// Materials by image.
    materials_of: HashMap<AssetId<Image>, HashSet<AssetId<StandardMaterial>>>,
    /// Images by material; no entry for untextured materials.
    images_of: HashMap<AssetId<StandardMaterial>, Vec<AssetId<Image>>>,
}

impl MaterialImages {
    fn set(&mut self, id: AssetId<StandardMaterial>, material: &StandardMaterial) {
        let images = images(material).into_iter();
        let material_images = images.filter_map(|(image, _)| Some(image.as_ref()?.id()));
        let known = self.images_of.get(&id).map_or(&[][..], Vec::as_slice);
        if known.iter().copied().eq(material_images.clone()) {
            return;
        }
        self.remove(id);
        let material_images: Vec<_> = material_images.collect();
        for image in &material_images {
            self.materials_of.entry(*image).or_default().insert(id);
        }
        if !material_images.is_empty() {
            self.images_of.insert(id, material_images);
        }
    }

    fn remove(&mut self, id: AssetId<StandardMaterial>) {
        for image in self.images_of.remove(&id).unwrap_or_default() {
            if let Some(materials) = self.materials_of.get_mut(&image) {
                materials.remove(&id);
                if materials.is_empty() {
                    self.materials_of.remove(&image);
                }
            }
        }
    }
}

/// Assets and tables for the conversion of materials.
#[derive(SystemParam)]
pub(crate) struct MaterialSource<'w> {
    assets: Res<'w, Assets<StandardMaterial>>,
    images: Res<'w, DeviceImages>,
    table: ResMut<'w, Textures3d>,
    warnings: Res<'w, RateLimitedWarnings>,
    server: Res<'w, AssetServer>,
}

impl MaterialStore {
    /// Returns the row index and state of a material; `None` if it is missing or invalid.
    pub(crate) fn get(&self, id: MaterialId) -> Option<(u32, MaterialState)> {
        match id {
            MaterialId::Standard(id) => self.rows_by_id.get(&id).copied(),
            MaterialId::Custom(id) => self.custom.get(id),
        }
    }

    /// Adds or updates a material with a shader of its own.
    pub(crate) fn put_custom(
        &mut self,
        ids: (UntypedAssetId, TypeId),
        desc: MaterialDesc,
        source: &mut MaterialSource,
    ) {
        let textures = &mut texture_source(&mut self.textures, source);
        self.custom.put(ids, desc, &mut self.table, textures);
    }

    /// Removes a material with a shader of its own.
    pub(crate) fn remove_custom(&mut self, id: UntypedAssetId) {
        self.custom.remove(id, &mut self.table);
    }

    /// Returns the texture lookup for other stores.
    /// Whether a device image is in the table of textures.
    pub(crate) fn has_texture(&self, id: ResourceId) -> bool {
        self.textures.images().any(|image| image.id() == id)
    }

    pub(crate) fn textures<'a>(&'a mut self, source: &'a mut MaterialSource) -> TextureSource<'a> {
        texture_source(&mut self.textures, source)
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.table.mark_all_dirty();
        self.custom.mark_all_dirty();
        self.textures = TextureIndices::default();
        self.image_version = None;
    }

    /// Applies asset events. Returns whether a material was added or removed, or its pipeline-relevant state changed.
    pub(crate) fn apply_events(
        &mut self,
        events: &mut MessageReader<AssetEvent<StandardMaterial>>,
        source: &mut MaterialSource,
    ) -> bool {
        let mut is_other = std::mem::take(&mut self.custom.is_other);
        for event in events.read() {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    is_other |= self.put(id, source);
                }
                AssetEvent::Removed { id } => is_other |= self.remove(id),
                AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
        let image_version = Some(source.images.changes());
        let before = std::mem::replace(&mut self.image_version, image_version);
        if before != image_version {
            texture_source(&mut self.textures, source).remove_dropped();
            let images = before.and_then(|before| source.images.changed_since(before));
            // Collected, because `source` is borrowed for its images.
            let images = images.map(|images| images.collect::<Vec<_>>());
            let textures = &mut texture_source(&mut self.textures, source);
            let images = images.map(Vec::into_iter);
            self.custom.refresh_images(images, textures);
            for id in self.materials_with_changed_images(before, source) {
                is_other |= self.put(id, source);
            }
        }
        is_other
    }

    /// Returns the materials with images that have changed since a value of [`DeviceImages::changes`].
    fn materials_with_changed_images(
        &self,
        changes: Option<u64>,
        source: &MaterialSource,
    ) -> HashSet<AssetId<StandardMaterial>> {
        let changed = changes.and_then(|changes| source.images.changed_since(changes));
        match changed {
            Some(images) => {
                let materials =
                    images.filter_map(|image| self.material_images.materials_of.get(&image));
                materials.flatten().copied().collect()
            }
            None => self.material_images.images_of.keys().copied().collect(),
        }
    }

    fn put(&mut self, id: AssetId<StandardMaterial>, source: &mut MaterialSource) -> bool {
        // Cloned, because `source` is borrowed for its images below.
        let Some(material) = source.assets.get(id).cloned() else {
            return false;
        };
        let mut textures = texture_source(&mut self.textures, source);
        let row = MaterialRow::new(&material, &mut textures);
        let material_state = MaterialState::new(&material);
        self.material_images.set(id, &material);
        if !row.is_finite() {
            source.warnings.warn_message(|| {
                let (material, why) = (
                    asset_label(id, &source.server),
                    first_non_finite(&row.numbers()),
                );
                format!("meshes with {material} are not drawn: {why}")
            });
            return self.remove(id);
        }
        if let Some((index, old)) = self.rows_by_id.get_mut(&id) {
            self.table.set(*index, row);
            return std::mem::replace(old, material_state) != material_state;
        }
        let index = self.table.add(row);
        self.rows_by_id.insert(id, (index, material_state));
        true
    }

    fn remove(&mut self, id: AssetId<StandardMaterial>) -> bool {
        self.material_images.remove(id);
        let Some((index, _)) = self.rows_by_id.remove(&id) else {
            return false;
        };
        self.table.remove(index);
        true
    }
}

fn texture_source<'a>(
    indices: &'a mut TextureIndices,
    source: &'a mut MaterialSource,
) -> TextureSource<'a> {
    TextureSource {
        indices,
        table: &mut source.table,
        images: &source.images,
        warnings: &source.warnings,
        server: &source.server,
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
        } else if has_images(material) {
            Self::Textured
        } else {
            Self::Base
        }
    }
}
