//! Random materials of programs, on meshes, sprites and nodes.

use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille_2d::prelude::*;
use quadrille_2d::{
    Material2dKey, Material2dPipeline, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
    SpecializedMeshPipelineError,
};

use super::assets::image;
use super::values::color;
use crate::common::lifecycle::{
    HEIGHT, Library, Made, Part, Random, add_shaders, remove, shader, tinted,
};

/// A material of meshes with a texture that may be missing.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(super) struct Tinted {
    #[uniform(0)]
    color: LinearRgba,
    #[texture(1)]
    #[sampler(2)]
    pattern: Option<Handle<Image>>,
    alpha_mode: AlphaMode2d,
    depth_bias: f32,
}

const TINTED: &str = tinted!("bevy_sprite_render::mesh2d::vertex_output");

impl Material2d for Tinted {
    fn fragment_shader() -> ShaderRef {
        shader(1).into()
    }

    fn alpha_mode(&self) -> AlphaMode2d {
        self.alpha_mode
    }

    fn depth_bias(&self) -> f32 {
        self.depth_bias
    }
}

/// A material of meshes with [`HEIGHT`] alone.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(super) struct High {
    #[uniform(0)]
    color: LinearRgba,
}

const HIGH: &str = "
import bevy_sprite_render::mesh2d::functions::{get_world_from_local, mesh2d_position_local_to_clip};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;

struct Vertex {
    @builtin(instance_index) instance_index: u32,
    @location(0) position: vec3f,
    @location(1) height: f32,
}

struct Output {
    @builtin(position) position: vec4f,
    @location(0) height: f32,
}

@vertex
fn vertex(vertex: Vertex) -> Output {
    var out: Output;
    let world_from_local = get_world_from_local(vertex.instance_index);
    out.position = mesh2d_position_local_to_clip(world_from_local, vec4f(vertex.position, 1.0));
    out.height = vertex.height;
    return out;
}

@fragment
fn fragment(in: Output) -> @location(0) vec4f {
    return vec4f(color.rgb * in.height, 1.0);
}
";

impl Material2d for High {
    fn vertex_shader() -> ShaderRef {
        shader(2).into()
    }

    fn fragment_shader() -> ShaderRef {
        shader(2).into()
    }

    fn specialize(
        _: &Material2dPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _: Material2dKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        descriptor.vertex.buffers = vec![layout.0.get_layout(&[
            Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
            HEIGHT.at_shader_location(1),
        ])?];
        Ok(())
    }
}

/// An effect on sprites.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(super) struct Faded {
    #[uniform(20)]
    color: LinearRgba,
}

const FADED: &str = "
import bevy_sprite_render::{mesh2d::vertex_output::VertexOutput, sprite_mesh::functions as sprite_fn};

@group(constants::MATERIAL_BIND_GROUP) @binding(20) var<uniform> faded: vec4f;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let color = sprite_fn::sample_final_color(mesh.uv, mesh.instance_index);
    return vec4f(mix(color.rgb, faded.rgb, 0.5), color.a);
}
";

impl MaterialExtension2d for Faded {
    fn fragment_shader() -> Option<ShaderRef> {
        Some(shader(3).into())
    }
}

/// A material of nodes.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(super) struct Bar {
    #[uniform(0)]
    color: LinearRgba,
    #[uniform(1)]
    filled: f32,
    #[texture(2)]
    #[sampler(3)]
    pattern: Option<Handle<Image>>,
}

const BAR: &str = "
import bevy_ui_render::ui_vertex_output::UiVertexOutput;

@group(1) @binding(0) var<uniform> color: vec4f;
@group(1) @binding(1) var<uniform> filled: f32;
@group(1) @binding(2) var pattern: texture_2d<f32>;
@group(1) @binding(3) var pattern_sampler: sampler;

@fragment
fn fragment(node: UiVertexOutput) -> @location(0) vec4f {
    let texel = textureSample(pattern, pattern_sampler, node.uv);
    return select(vec4f(0.0), color * texel, node.uv.x < filled);
}
";

impl UiMaterial for Bar {
    fn fragment_shader() -> ShaderRef {
        shader(4).into()
    }
}

/// Adds the types and their shaders.
pub(super) fn add_materials(app: &mut App) {
    app.add_plugins((
        Material2dPlugin::<Tinted>::default(),
        Material2dPlugin::<High>::default(),
        SpriteMaterialPlugin::<Faded>::default(),
        UiMaterialPlugin::<Bar>::default(),
    ));
    add_shaders(app, &[(1, TINTED), (2, HIGH), (3, FADED), (4, BAR)]);
}

/// Materials of all types: an entity has one at most, since of several the one that changed last is drawn.
type AnyMaterial = (
    MeshMaterial2d<ColorMaterial>,
    MeshMaterial2d<Tinted>,
    MeshMaterial2d<High>,
    SpriteMaterial<Faded>,
);

pub(super) const MATERIAL: Part = Part {
    name: "material",
    insert: |world, entity, random| match random.below(8) {
        0..3 => {
            let material = MeshMaterial2d::<ColorMaterial>(Library::pick(world, random));
            insert_only(world, entity, material);
        }
        3..5 => {
            let material = MeshMaterial2d::<Tinted>(Library::pick(world, random));
            insert_only(world, entity, material);
        }
        5 => {
            let material = MeshMaterial2d::<High>(Library::pick(world, random));
            insert_only(world, entity, material);
        }
        _ => {
            let material = SpriteMaterial::<Faded>(Library::pick(world, random));
            insert_only(world, entity, material);
        }
    },
    remove: remove::<AnyMaterial>,
    is_related: false,
};

/// Inserts a material, or replaces one of its type, and removes those of other types.
fn insert_only<C: Component>(world: &mut World, entity: Entity, material: C) {
    let mut entity = world.entity_mut(entity);
    if !entity.contains::<C>() {
        entity.remove::<AnyMaterial>();
    }
    entity.insert(material);
}

impl From<LinearRgba> for Tinted {
    fn from(color: LinearRgba) -> Self {
        Self {
            color,
            pattern: None,
            alpha_mode: AlphaMode2d::Opaque,
            depth_bias: 0.0,
        }
    }
}

impl From<LinearRgba> for Faded {
    fn from(color: LinearRgba) -> Self {
        Self { color }
    }
}

impl From<LinearRgba> for Bar {
    fn from(color: LinearRgba) -> Self {
        Self {
            color,
            filled: 1.0,
            pattern: None,
        }
    }
}

impl Made for Tinted {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        Self {
            color: color(random).into(),
            pattern: random.one_in(2).then(|| image(world, random)),
            alpha_mode: random.pick(&[
                AlphaMode2d::Opaque,
                AlphaMode2d::Blend,
                AlphaMode2d::Mask(0.5),
            ]),
            depth_bias: random.pick(&[0.0, 2.0]),
        }
    }
}

impl Made for High {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        Self {
            color: color(random).into(),
        }
    }
}

impl Made for Faded {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        Self {
            color: color(random).into(),
        }
    }
}

impl Made for Bar {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        Self {
            color: color(random).into(),
            filled: random.unit(),
            pattern: random.one_in(2).then(|| image(world, random)),
        }
    }
}
