//! Scenes of glTF files: bevy_gltf loads them, and their meshes get standard materials.
//!
//! bevy_gltf gives its materials to whoever draws, which asks for them by a handler. As with bevy's
//! own renderer a standard material has the label of its `GltfMaterial` with `/std` after it.

use bevy_animation::AnimationPlugin;
use bevy_app::App;
use bevy_asset::{Handle, LoadContext};
use bevy_ecs::prelude::*;
use bevy_gltf::extensions::{
    ErasedGltfExtensionHandler, GltfExtensionHandler, GltfExtensionHandlers,
};
use bevy_gltf::gltf::{Gltf, Material, Mesh, Primitive};
use bevy_gltf::{GltfAssetLabel, GltfLoaderSettings, GltfMaterial, GltfPlugin};
use bevy_world_serialization::WorldSerializationPlugin;
use quadrille_content::add;

use crate::material::{AlphaMode, MeshMaterial3d, StandardMaterial};

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
    fn from(material: &GltfMaterial) -> Self {
        Self {
            base_color: material.base_color,
            base_color_texture: material.base_color_texture.clone(),
            emissive: material.emissive,
            emissive_texture: material.emissive_texture.clone(),
            perceptual_roughness: material.perceptual_roughness,
            metallic: material.metallic,
            metallic_roughness_texture: material.metallic_roughness_texture.clone(),
            occlusion_texture: material.occlusion_texture.clone(),
            uv_transform: material.uv_transform,
            reflectance: material.reflectance,
            specular_tint: material.specular_tint,
            double_sided: material.double_sided,
            cull_mode: material.cull_mode,
            unlit: material.unlit,
            alpha_mode: alpha_mode(material),
            ..Self::default()
        }
    }
}

/// bevy_gltf makes no others than these; what is not drawn yet covers as what is most like it.
fn alpha_mode(material: &GltfMaterial) -> AlphaMode {
    match material.alpha_mode {
        bevy_material::AlphaMode::Opaque => AlphaMode::Opaque,
        bevy_material::AlphaMode::Mask(threshold) => AlphaMode::Mask(threshold),
        bevy_material::AlphaMode::Premultiplied => AlphaMode::Premultiplied,
        bevy_material::AlphaMode::Add => AlphaMode::Add,
        _ => AlphaMode::Blend,
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
