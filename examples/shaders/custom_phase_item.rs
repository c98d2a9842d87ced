//! A triangle in the world, of vertices that are no mesh of bevy's.

use bevy_app::{App, Startup};
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid, solid_pass};

#[derive(Resource)]
struct Triangle(GraphicsPipeline);

const SHADER: &str = "
    import quadrille_3d::scene::View;

    @group(0) @binding(0) var<storage, read> views: array<View>;
    var<immediate> view: u32;
    struct Seen { @builtin(position) position: vec4f, @location(0) color: vec3f }

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> Seen {
        let colors = array(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), vec3f(0.0, 0.0, 1.0));
        let places = array(vec3f(-0.87, -0.5, 0.5), vec3f(0.87, -0.5, -0.5), vec3f(0.0, 1.0, 0.0));
        return Seen(views[view].clip_from_world * vec4f(places[i] * 0.6, 1.0), colors[i]);
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f { return vec4f(seen.color, 1.0); }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(Triangle(solid(&gpu, "triangle", SHADER)?));
    Ok(())
}

fn triangle(mut recorder: Recorder, frame: Frame, triangle: Res<Triangle>) {
    frame.draw(&mut recorder, &triangle.0, &[], |rendering| {
        rendering.draw(0..3, 0..1);
    });
}

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    // A mesh of bevy's that the triangle goes through.
    commands.spawn((
        Mesh3d(meshes.add(Sphere::new(0.25))),
        MeshMaterial3d(materials.add(Color::WHITE)),
    ));
    let eye = Transform::from_xyz(0.0, 0.3, 1.5);
    commands.spawn((PointLight::default(), Transform::from_xyz(2.0, 3.0, 4.0)));
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(Render, solid_pass(triangle));
}
