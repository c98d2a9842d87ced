//! Vertex attributes of programs in shaders of materials, and shader defs by mesh.

use bevy_app::App;
use bevy_ecs::prelude::Entity;
use bevy_mesh::{MeshVertexAttribute, VertexAttributeValues};
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
    SpecializedMeshPipelineError,
};
use wgpu_types::VertexFormat;

use crate::common::{Rig, log};
use crate::material_shaders::{add_shader, assert_color, blend_by_adding, rig_with, shader_ref};

const HEIGHT: MeshVertexAttribute =
    MeshVertexAttribute::new("Height", 988_540_916, VertexFormat::Float32);
const BLEND_COLOR: MeshVertexAttribute =
    MeshVertexAttribute::new("BlendColor", 988_540_917, VertexFormat::Float32x4);
const KIND: MeshVertexAttribute =
    MeshVertexAttribute::new("Kind", 988_540_918, VertexFormat::Uint16x2);

/// A material that shows an attribute of the program.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Shown {
    #[uniform(0)]
    factor: f32,
}

impl Material for Shown {
    fn vertex_shader() -> ShaderRef {
        shader_ref(20)
    }

    fn fragment_shader() -> ShaderRef {
        shader_ref(20)
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let mut attributes = vec![
            Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
            BLEND_COLOR.at_shader_location(1),
        ];
        if layout.0.contains(KIND) {
            descriptor.vertex.shader_defs.push("HAS_KIND".into());
            attributes.push(KIND.at_shader_location(2));
        }
        descriptor.vertex.buffers = vec![layout.0.get_layout(&attributes)?];
        Ok(())
    }
}

const SHOWN: &str = "
import bevy_pbr::render::mesh_functions::{get_world_from_local, mesh_position_local_to_clip};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> factor: f32;

struct Vertex {
    @builtin(instance_index) instance_index: u32,
    @location(0) position: vec3<f32>,
    @location(1) blend_color: vec4<f32>,
    @if(HAS_KIND) @location(2) kind: vec2u,
};

struct VertexOutput {
    @builtin(position) clip_position: vec4<f32>,
    @location(0) blend_color: vec4<f32>,
};

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    var out: VertexOutput;
    let world_from_local = get_world_from_local(vertex.instance_index);
    out.clip_position = mesh_position_local_to_clip(world_from_local, vec4<f32>(vertex.position, 1.0));
    out.blend_color = vertex.blend_color;
    @if(HAS_KIND) out.blend_color.b = f32(vertex.kind.x * 10u + vertex.kind.y) / 100.0;
    return out;
}

@fragment
fn fragment(@location(0) blend_color: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4f(blend_color.rgb * factor, 1.0);
}
";

/// A material that tells which attributes its mesh has.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Told {}

impl Material for Told {
    fn fragment_shader() -> ShaderRef {
        shader_ref(21)
    }

    fn alpha_mode(&self) -> AlphaMode {
        AlphaMode::Blend
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        _: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        blend_by_adding(descriptor);
        Ok(())
    }
}

const TOLD: &str = "
import bevy_pbr::render::forward_io::VertexOutput;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    var color = vec4f(0.1, 0.1, 0.1, 1.0);
    @if(VERTEX_COLORS) color.r = mesh.color.r;
    @if(VERTEX_TANGENTS) color.g = 1.0;
    @if(VERTEX_UVS_B) color.b = 1.0;
    return color;
}
";

fn add_types(app: &mut App) {
    app.add_plugins((
        MaterialPlugin::<Shown>::default(),
        MaterialPlugin::<Told>::default(),
    ));
    add_shader(app, 20, SHOWN);
    add_shader(app, 21, TOLD);
}

fn rig() -> Rig {
    rig_with(Tonemapping::None, false, add_types)
}

fn rectangle() -> Mesh {
    Mesh::from(Rectangle::new(0.25, 0.25))
}

fn spawn<M: Material>(rig: &mut Rig, (x, y): (f32, f32), mesh: Mesh, material: M) -> Handle<Mesh> {
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = world.resource_mut::<Assets<M>>().add(material);
    let place = Transform::from_xyz(x, y, 0.0);
    world.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(material), place));
    mesh
}

#[test]
#[ignore = "needs a device"]
fn attributes_of_programs_reach_vertex_shaders() {
    log::collect();
    let mut rig = rig();
    let colored =
        |color: [f32; 4]| rectangle().with_inserted_attribute(BLEND_COLOR, vec![color; 4]);
    let red = colored([1.0, 0.5, 0.0, 1.0]);
    let first = spawn(&mut rig, (-0.25, 0.25), red, Shown { factor: 1.0 });
    spawn(
        &mut rig,
        (0.25, 0.25),
        colored([0.0, 1.0, 0.5, 1.0]),
        Shown { factor: 0.5 },
    );
    // Another layout: more words to a vertex, in another order.
    let kind = VertexAttributeValues::Uint16x2(vec![[3, 7]; 4]);
    let other = colored([0.25, 0.75, 1.0, 1.0])
        .with_inserted_attribute(KIND, kind)
        .with_inserted_attribute(HEIGHT, vec![9.0_f32; 4]);
    spawn(&mut rig, (-0.25, -0.25), other, Shown { factor: 1.0 });
    let picture = rig.picture();
    assert_color(picture.at(8, 8), [1.0, 0.5, 0.0], "an attribute");
    assert_color(picture.at(24, 8), [0.0, 0.5, 0.25], "of another mesh");
    assert_color(picture.at(8, 24), [0.25, 0.75, 0.37], "of another layout");
    assert!(log::take().is_empty());
    // A changed mesh, and one that lacks the attribute.
    let assets = rig.app.world_mut().resource_mut::<Assets<Mesh>>();
    let mesh = assets.into_inner().get_mut(&first);
    let mut mesh = mesh.expect("it is there");
    mesh.insert_attribute(BLEND_COLOR, vec![[0.0, 0.0, 1.0, 1.0]; 4]);
    mesh.insert_attribute(HEIGHT, vec![1.0_f32; 4]);
    drop(mesh);
    spawn(&mut rig, (0.25, -0.25), rectangle(), Shown { factor: 1.0 });
    spawn(&mut rig, (0.25, -0.25), rectangle(), Shown { factor: 1.0 });
    let picture = rig.picture();
    assert_color(picture.at(8, 8), [0.0, 0.0, 1.0], "a changed attribute");
    assert_color(picture.at(24, 24), [0.0; 3], "without the attribute");
    let messages = log::take();
    assert_eq!(messages.len(), 1, "{messages:?}");
    let message = format!("{messages:?}");
    for part in [
        "`Shown` are not drawn",
        "BlendColor",
        "Insert the attribute",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
#[ignore = "needs a device"]
fn shader_defs_and_blend_states_are_those_of_the_pipeline() {
    log::collect();
    let mut rig = rig();
    spawn(&mut rig, (-0.25, 0.25), rectangle(), Told {});
    let color = rectangle().with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![[0.5_f32; 4]; 4]);
    spawn(&mut rig, (0.25, 0.25), color, Told {});
    let tangents = rectangle()
        .with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, vec![[1.0_f32, 0.0, 0.0, 1.0]; 4])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, vec![[0.0_f32; 2]; 4]);
    spawn(&mut rig, (-0.25, -0.25), tangents, Told {});
    for _ in 0..2 {
        spawn(&mut rig, (0.25, -0.25), rectangle(), Told {});
    }
    let picture = rig.picture();
    assert_color(picture.at(8, 8), [0.1; 3], "neither");
    assert_color(picture.at(24, 8), [0.5, 0.1, 0.1], "with colors");
    assert_color(
        picture.at(8, 24),
        [0.1, 1.0, 1.0],
        "with tangents and second coordinates",
    );
    assert_color(picture.at(24, 24), [0.2; 3], "two, added");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn deformed_meshes_keep_attributes_of_programs() {
    use bevy_mesh::morph::{MeshMorphWeights, MorphAttributes};

    log::collect();
    let mut rig = rig();
    let moved = MorphAttributes {
        position: Vec3::new(0.5, 0.0, 0.0),
        ..MorphAttributes::default()
    };
    let mut mesh = rectangle().with_inserted_attribute(BLEND_COLOR, vec![[1.0, 0.5, 0.25, 1.0]; 4]);
    mesh.set_morph_targets(vec![moved; 4]);
    let mesh = spawn(&mut rig, (-0.25, 0.0), mesh, Shown { factor: 1.0 });
    let world = rig.app.world_mut();
    let mut entities = world.query::<(Entity, &Mesh3d)>();
    let entity = entities
        .iter(world)
        .find(|it| it.1.0 == mesh)
        .expect("it was spawned")
        .0;
    world
        .entity_mut(entity)
        .insert(MeshMorphWeights::Value { weights: vec![1.0] });
    let picture = rig.picture();
    assert_color(picture.at(8, 16), [0.0; 3], "where it was");
    assert_color(picture.at(24, 16), [1.0, 0.5, 0.25], "where it is");
    assert!(log::take().is_empty());
}
