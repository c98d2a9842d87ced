//! Random materials: standard ones, extended ones, and ones of programs.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    ForwardDecalMaterial, ForwardDecalMaterialExt, MaterialPipeline, MaterialPipelineKey,
    MeshVertexBufferLayoutRef, OpaqueRendererMethod, RenderPipelineDescriptor,
    SpecializedMeshPipelineError,
};

use super::assets::{cube, plain};
use crate::common::lifecycle::{
    HEIGHT, Library, Made, Part, Random, add_shaders, remove, shader, tinted,
};

/// A material with rows in a table, two states of its pipeline, and a texture that may be missing.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(bool)]
pub(super) struct Tinted {
    #[uniform(0)]
    color: LinearRgba,
    #[texture(1)]
    #[sampler(2)]
    pattern: Option<Handle<Image>>,
    alpha_mode: AlphaMode,
    depth_bias: f32,
    two_sided: bool,
}

impl From<&Tinted> for bool {
    fn from(material: &Tinted) -> Self {
        material.two_sided
    }
}

const TINTED: &str = tinted!("bevy_pbr::render::forward_io");

impl Material for Tinted {
    fn fragment_shader() -> ShaderRef {
        shader(1).into()
    }

    fn alpha_mode(&self) -> AlphaMode {
        self.alpha_mode
    }

    fn depth_bias(&self) -> f32 {
        self.depth_bias
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        if key.bind_group_data {
            descriptor.primitive.cull_mode = None;
        }
        Ok(())
    }
}

/// A material that binds a cube by itself, and is drawn on meshes with [`HEIGHT`] alone.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(super) struct Mirror {
    #[uniform(0)]
    color: LinearRgba,
    #[texture(1, dimension = "cube")]
    #[sampler(2)]
    sky: Handle<Image>,
}

const MIRROR: &str = "
import bevy_pbr::render::mesh_functions::{get_world_from_local, mesh_position_local_to_clip};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
@group(constants::MATERIAL_BIND_GROUP) @binding(1) var sky: texture_cube<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(2) var sky_sampler: sampler;

struct Vertex {
    @builtin(instance_index) instance_index: u32,
    @location(0) position: vec3f,
    @location(1) height: f32,
};

struct VertexOutput {
    @builtin(position) clip_position: vec4f,
    @location(0) direction: vec4f,
};

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    var out: VertexOutput;
    let world_from_local = get_world_from_local(vertex.instance_index);
    out.clip_position = mesh_position_local_to_clip(world_from_local, vec4f(vertex.position, 1.0));
    out.direction = vec4f(vertex.position, vertex.height);
    return out;
}

@fragment
fn fragment(@location(0) direction: vec4f) -> @location(0) vec4f {
    let texel = textureSampleLevel(sky, sky_sampler, direction.xyz + vec3f(0.0, 0.01, 0.0), 0.0);
    return vec4f(color.rgb * texel.rgb, 1.0) * direction.w;
}
";

impl Material for Mirror {
    fn vertex_shader() -> ShaderRef {
        shader(2).into()
    }

    fn fragment_shader() -> ShaderRef {
        shader(2).into()
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let attributes = [
            Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
            HEIGHT.at_shader_location(1),
        ];
        descriptor.vertex.buffers = vec![layout.0.get_layout(&attributes)?];
        Ok(())
    }
}

/// Scales lit colors.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(super) struct Factor {
    #[uniform(100)]
    factor: f32,
}

pub(super) type Extended = ExtendedMaterial<StandardMaterial, Factor>;

const FACTOR: &str = "
import bevy_pbr::render::{
    forward_io::{VertexOutput, FragmentOutput},
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::{alpha_discard, apply_pbr_lighting, main_pass_post_lighting_processing},
};

@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> factor: f32;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var pbr_input = pbr_input_from_standard_material(in, is_front);
    pbr_input.material.base_color = alpha_discard(
        pbr_input.material.flags, pbr_input.material.alpha_cutoff, pbr_input.material.base_color);
    var out: FragmentOutput;
    out.color = apply_pbr_lighting(pbr_input) * vec4f(vec3f(factor), 1.0);
    out.color = main_pass_post_lighting_processing(pbr_input, out.color);
    return out;
}
";

impl MaterialExtension for Factor {
    fn fragment_shader() -> ShaderRef {
        shader(3).into()
    }
}

pub(super) type DecalMaterial = ForwardDecalMaterial<StandardMaterial>;

/// Adds the types and their shaders.
pub(super) fn add_materials(app: &mut App) {
    app.add_plugins((
        MaterialPlugin::<Tinted>::default(),
        MaterialPlugin::<Mirror>::default(),
        MaterialPlugin::<Extended>::default(),
    ));
    add_shaders(app, &[(1, TINTED), (2, MIRROR), (3, FACTOR)]);
}

/// Materials of all types: an entity has one at most, since of several the one that changed last is drawn.
type AnyMaterial = (
    MeshMaterial3d<StandardMaterial>,
    MeshMaterial3d<Tinted>,
    MeshMaterial3d<Mirror>,
    MeshMaterial3d<Extended>,
    MeshMaterial3d<DecalMaterial>,
);

pub(super) const MATERIAL: Part = Part {
    name: "material",
    insert: |world, entity, random| match random.below(10) {
        0..5 => insert_only::<StandardMaterial>(world, entity, random),
        5..7 => insert_only::<Tinted>(world, entity, random),
        7 => insert_only::<Mirror>(world, entity, random),
        8 => insert_only::<Extended>(world, entity, random),
        _ => insert_only::<DecalMaterial>(world, entity, random),
    },
    remove: remove::<AnyMaterial>,
    is_related: false,
};

/// Inserts a material and removes those of other types. The component of the same type is replaced.
fn insert_only<M: Asset>(world: &mut World, entity: Entity, random: &mut Random) {
    let material = MeshMaterial3d::<M>(Library::pick(world, random));
    let mut entity = world.entity_mut(entity);
    if !entity.contains::<MeshMaterial3d<M>>() {
        entity.remove::<AnyMaterial>();
    }
    entity.insert(material);
}

fn alpha_mode(random: &mut Random) -> AlphaMode {
    random.pick(&[
        AlphaMode::Opaque,
        AlphaMode::Opaque,
        AlphaMode::Blend,
        AlphaMode::Add,
    ])
}

fn tint(random: &mut Random) -> LinearRgba {
    LinearRgba {
        alpha: random.between(0.3, 1.0),
        ..LinearRgba::rgb(random.unit(), random.unit(), random.unit())
    }
}

impl Made for Tinted {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        Self {
            color: tint(random),
            pattern: random.one_in(2).then(|| plain(world, random)),
            alpha_mode: alpha_mode(random),
            depth_bias: random.pick(&[0.0, 3.0]),
            two_sided: random.one_in(2),
        }
    }
}

impl Made for Mirror {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        Self {
            color: tint(random),
            // A plain image is no cube: the material is magenta.
            sky: match random.one_in(8) {
                true => plain(world, random),
                false => cube(world, random),
            },
        }
    }
}

impl Tinted {
    /// A material of one color.
    pub(super) fn of(color: LinearRgba) -> Self {
        Self {
            color,
            pattern: None,
            alpha_mode: AlphaMode::Opaque,
            depth_bias: 0.0,
            two_sided: false,
        }
    }
}

/// A base of few kinds: each has pipelines of its own under each extension.
fn base(world: &World, random: &mut Random) -> StandardMaterial {
    StandardMaterial {
        base_color: tint(random).into(),
        base_color_texture: random.one_in(2).then(|| plain(world, random)),
        alpha_mode: alpha_mode(random),
        ..StandardMaterial::default()
    }
}

impl Made for Extended {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        Self {
            base: base(world, random),
            extension: Factor {
                factor: random.between(0.2, 2.0),
            },
        }
    }
}

impl Made for DecalMaterial {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        Self {
            base: base(world, random),
            extension: ForwardDecalMaterialExt {
                depth_fade_factor: random.pick(&[0.5, 1.0, 8.0]),
            },
        }
    }
}

impl Made for StandardMaterial {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        let image = |random: &mut Random, one_in: usize| {
            random.one_in(one_in).then(|| plain(world, random))
        };
        let color = [random.unit(), random.unit(), random.unit()];
        Self {
            base_color: Color::srgba(
                color[0],
                color[1],
                color[2],
                random.between(0.0, 1.5).min(1.0),
            ),
            base_color_texture: image(random, 3),
            emissive_texture: image(random, 6),
            emissive: LinearRgba::rgb(random.unit(), 0.0, random.unit() * 300.0),
            metallic_roughness_texture: image(random, 6),
            normal_map_texture: image(random, 6),
            occlusion_texture: image(random, 6),
            depth_map: image(random, 12),
            // Some numbers are invalid.
            metallic: if random.one_in(12) {
                f32::NAN
            } else {
                random.unit()
            },
            perceptual_roughness: random.unit(),
            clearcoat: random.pick(&[0.0, 0.0, 0.5]),
            anisotropy_strength: random.pick(&[0.0, 0.0, 0.0, 0.7]),
            diffuse_transmission: random.pick(&[0.0, 0.0, 0.3]),
            unlit: random.one_in(5),
            double_sided: random.one_in(3),
            fog_enabled: !random.one_in(4),
            cull_mode: random.pick(&[
                None,
                Some(wgpu_types::Face::Back),
                Some(wgpu_types::Face::Front),
            ]),
            alpha_mode: random.pick(&[
                AlphaMode::Opaque,
                AlphaMode::Opaque,
                AlphaMode::Opaque,
                AlphaMode::Mask(0.5),
                AlphaMode::Blend,
                AlphaMode::Premultiplied,
                AlphaMode::Add,
                AlphaMode::Multiply,
                AlphaMode::AlphaToCoverage,
            ]),
            depth_bias: random.pick(&[0.0, 0.0, 5.0]),
            opaque_render_method: random
                .pick(&[OpaqueRendererMethod::Auto, OpaqueRendererMethod::Deferred]),
            specular_transmission: random.pick(&[0.0, 0.0, 0.0, 0.0, 0.6]),
            ..Self::default()
        }
    }
}
