//! Cubes in five colors that the CPU writes each frame.

use bevy_app::{App, Startup, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::glam::Vec4;
use quadrille::prelude::*;
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid, solid_pass};

#[derive(Resource, Deref)]
struct Colors(GpuBuffer);

#[derive(Resource)]
struct Cubes(GraphicsPipeline);

const SHADER: &str = "
    import quadrille_3d::scene::View;
    import shaders::cube::{corner, lit};

    @group(0) @binding(0) var<storage, read> views: array<View>;
    @group(0) @binding(1) var<storage, read> colors: array<vec4f, 5>;
    var<immediate> view: u32;
    struct Seen { @builtin(position) position: vec4f, @location(0) color: vec4f }

    @vertex fn vertex_main(@builtin(vertex_index) v: u32, @builtin(instance_index) i: u32) -> Seen {
        let at = corner(v);
        let place = vec3f(f32(i / 7u) - 6.0, f32(i % 7u) - 3.0, 0.0) + at.place * 0.3;
        return Seen(views[view].clip_from_world * vec4f(place, 1.0), colors[i % 5u] * lit(at.normal));
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f { return vec4f(seen.color.rgb, 1.0); }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(Colors(
        gpu.create_buffer(&BufferDesc::storage("colors", 80))?,
    ));
    commands.insert_resource(Cubes(solid(&gpu, "cubes", SHADER)?));
    Ok(())
}

fn change(colors: If<Res<Colors>>, mut uploads: ResMut<Uploads>, mut frame: Local<u16>) {
    *frame += 1;
    let wave = |at: f32| (f32::from(*frame) / 12.0 + at).sin() / 2.0 + 0.5;
    let now =
        [0.0, 1.0, 2.0, 3.0, 4.0].map(|i| Vec4::new(wave(i), wave(i + 2.0), wave(i + 4.0), 1.0));
    uploads.write(&colors.0, 0, &now);
}

fn cubes(mut recorder: Recorder, frame: Frame, colors: StorageRead<Colors>, cubes: Res<Cubes>) {
    frame.draw(
        &mut recorder,
        &cubes.0,
        &[colors.any().as_declared()],
        |rendering| {
            rendering.bind("colors", &colors).draw(0..36, 0..91);
        },
    );
}

fn setup(mut commands: Commands) {
    let eye = Transform::from_xyz(0.0, 0.0, 10.0);
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(Update, change)
        .add_systems(RenderStartup, make)
        .add_systems(Render, solid_pass(cubes));
}
