//! Scenes of glTF files: bevy_gltf loads them, and this module adds standard materials.
//!
//! bevy_gltf creates no renderer materials: a renderer registers a handler for that. As with bevy's renderer, a
//! standard material has the label of its `GltfMaterial` with the suffix `/std`. Files are validated before loading
//! ([`loader`]), and primitives that bevy_gltf does not support are read here ([`primitives`]).

mod buffers;
mod geometry;
mod images;
mod loader;
mod nodes;
mod primitives;

use bevy_animation::AnimationPlugin;
use bevy_app::App;
use bevy_asset::{Handle, LoadContext, RenderAssetUsages};
use bevy_camera::primitives::Aabb;
use bevy_ecs::prelude::*;
use bevy_gltf::extensions::{
    ErasedGltfExtensionHandler, GltfExtensionHandler, GltfExtensionHandlers,
};
use bevy_gltf::gltf::json::Value;
use bevy_gltf::gltf::{Gltf, Material, Mesh, Node, Primitive, Semantic};
use bevy_gltf::{GltfAssetLabel, GltfLoaderSettings, GltfMaterial, GltfPlugin};
use bevy_math::Vec3;
use bevy_mesh::morph::MorphWeights;
use bevy_mesh::{MeshVertexAttribute, UvChannel};
use bevy_platform::collections::HashMap;
use bevy_world_serialization::WorldSerializationPlugin;
use quadrille_content::add_plugin_if_missing;

use crate::components::material::{MeshMaterial3d, StandardMaterial};

pub use loader::{CheckedGltfError, GltfLimits};

#[cfg(test)]
mod tests;

/// Adds bevy's glTF plugin, if missing, and the handler.
pub(crate) fn add_gltf(app: &mut App) {
    add_plugin_if_missing(app, WorldSerializationPlugin);
    add_plugin_if_missing(app, AnimationPlugin);
    add_plugin_if_missing(app, GltfPlugin::default());
    add_plugin_if_missing(app, loader::CheckedGltfPlugin);
    app.register_type::<GltfLimits>();
    let handlers = app.world_mut().resource_mut::<GltfExtensionHandlers>();
    handlers.0.write_blocking().push(Box::<Handler>::default());
}

impl From<&GltfMaterial> for StandardMaterial {
    /// Transmission (`KHR_materials_transmission`) needs cameras with
    /// [`ScreenSpaceTransmission`](crate::ScreenSpaceTransmission).
    fn from(material: &GltfMaterial) -> Self {
        Self {
            base_color: material.base_color,
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
            specular_transmission: material.specular_transmission,
            specular_transmission_channel: material.specular_transmission_channel.clone(),
            specular_transmission_texture: material.specular_transmission_texture.clone(),
            ior: material.ior,
            thickness: material.thickness,
            thickness_channel: material.thickness_channel.clone(),
            thickness_texture: material.thickness_texture.clone(),
            attenuation_distance: material.attenuation_distance,
            attenuation_color: material.attenuation_color,
            alpha_mode: material.alpha_mode,
            ..Self::default()
        }
    }
}

/// Handler that creates standard materials, and reads primitives that bevy_gltf does not support. Each load has a copy.
#[derive(Clone, Default)]
struct Handler {
    /// Usages of meshes, from the settings of the loaded file.
    usages: RenderAssetUsages,
    rotates_meshes: bool,
    /// Number of textures of the file.
    textures: usize,
}

impl Handler {
    /// Sets what `KHR_materials_diffuse_transmission` has, which bevy_gltf does not read. Its color is left out: materials
    /// have no such field.
    fn set_diffuse_transmission(
        &self,
        material: &mut StandardMaterial,
        of: &Material<'_>,
        load_context: &mut LoadContext<'_>,
    ) {
        let Some(extension) = of.extension_value("KHR_materials_diffuse_transmission") else {
            return;
        };
        let factor = extension.get("diffuseTransmissionFactor");
        material.diffuse_transmission = factor.and_then(Value::as_f64).unwrap_or_default() as f32;
        let texture = extension.get("diffuseTransmissionTexture");
        let number = |value: &Value, field| usize::try_from(value.get(field)?.as_u64()?).ok();
        let index = texture.and_then(|texture| number(texture, "index"));
        if let Some(index) = index.filter(|index| *index < self.textures) {
            let label = GltfAssetLabel::Texture(index).to_string();
            material.diffuse_transmission_texture = Some(load_context.get_label_handle(label));
            let named = texture.and_then(|texture| number(texture, "texCoord"));
            let channel = named.and_then(|it| uv_channel(u32::try_from(it).ok()?));
            material.diffuse_transmission_channel = channel.unwrap_or_default();
        }
    }
}

fn standard_label(label: &str) -> String {
    format!("{label}/std")
}

impl GltfExtensionHandler for Handler {
    fn dyn_clone(&self) -> Box<dyn ErasedGltfExtensionHandler> {
        Box::new(self.clone())
    }

    fn on_root(
        &mut self,
        load_context: &mut LoadContext<'_>,
        gltf: &Gltf,
        settings: &GltfLoaderSettings,
    ) {
        self.usages = settings.load_meshes;
        self.textures = gltf.textures().len();
        let convert = settings.convert_coordinates.unwrap_or_default();
        self.rotates_meshes = convert.rotate_meshes;
        // Default material of primitives.
        let label = GltfAssetLabel::DefaultMaterial.to_string();
        let material = StandardMaterial::from(&GltfMaterial::default());
        load_context.add_labeled_asset(standard_label(&label), material);
    }

    fn on_material(
        &mut self,
        load_context: &mut LoadContext<'_>,
        gltf_material: &Material,
        _material: Handle<GltfMaterial>,
        material_asset: &GltfMaterial,
        material_label: &str,
    ) {
        let mut material = StandardMaterial::from(material_asset);
        set_channels(&mut material, gltf_material);
        self.set_diffuse_transmission(&mut material, gltf_material, load_context);
        load_context.add_labeled_asset(standard_label(material_label), material);
    }

    fn on_spawn_mesh_and_material(
        &mut self,
        load_context: &mut LoadContext<'_>,
        primitive: &Primitive,
        _mesh: &Mesh,
        _material: &Material,
        entity: &mut EntityWorldMut,
        material_label: &str,
    ) {
        if let Some(bounds) = quantized_bounds(primitive, self.rotates_meshes) {
            entity.insert(bounds);
        }
        let label = standard_label(material_label);
        let handle = load_context.get_label_handle::<StandardMaterial>(label);
        entity.insert(MeshMaterial3d(handle));
    }
    async fn on_gltf_primitive(
        &mut self,
        load_context: &mut LoadContext<'_>,
        gltf: &Gltf,
        mesh: &Mesh<'_>,
        primitive: &Primitive<'_>,
        buffers: &[Vec<u8>],
        custom: &HashMap<Box<str>, MeshVertexAttribute>,
        is_on_skinned_nodes: bool,
        _is_on_other_nodes: bool,
        made: &mut Option<bevy_mesh::Mesh>,
    ) {
        if made.is_some() {
            return;
        }
        let source = primitives::Source {
            buffers,
            custom,
            usages: self.usages,
            rotates: self.rotates_meshes,
            is_quantized: gltf
                .extensions_used()
                .any(|it| it == "KHR_mesh_quantization"),
            is_skinned: is_on_skinned_nodes,
        };
        match primitives::read(&source, mesh, primitive) {
            Ok(read) => *made = read,
            Err(problem) => tracing::warn!(
                "{}: primitive {} of mesh {} cannot be read: {problem}",
                load_context.path(),
                primitive.index(),
                mesh.index()
            ),
        }
    }

    /// Morph weights of a node override those of its mesh (glTF specification, section 3.7.4).
    fn on_gltf_node(
        &mut self,
        _load_context: &mut LoadContext<'_>,
        node: &Node,
        entity: &mut EntityWorldMut,
    ) {
        if let (Some(weights), Some(mut morph)) = (node.weights(), entity.get_mut::<MorphWeights>())
        {
            let all = morph.weights_mut().iter_mut();
            all.zip(weights).for_each(|(all, &weight)| *all = weight);
        }
    }
}

/// Bounds of quantized positions, which the file stores as normalized integers.
fn quantized_bounds(primitive: &Primitive<'_>, rotates: bool) -> Option<Aabb> {
    let positions = primitive.get(&Semantic::Positions)?;
    if !positions.normalized() || geometry::is_float(&positions) {
        return None;
    }
    use bevy_gltf::gltf::accessor::DataType;
    let scale = match positions.data_type() {
        DataType::I8 => 127.0,
        DataType::U8 => 255.0,
        DataType::I16 => 32_767.0,
        _ => 65_535.0,
    };
    let bounds = primitive.bounding_box();
    let turn = if rotates {
        Vec3::new(-1.0, 1.0, -1.0)
    } else {
        Vec3::ONE
    };
    let [one, other] = [bounds.min, bounds.max].map(|it| Vec3::from(it) / scale * turn);
    Some(Aabb::from_min_max(one.min(other), one.max(other)))
}

/// Sets UV channels from `KHR_texture_transform`, which override those of textures.
fn set_channels(material: &mut StandardMaterial, of: &Material<'_>) {
    let pbr = of.pbr_metallic_roughness();
    let plain = [
        (pbr.base_color_texture(), &mut material.base_color_channel),
        (
            pbr.metallic_roughness_texture(),
            &mut material.metallic_roughness_channel,
        ),
        (of.emissive_texture(), &mut material.emissive_channel),
        (
            of.specular().and_then(|it| it.specular_texture()),
            &mut material.specular_channel,
        ),
        (
            of.specular().and_then(|it| it.specular_color_texture()),
            &mut material.specular_tint_channel,
        ),
        (
            of.transmission().and_then(|it| it.transmission_texture()),
            &mut material.specular_transmission_channel,
        ),
        (
            of.volume().and_then(|it| it.thickness_texture()),
            &mut material.thickness_channel,
        ),
    ];
    for (info, channel) in plain {
        let transform = info.as_ref().and_then(|it| it.texture_transform());
        if let Some(named) = transform.and_then(|it| it.tex_coord()).and_then(uv_channel) {
            *channel = named;
        }
    }
    let normal = of.normal_texture();
    let normal = normal.as_ref().and_then(|it| it.extension_value(TRANSFORM));
    let occlusion = of.occlusion_texture();
    let occlusion = occlusion
        .as_ref()
        .and_then(|it| it.extension_value(TRANSFORM));
    let other = [
        (normal, &mut material.normal_map_channel),
        (occlusion, &mut material.occlusion_channel),
        (
            layer(of, "clearcoat", "clearcoatTexture"),
            &mut material.clearcoat_channel,
        ),
        (
            layer(of, "clearcoat", "clearcoatRoughnessTexture"),
            &mut material.clearcoat_roughness_channel,
        ),
        (
            layer(of, "clearcoat", "clearcoatNormalTexture"),
            &mut material.clearcoat_normal_channel,
        ),
        (
            layer(of, "anisotropy", "anisotropyTexture"),
            &mut material.anisotropy_channel,
        ),
    ];
    for (transform, channel) in other {
        let named = transform.and_then(|it| it.get("texCoord")?.as_u64());
        if let Some(named) = named.and_then(|it| uv_channel(u32::try_from(it).ok()?)) {
            *channel = named;
        }
    }
}

const TRANSFORM: &str = "KHR_texture_transform";

/// Returns the texture transform in a material extension that the `gltf` crate does not support.
fn layer<'a>(of: &'a Material<'_>, extension: &str, texture: &str) -> Option<&'a Value> {
    let extension = of.extension_value(&format!("KHR_materials_{extension}"))?;
    extension.get(texture)?.get("extensions")?.get(TRANSFORM)
}

/// Converts a texture coordinate set; bevy has two.
fn uv_channel(named: u32) -> Option<UvChannel> {
    match named {
        0 => Some(UvChannel::Uv0),
        1 => Some(UvChannel::Uv1),
        _ => None,
    }
}
