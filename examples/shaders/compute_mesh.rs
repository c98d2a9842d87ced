//! A mesh that the device makes: a compute pass writes vertices, a graphics pass draws them.

use bevy_app::{App, Startup};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid, solid_pass};

#[derive(Resource, Deref)]
struct Vertices(GpuBuffer);

#[derive(Resource)]
struct Pipelines(ComputePipeline, GraphicsPipeline);

/// Quads along and across the ring.
const QUADS: u32 = 64 * 32;

const GENERATE: &str = "
    @group(0) @binding(0) var<storage, read_write> vertices: array<vec4f>;
    var<immediate> time: f32;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) {
        var corners = array(vec2u(0, 0), vec2u(1, 0), vec2u(1, 1), vec2u(0, 0), vec2u(1, 1), vec2u(0, 1));
        for (var i = 0u; i < 6u; i += 1u) {
            let at = vec2f(vec2u(id.x % 64u, id.x / 64u) + corners[i]) * 6.2831853 / vec2f(64.0, 32.0);
            let radius = 0.35 + 0.08 * sin(at.x * 5.0 + at.y * 3.0 + time);
            let across = 1.0 + radius * cos(at.y);
            let place = vec3f(across * cos(at.x), radius * sin(at.y), across * sin(at.x));
            vertices[id.x * 6u + i] = vec4f(place, radius);
        }
    }";

const DRAW: &str = "
    import quadrille_3d::scene::View;

    @group(0) @binding(0) var<storage, read> views: array<View>;
    @group(0) @binding(1) var<storage, read> vertices: array<vec4f>;
    var<immediate> view: u32;
    struct Seen { @builtin(position) position: vec4f, @location(0) place: vec4f }

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> Seen {
        return Seen(views[view].clip_from_world * vec4f(vertices[i].xyz, 1.0), vertices[i]);
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f {
        let normal = normalize(cross(dpdx(seen.place.xyz), dpdy(seen.place.xyz)));
        let light = abs(dot(normal, vec3f(0.36, 0.8, 0.48)));
        return vec4f(mix(vec3f(0.1, 0.3, 0.8), vec3f(1.0, 0.4, 0.1), (seen.place.w - 0.27) * 6.0) * light, 1.0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let desc = BufferDesc::storage("vertices", u64::from(QUADS) * 6 * 16);
    commands.insert_resource(Vertices(gpu.create_buffer(&desc)?));
    let shader = GpuShader::wgsl("generate", GENERATE)?;
    let generate = gpu.compute_pipeline(&ComputePipelineDesc::of("generate", &shader))?;
    commands.insert_resource(Pipelines(generate, solid(&gpu, "ring", DRAW)?));
    Ok(())
}

fn generate(
    mut recorder: Recorder,
    vertices: StorageWrite<Vertices>,
    pipelines: Res<Pipelines>,
    mut frame: Local<u16>,
) {
    *frame += 1;
    let mut compute = recorder.compute(&pipelines.0);
    compute
        .bind("vertices", &vertices)
        .push(&(f32::from(*frame) / 20.0))
        .dispatch_invocations([QUADS, 1, 1]);
}

fn ring(
    mut recorder: Recorder,
    frame: Frame,
    rows: StorageRead<Vertices>,
    pipelines: Res<Pipelines>,
) {
    frame.draw(
        &mut recorder,
        &pipelines.1,
        &[rows.any().as_declared()],
        |rendering| {
            rendering.bind("vertices", &rows).draw(0..QUADS * 6, 0..1);
        },
    );
}

fn setup(mut commands: Commands) {
    let eye = Transform::from_xyz(0.0, 2.2, 2.4);
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(
            Render,
            (generate.on_queue(QueuePreference::Async), solid_pass(ring)),
        );
}
