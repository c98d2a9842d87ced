//! Vertex attributes of programs on 2D meshes, by exact colors.

use bevy_asset::RenderAssetUsages;
use bevy_mesh::{MeshVertexAttribute, PrimitiveTopology, VertexFormat};
use quadrille_2d::prelude::*;
use quadrille_2d::{
    Material2dKey, Material2dPipeline, MeshVertexBufferLayoutRef, Quadrille2dPlugin,
    RenderPipelineDescriptor, SpecializedMeshPipelineError,
};

use crate::common::{Rig, log};
use crate::materials::{add, add_shader};

const HEIGHT: MeshVertexAttribute =
    MeshVertexAttribute::new("Height", 988_540_917, VertexFormat::Float32);

const BLEND_COLOR: MeshVertexAttribute =
    MeshVertexAttribute::new("BlendColor", 988_540_918, VertexFormat::Float32x4);

/// A color in one word, with an id of bevy's, as in bevy's example `mesh2d_manual`.
const PACKED_COLOR: MeshVertexAttribute =
    MeshVertexAttribute::new("Vertex_Color", 1, VertexFormat::Uint32);

/// Draws the color of the vertices, times its own.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Blended {
    #[uniform(0)]
    color: LinearRgba,
}

/// Draws a packed color.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Packed {}

const BLENDED: Handle<Shader> = bevy_asset::uuid_handle!("1b1dc5ac-1f3c-4d0f-9d67-60b1f1e5b4c1");

const PACKED: Handle<Shader> = bevy_asset::uuid_handle!("1b1dc5ac-1f3c-4d0f-9d67-60b1f1e5b4c2");

/// Takes the position and another attribute, at locations 0 and 1.
fn take(
    descriptor: &mut RenderPipelineDescriptor,
    layout: &MeshVertexBufferLayoutRef,
    attribute: MeshVertexAttribute,
) -> Result<(), SpecializedMeshPipelineError> {
    descriptor.vertex.buffers = vec![layout.0.get_layout(&[
        Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
        attribute.at_shader_location(1),
    ])?];
    Ok(())
}

macro_rules! material {
    ($name:ident, $shader:ident, $attribute:ident) => {
        impl Material2d for $name {
            fn vertex_shader() -> ShaderRef {
                $shader.into()
            }

            fn fragment_shader() -> ShaderRef {
                $shader.into()
            }

            fn specialize(
                _: &Material2dPipeline,
                descriptor: &mut RenderPipelineDescriptor,
                layout: &MeshVertexBufferLayoutRef,
                _: Material2dKey<Self>,
            ) -> Result<(), SpecializedMeshPipelineError> {
                take(descriptor, layout, $attribute)
            }
        }
    };
}

material!(Blended, BLENDED, BLEND_COLOR);
material!(Packed, PACKED, PACKED_COLOR);

const SHADER: &str = "
import bevy_sprite_render::mesh2d::functions::{get_world_from_local, mesh2d_position_local_to_clip};

@if(BLENDED) @group(2) @binding(0) var<uniform> color: vec4f;

struct Vertex {
    @builtin(instance_index) instance_index: u32,
    @location(0) position: vec3f,
    @location(1) color: TYPE,
}

struct Output {
    @builtin(position) position: vec4f,
    @location(0) color: vec4f,
}

@vertex
fn vertex(vertex: Vertex) -> Output {
    let world_from_local = get_world_from_local(vertex.instance_index);
    var out: Output;
    out.position = mesh2d_position_local_to_clip(world_from_local, vec4f(vertex.position, 1.0));
    out.color = COLOR;
    return out;
}

@fragment
fn fragment(in: Output) -> @location(0) vec4f { return FRAGMENT; }
";

fn rig() -> Rig {
    let plugins = (
        Quadrille2dPlugin::default(),
        Material2dPlugin::<Blended>::default(),
        Material2dPlugin::<Packed>::default(),
    );
    let mut rig = Rig::with(32, 32, plugins);
    let shader = |ty, color, fragment, blended| {
        let source = SHADER.replace("TYPE", ty).replace("FRAGMENT", fragment);
        let source = source.replace("COLOR", color);
        let declaration = match blended {
            true => "",
            false => "// ",
        };
        source.replace("@if(BLENDED) ", declaration)
    };
    let blended = shader("vec4f", "vertex.color", "color * in.color", true);
    let packed = shader("u32", "unpack4x8unorm(vertex.color)", "in.color", false);
    add_shader(&mut rig.app, &BLENDED, &blended);
    add_shader(&mut rig.app, &PACKED, &packed);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::BLACK));
    world.spawn((Camera2d, Msaa::Off));
    rig
}

/// A square of 8 pixels with this color at all vertices, and another attribute first.
fn colored(color: [f32; 4], has_height: bool) -> Mesh {
    let mut mesh = Mesh::from(Rectangle::new(8.0, 8.0));
    if has_height {
        mesh.insert_attribute(HEIGHT, vec![0.5_f32; 4]);
    }
    mesh.with_inserted_attribute(BLEND_COLOR, vec![color; 4])
}

fn show<M: Material2d>(rig: &mut Rig, mesh: Handle<Mesh>, material: Handle<M>, x: f32) {
    let place = Transform::from_xyz(x, 0.0, 0.0);
    let world = rig.app.world_mut();
    world.spawn((Mesh2d(mesh), MeshMaterial2d(material), place));
}

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

/// Three meshes of two layouts, of which one changes.
#[test]
#[ignore = "needs a device"]
fn vertex_shaders_read_attributes_of_programs() {
    log::collect();
    let mut rig = rig();
    let white = LinearRgba::WHITE;
    let material = add(&mut rig, Blended { color: white });
    let meshes = [(RED, false), (GREEN, false), (BLUE, true)];
    let meshes = meshes.map(|(color, has_height)| add(&mut rig, colored(color, has_height)));
    for (mesh, x) in meshes.iter().zip([-8.0, 0.0, 8.0]) {
        show(&mut rig, mesh.clone(), material.clone(), x);
    }
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [255, 0, 0, 255]);
    assert_eq!(picture.at(16, 16), [0, 255, 0, 255]);
    assert_eq!(picture.at(24, 16), [0, 0, 255, 255]);
    let world = rig.app.world_mut();
    let mut assets = world.resource_mut::<Assets<Mesh>>();
    let changed = colored([1.0, 1.0, 0.0, 1.0], true);
    assets.insert(&meshes[0], changed).expect("it is there");
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [255, 255, 0, 255]);
    assert_eq!(picture.at(16, 16), [0, 255, 0, 255]);
    assert!(log::take().is_empty());
}

/// One message, and the other meshes of the material are drawn.
#[test]
#[ignore = "needs a device"]
fn meshes_without_the_attribute_are_reported_once() {
    log::collect();
    let mut rig = rig();
    let white = LinearRgba::WHITE;
    let material = add(&mut rig, Blended { color: white });
    let plain = add(&mut rig, Mesh::from(Rectangle::new(8.0, 8.0)));
    let red = add(&mut rig, colored(RED, false));
    show(&mut rig, plain.clone(), material.clone(), -8.0);
    show(&mut rig, plain, material.clone(), 0.0);
    show(&mut rig, red, material, 8.0);
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [0, 0, 0, 255]);
    assert_eq!(picture.at(16, 16), [0, 0, 0, 255]);
    assert_eq!(picture.at(24, 16), [255, 0, 0, 255]);
    let lines = log::take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    for part in ["`Blended`", "BlendColor", "Insert the attribute"] {
        assert!(lines[0].contains(part), "{part} is not in {}", lines[0]);
    }
}

/// A mesh without texture coordinates, whose colors are words.
#[test]
#[ignore = "needs a device"]
fn packed_colors_with_an_id_of_bevys_are_drawn() {
    log::collect();
    let mut rig = rig();
    let usages = RenderAssetUsages::default();
    let corners = vec![[-8.0_f32, -8.0, 0.0], [8.0, -8.0, 0.0], [8.0, 8.0, 0.0]];
    let mesh = Mesh::new(PrimitiveTopology::TriangleList, usages)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, corners)
        .with_inserted_attribute(PACKED_COLOR, vec![0xff00_ffff_u32; 3]);
    let mesh = add(&mut rig, mesh);
    let material = add(&mut rig, Packed {});
    show(&mut rig, mesh, material, 0.0);
    let picture = rig.picture();
    assert_eq!(picture.at(22, 18), [255, 255, 0, 255]);
    assert_eq!(picture.at(10, 12), [0, 0, 0, 255]);
    assert!(log::take().is_empty());
}
