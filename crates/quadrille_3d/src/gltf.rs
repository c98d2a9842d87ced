//! Scenes of glTF files: bevy_gltf loads them, and their meshes get standard materials.
//!
//! bevy_gltf makes no materials: a renderer registers a handler that makes them. As with bevy's
//! own renderer, a standard material has the label of its `GltfMaterial` with `/std` after it.

use bevy_animation::AnimationPlugin;
use bevy_app::App;
use bevy_asset::{Handle, LoadContext};
use bevy_color::{Alpha as _, Color};
use bevy_ecs::prelude::*;
use bevy_gltf::extensions::{
    ErasedGltfExtensionHandler, GltfExtensionHandler, GltfExtensionHandlers,
};
use bevy_gltf::gltf::{Gltf, Material, Mesh, Primitive};
use bevy_gltf::{GltfAssetLabel, GltfLoaderSettings, GltfMaterial, GltfPlugin};
use bevy_world_serialization::WorldSerializationPlugin;
use quadrille_content::add;

use crate::material::{AlphaMode, MeshMaterial3d, StandardMaterial};

#[cfg(test)]
mod tests;

/// Adds bevy's glTF plugin, if the app lacks it, and the handler.
pub(crate) fn add_gltf(app: &mut App) {
    add(app, WorldSerializationPlugin);
    add(app, AnimationPlugin);
    add(app, GltfPlugin::default());
    app.register_type::<MeshMaterial3d<StandardMaterial>>();
    let handlers = app.world_mut().resource_mut::<GltfExtensionHandlers>();
    handlers
        .0
        .write_blocking()
        .push(Box::new(StandardMaterials));
}

impl From<&GltfMaterial> for StandardMaterial {
    /// What is behind glass (`KHR_materials_transmission`) shows through by alpha, without refraction. Glass
    /// that an image says the places of stays opaque, and clear glass does not shine by itself.
    fn from(material: &GltfMaterial) -> Self {
        let (base_color, mode) = seen_through(material);
        Self {
            base_color,
            base_color_channel: material.base_color_channel.clone(),
            base_color_texture: material.base_color_texture.clone(),
            emissive: material.emissive,
            emissive_channel: material.emissive_channel.clone(),
            emissive_texture: material.emissive_texture.clone(),
            perceptual_roughness: material.perceptual_roughness,
            metallic: material.metallic,
            metallic_roughness_channel: material.metallic_roughness_channel.clone(),
            metallic_roughness_texture: material.metallic_roughness_texture.clone(),
            normal_map_channel: material.normal_map_channel.clone(),
            normal_map_texture: material.normal_map_texture.clone(),
            occlusion_channel: material.occlusion_channel.clone(),
            occlusion_texture: material.occlusion_texture.clone(),
            uv_transform: material.uv_transform,
            reflectance: material.reflectance,
            specular_tint: material.specular_tint,
            specular_channel: material.specular_channel.clone(),
            specular_texture: material.specular_texture.clone(),
            specular_tint_channel: material.specular_tint_channel.clone(),
            specular_tint_texture: material.specular_tint_texture.clone(),
            clearcoat: material.clearcoat,
            clearcoat_channel: material.clearcoat_channel.clone(),
            clearcoat_texture: material.clearcoat_texture.clone(),
            clearcoat_perceptual_roughness: material.clearcoat_perceptual_roughness,
            clearcoat_roughness_channel: material.clearcoat_roughness_channel.clone(),
            clearcoat_roughness_texture: material.clearcoat_roughness_texture.clone(),
            clearcoat_normal_channel: material.clearcoat_normal_channel.clone(),
            clearcoat_normal_texture: material.clearcoat_normal_texture.clone(),
            anisotropy_strength: material.anisotropy_strength,
            anisotropy_rotation: material.anisotropy_rotation,
            anisotropy_channel: material.anisotropy_channel.clone(),
            anisotropy_texture: material.anisotropy_texture.clone(),
            double_sided: material.double_sided,
            cull_mode: material.cull_mode,
            unlit: material.unlit,
            thickness: material.thickness,
            attenuation_distance: material.attenuation_distance,
            attenuation_color: material.attenuation_color,
            alpha_mode: mode,
            ..Self::default()
        }
    }
}

/// The colour of a material and how alpha is taken. Glass scatters little, hides little, and mirrors as much as any
/// other surface. With `Premultiplied` alpha dims neither what is scattered nor what is mirrored, so that the colour
/// itself is made darker.
fn seen_through(material: &GltfMaterial) -> (Color, AlphaMode) {
    let mode = alpha_mode(material.alpha_mode);
    // Where an image says what is metal, the factor is 1 for all, and what is to let light through is none.
    let metallic = match &material.metallic_roughness_texture {
        Some(_) => 0.0,
        None => material.metallic,
    };
    let through = material.specular_transmission * (1.0 - metallic);
    let is_even = material.specular_transmission_texture.is_none();
    let is_glass = mode == AlphaMode::Opaque && is_even && through > 0.0;
    if !is_glass {
        return (material.base_color, mode);
    }
    let left = 1.0 - through.min(1.0);
    let color = material.base_color.to_linear() * left;
    (color.with_alpha(left).into(), AlphaMode::Premultiplied)
}

/// bevy_gltf itself makes the first three alone.
fn alpha_mode(mode: bevy_material::AlphaMode) -> AlphaMode {
    match mode {
        bevy_material::AlphaMode::Opaque => AlphaMode::Opaque,
        bevy_material::AlphaMode::Mask(threshold) => AlphaMode::Mask(threshold),
        bevy_material::AlphaMode::Blend => AlphaMode::Blend,
        bevy_material::AlphaMode::Premultiplied => AlphaMode::Premultiplied,
        bevy_material::AlphaMode::AlphaToCoverage => AlphaMode::AlphaToCoverage,
        bevy_material::AlphaMode::Add => AlphaMode::Add,
        bevy_material::AlphaMode::Multiply => AlphaMode::Multiply,
    }
}

/// The handler that makes standard materials.
#[derive(Clone)]
struct StandardMaterials;

fn standard_label(label: &str) -> String {
    format!("{label}/std")
}

impl GltfExtensionHandler for StandardMaterials {
    fn dyn_clone(&self) -> Box<dyn ErasedGltfExtensionHandler> {
        Box::new(self.clone())
    }

    fn on_root(
        &mut self,
        load_context: &mut LoadContext<'_>,
        _gltf: &Gltf,
        _settings: &GltfLoaderSettings,
    ) {
        // Primitives without a material of their own have this one.
        let label = GltfAssetLabel::DefaultMaterial.to_string();
        let material = StandardMaterial::from(&GltfMaterial::default());
        load_context.add_labeled_asset(standard_label(&label), material);
    }

    fn on_material(
        &mut self,
        load_context: &mut LoadContext<'_>,
        _gltf_material: &Material,
        _material: Handle<GltfMaterial>,
        material_asset: &GltfMaterial,
        material_label: &str,
    ) {
        let material = StandardMaterial::from(material_asset);
        load_context.add_labeled_asset(standard_label(material_label), material);
    }

    fn on_spawn_mesh_and_material(
        &mut self,
        load_context: &mut LoadContext<'_>,
        _primitive: &Primitive,
        _mesh: &Mesh,
        _material: &Material,
        entity: &mut EntityWorldMut,
        material_label: &str,
    ) {
        let label = standard_label(material_label);
        let handle = load_context.get_label_handle::<StandardMaterial>(label);
        entity.insert(MeshMaterial3d(handle));
    }
}
