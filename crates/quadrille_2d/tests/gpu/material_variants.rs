//! Vertex shaders and states of pipelines of 2D materials, by exact colors.

use bevy_ecs::prelude::With;
use bevy_math::{Vec2, Vec3, Vec4};
use quadrille_2d::prelude::*;
use quadrille_2d::{
    Material2dKey, Material2dPipeline, MeshVertexBufferLayoutRef, Phase2d, Quadrille2dPlugin,
    RenderPipelineDescriptor, SpecializedMeshPipelineError,
};

use crate::common::{Rig, log};
use crate::materials::{add, add_shader, assert_color};

/// Moves a mesh or sprite by pixels.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(Kind)]
struct Moved {
    #[uniform(20)]
    by: Vec4,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Plain,
    Swapped,
    Dimmed,
    Points,
}

impl From<&Moved> for Kind {
    fn from(material: &Moved) -> Self {
        material.kind
    }
}

const HANDLE: Handle<Shader> = bevy_asset::uuid_handle!("1b1dc5ac-1f3c-4d0f-9d67-60b1f1e5b4b1");

impl Material2d for Moved {
    fn vertex_shader() -> ShaderRef {
        HANDLE.into()
    }

    fn fragment_shader() -> ShaderRef {
        HANDLE.into()
    }

    fn specialize(
        _: &Material2dPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: Material2dKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let fragment = descriptor.fragment.as_mut().expect("it has one");
        match key.bind_group_data {
            Kind::Plain => {}
            Kind::Swapped => fragment.shader_defs.push("SWAPPED".into()),
            Kind::Dimmed => fragment.constants.push(("SCALE".into(), 0.5)),
            Kind::Points => {
                descriptor.primitive.topology = wgpu_types::PrimitiveTopology::PointList;
            }
        }
        Ok(())
    }
}

/// Moves a sprite by pixels.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Effect {
    #[uniform(20)]
    by: Vec4,
}

impl MaterialExtension2d for Effect {
    fn vertex_shader() -> Option<ShaderRef> {
        Some(HANDLE.into())
    }

    fn fragment_shader() -> Option<ShaderRef> {
        Some(HANDLE.into())
    }
}

const SHADER: &str = "
import bevy_sprite_render::mesh2d::{
    functions::{get_world_from_local, mesh2d_position_local_to_world, mesh2d_position_world_to_clip},
    vertex_input::Vertex, vertex_output::VertexOutput,
};

@group(constants::MATERIAL_BIND_GROUP) @binding(20) var<uniform> by: vec4f;
override SCALE: f32 = 1.0;

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    var out: VertexOutput;
    let world_from_local = get_world_from_local(vertex.instance_index);
    out.world_position = mesh2d_position_local_to_world(world_from_local, vec4f(vertex.position, 1.0));
    out.world_position += vec4f(by.xy, 0.0, 0.0);
    out.position = mesh2d_position_world_to_clip(out.world_position);
    out.uv = vertex.uv;
    out.color = vertex.color;
    out.instance_index = vertex.instance_index;
    return out;
}

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let color = vec3f(1.0, 0.5, 0.25) * SCALE;
    @if(SWAPPED) return vec4f(color.bgr, 1.0);
    @else return vec4f(color, 1.0);
}
";

fn rig(source: &str) -> Rig {
    let plugins = (
        Quadrille2dPlugin::default(),
        Material2dPlugin::<Moved>::default(),
        SpriteMaterialPlugin::<Effect>::default(),
    );
    let mut rig = Rig::with(32, 32, plugins);
    add_shader(&mut rig.app, &HANDLE, source);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::BLACK));
    world.spawn((Camera2d, Msaa::Off));
    rig
}

/// Spawns a square of 8 pixels around the center, which its material moves.
fn square(rig: &mut Rig, by: Vec2, kind: Kind) {
    let mesh = add(rig, Mesh::from(Rectangle::new(8.0, 8.0)));
    show(rig, mesh, by, kind);
}

fn show(rig: &mut Rig, mesh: Handle<Mesh>, by: Vec2, kind: Kind) {
    let by = by.extend(0.0).extend(0.0);
    let material = add(rig, Moved { by, kind });
    let world = rig.app.world_mut();
    world.spawn((Mesh2d(mesh), MeshMaterial2d(material), Transform::IDENTITY));
}

#[test]
#[ignore = "needs a device"]
fn vertex_shaders_move_meshes_and_sprites() {
    log::collect();
    let mut rig = rig(SHADER);
    let mesh = add(&mut rig, Mesh::from(Rectangle::new(8.0, 8.0)));
    for x in [-8.0, 8.0] {
        show(&mut rig, mesh.clone(), Vec2::new(x, 0.0), Kind::Plain);
    }
    let by = Vec4::new(0.0, 8.0, 0.0, 0.0);
    let effect = add(&mut rig, Effect { by });
    let sprite = Sprite::from_color(Color::WHITE, Vec2::splat(8.0));
    let place = Transform::from_translation(Vec3::new(0.0, 2.0, 0.0));
    let world = rig.app.world_mut();
    world.spawn((sprite, SpriteMaterial(effect), place));
    let picture = rig.picture();
    for at in [[-8, 0], [8, 0], [0, 10]] {
        assert_color(&picture, at, [1.0, 0.5, 0.25]);
    }
    assert_color(&picture, [0, 0], [0.0; 3]);
    let draws = rig.app.world().resource::<Phase2d>().draws();
    assert_eq!(draws, 2, "meshes of one type are one draw");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn vertex_shader_needs_neither_view_nor_uniform() {
    log::collect();
    let source = "
@vertex fn vertex(@location(0) position: vec3f) -> @builtin(position) vec4f {
    return vec4f(position.xy / 8.0 + vec2f(0.5, 0.0), 0.5, 1.0);
}
@fragment fn fragment() -> @location(0) vec4f { return vec4f(1.0, 0.5, 0.25, 1.0); }";
    let mut rig = rig(source);
    square(&mut rig, Vec2::ZERO, Kind::Plain);
    let picture = rig.picture();
    assert_color(&picture, [8, 0], [1.0, 0.5, 0.25]);
    assert_color(&picture, [-8, 0], [0.0; 3]);
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn specialize_changes_defs_constants_and_topology() {
    log::collect();
    let mut rig = rig(SHADER);
    square(&mut rig, Vec2::new(-8.0, 8.0), Kind::Plain);
    square(&mut rig, Vec2::new(8.0, 8.0), Kind::Swapped);
    square(&mut rig, Vec2::new(-8.0, -8.0), Kind::Dimmed);
    square(&mut rig, Vec2::new(8.0, -8.0), Kind::Points);
    let picture = rig.picture();
    assert_color(&picture, [-8, 8], [1.0, 0.5, 0.25]);
    assert_color(&picture, [8, 8], [0.25, 0.5, 1.0]);
    assert_color(&picture, [-8, -8], [0.5, 0.25, 0.125]);
    assert_color(&picture, [8, -8], [0.0; 3]);
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn wrong_vertex_shader_is_reported_and_magenta() {
    for (source, part) in [
        (
            SHADER.replace("@vertex", ""),
            "has no entry point. Write `@vertex fn vertex",
        ),
        (
            SHADER
                .replace("vertex_input::Vertex", "vertex_input::Vertexes")
                .replace("vertex: Vertex)", "vertex: Vertexes)"),
            "Vertexes",
        ),
        (
            SHADER.replace("by.xy", "other[0].xy")
                + "@group(0) @binding(12) var<storage, read> other: array<vec4f>;",
            "reads `other`",
        ),
    ] {
        log::collect();
        let mut rig = rig(&source);
        square(&mut rig, Vec2::ZERO, Kind::Plain);
        assert_color(&rig.picture(), [0, 0], [1.0, 0.0, 1.0]);
        let lines = log::take();
        // One for the meshes' type; there are no materials of the sprites'.
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].contains(part), "{part} is not in {lines:#?}");
    }
}

/// Moves by whether the time advances in the vertex shader, and is green if it does in the fragment shader.
const CLOCK: &str = "
import bevy_sprite_render::mesh2d::functions::{get_world_from_local, mesh2d_position_local_to_clip};
import bevy_sprite_render::mesh2d::vertex_input::Vertex;
import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;
import bevy_sprite_render::mesh2d::view_bindings::globals;

fn advances() -> f32 {
    return f32(globals.frame_count > 0u && globals.delta_time > 0.0 && globals.time >= globals.delta_time);
}

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    var output: VertexOutput;
    let moved = vec4f(vertex.position + vec3f(8.0 * advances(), 0.0, 0.0), 1.0);
    output.position = mesh2d_position_local_to_clip(get_world_from_local(vertex.instance_index), moved);
    output.instance_index = vertex.instance_index;
    return output;
}

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    return vec4f(1.0 - advances(), advances(), 0.0, 1.0);
}
";

#[test]
#[ignore = "needs a device"]
fn shaders_read_the_time() {
    let mut rig = rig(CLOCK);
    square(&mut rig, Vec2::ZERO, Kind::Plain);
    rig.update(2);
    let picture = rig.picture();
    assert_color(&picture, [8, 0], [0.0, 1.0, 0.0]);
    assert_color(&picture, [-8, 0], [0.0; 3]);
}

/// A vertex shader that leaves meshes where they are.
const PLAIN_VERTEX: &str = "
import bevy_sprite_render::mesh2d::functions::{get_world_from_local, mesh2d_position_local_to_clip};
import bevy_sprite_render::mesh2d::vertex_input::Vertex;

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    var output: VertexOutput;
    let place = vec4f(vertex.position, 1.0);
    output.position = mesh2d_position_local_to_clip(get_world_from_local(vertex.instance_index), place);
    return output;
}
";

/// Shows the view: the place in the viewport, the camera's position, and the center of clip space in the world.
const VIEW: &str = "
import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;
import bevy_sprite_render::mesh2d::view_bindings::view;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let center = view.world_from_clip * vec4f(0.0, 0.0, 0.5, 1.0);
    let pixel = (mesh.position.xy - view.viewport.xy) / view.viewport.zw;
    return vec4f(pixel.x, view.world_position.x / 16.0, center.x / 16.0, 1.0);
}
";

#[test]
#[ignore = "needs a device"]
fn shaders_read_the_view() {
    log::collect();
    let source = VIEW.replace("@fragment", &format!("{PLAIN_VERTEX}\n@fragment"));
    let mut rig = rig(&source);
    let world = rig.app.world_mut();
    let mut cameras = world.query_filtered::<&mut Transform, With<Camera2d>>();
    let mut camera = cameras.single_mut(world).expect("there is one");
    camera.translation.x = 4.0;
    square(&mut rig, Vec2::ZERO, Kind::Plain);
    let picture = rig.picture();
    // The square is 4 pixels left of the middle: from 8 to 16, of 32.
    for at in [-7, -2] {
        let pixel = (16.5 + at as f32) / 32.0;
        assert_color(&picture, [at, 0], [pixel, 0.25, 0.25]);
    }
    assert!(log::take().is_empty());
}
