//! A cube a hundred times, at places and in colors of a buffer.

use bevy_app::{App, Startup};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::glam::Vec4;
use quadrille::prelude::*;
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid, solid_pass};

#[derive(ShaderType)]
struct Instance {
    /// The last number is the size.
    place: Vec4,
    color: Vec4,
}

#[derive(Resource, Deref)]
struct Instances(GpuBuffer);

#[derive(Resource)]
struct Cubes(GraphicsPipeline);

const SHADER: &str = "
    import quadrille_3d::scene::View;
    import shaders::cube::{corner, lit};

    struct Instance { place: vec4f, color: vec4f }
    @group(0) @binding(0) var<storage, read> views: array<View>;
    @group(0) @binding(1) var<storage, read> instances: array<Instance>;
    var<immediate> view: u32;
    struct Seen { @builtin(position) position: vec4f, @location(0) color: vec4f }

    @vertex fn vertex_main(@builtin(vertex_index) v: u32, @builtin(instance_index) i: u32) -> Seen {
        let at = corner(v);
        let place = vec4f(at.place * instances[i].place.w + instances[i].place.xyz, 1.0);
        return Seen(views[view].clip_from_world * place, instances[i].color * lit(at.normal));
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f { return vec4f(seen.color.rgb, 1.0); }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let rows: Vec<Instance> = (0..100u8)
        .map(|index| {
            let [x, y] = [index / 10, index % 10].map(|at| f32::from(at + 1) / 10.0);
            let color = Color::hsl(x * 360.0, y, 0.5).to_linear();
            Instance {
                place: Vec4::new(x * 10.0 - 5.0, y * 10.0 - 5.0, 0.0, 0.5),
                color: Vec4::from_array(color.to_f32_array()),
            }
        })
        .collect();
    let buffer = gpu.create_buffer(&BufferDesc::storage("instances", rows.size().get()))?;
    uploads.write(&buffer, 0, &rows);
    commands.insert_resource(Instances(buffer));
    commands.insert_resource(Cubes(solid(&gpu, "cubes", SHADER)?));
    Ok(())
}

fn cubes(mut recorder: Recorder, frame: Frame, rows: StorageRead<Instances>, cubes: Res<Cubes>) {
    frame.draw(
        &mut recorder,
        &cubes.0,
        &[rows.any().as_declared()],
        |rendering| {
            rendering.bind("instances", &rows).draw(0..36, 0..100);
        },
    );
}

fn setup(mut commands: Commands) {
    let eye = Transform::from_xyz(0.0, 0.0, 15.0);
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(Render, solid_pass(cubes));
}
