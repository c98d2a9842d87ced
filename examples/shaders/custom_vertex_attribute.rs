//! Vertices with an attribute of one's own: how much of two colors each has.

use bevy_app::{App, Startup};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::{DepthState, PrimitiveTopology, VertexLayout};
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid_pass};

#[derive(Resource, Deref)]
struct Vertices(GpuBuffer);

#[derive(Resource)]
struct Ribbon(GraphicsPipeline);

const SHADER: &str = "
    import quadrille_3d::scene::View;

    @group(0) @binding(0) var<storage, read> views: array<View>;
    var<immediate> view: u32;
    struct Seen { @builtin(position) position: vec4f, @location(0) part: f32 }

    @vertex fn vertex_main(@location(0) place: vec3f, @location(1) part: f32) -> Seen {
        return Seen(views[view].clip_from_world * vec4f(place, 1.0), part);
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f {
        return vec4f(mix(vec3f(0.9, 0.3, 0.1), vec3f(0.1, 0.3, 0.9), seen.part), 1.0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let vertices: Vec<[f32; 4]> = (0..130u8)
        .map(|index| {
            let turn = f32::from(index / 2) / 10.0;
            let [y, part] = [
                f32::from(index % 2) - 1.0 + turn / 6.0,
                f32::from(index) / 130.0,
            ];
            [turn.sin(), y, turn.cos(), part]
        })
        .collect();
    let bytes = bytemuck::cast_slice(&vertices);
    let buffer = gpu.create_buffer(&BufferDesc::vertex("ribbon", bytes.len() as u64))?;
    uploads.write_buffer(&buffer, 0, bytes);
    commands.insert_resource(Vertices(buffer));
    let shader = GpuShader::wgsl("ribbon", SHADER)?;
    let formats = [Format::R32G32B32_SFLOAT, Format::R32_SFLOAT];
    commands.insert_resource(Ribbon(gpu.graphics_pipeline(&GraphicsPipelineDesc {
        vertex_buffers: vec![VertexLayout::packed(0, &formats)],
        topology: PrimitiveTopology::TriangleStrip,
        depth: Some(DepthState::GREATER),
        ..GraphicsPipelineDesc::of("ribbon", &shader)
    })?));
    Ok(())
}

fn ribbon(mut recorder: Recorder, frame: Frame, rows: VertexRead<Vertices>, ribbon: Res<Ribbon>) {
    frame.draw(
        &mut recorder,
        &ribbon.0,
        &[rows.any().as_declared()],
        |rendering| {
            rendering.vertices(0, &rows, 0).draw(0..130, 0..1);
        },
    );
}

fn setup(mut commands: Commands) {
    let eye = Transform::from_xyz(0.0, 1.5, 3.5);
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(Render, solid_pass(ribbon));
}
