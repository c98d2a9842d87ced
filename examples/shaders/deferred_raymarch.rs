//! Shapes without triangles: rays that march to the surface and write its depth, so that meshes
//! stand before and behind it.

use bevy_app::{App, Startup};
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid, solid_pass};

#[derive(Resource)]
struct March(GraphicsPipeline);

const SHADER: &str = "
    import quadrille_3d::scene::View;

    @group(0) @binding(0) var<storage, read> views: array<View>;
    var<immediate> view: u32;
    struct Ray { @builtin(position) position: vec4f, @location(0) way: vec3f }
    struct Hit { @location(0) color: vec4f, @builtin(frag_depth) depth: f32 }

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> Ray {
        let at = vec2f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0);
        // The rows that make x and y of a perspective: which way has these two, one step ahead?
        let rows = transpose(views[view].clip_from_world);
        let ahead = views[view].forward;
        let way = ahead + rows[0].xyz * at.x / dot(rows[0].xyz, rows[0].xyz)
                        + rows[1].xyz * at.y / dot(rows[1].xyz, rows[1].xyz);
        return Ray(vec4f(at, 0.0, 1.0), way);
    }

    fn distance_at(place: vec3f) -> f32 {
        let ring = length(vec2f(length(place.xz) - 1.0, place.y)) - 0.3;
        let ball = length(place - vec3f(0.0, 0.4, 0.0)) - 0.6;
        let h = clamp(0.5 + (ball - ring) / 0.8, 0.0, 1.0);
        return mix(ball, ring, h) - 0.4 * h * (1.0 - h);
    }

    @fragment fn fragment_main(ray: Ray) -> Hit {
        let way = normalize(ray.way);
        var place = views[view].position;
        for (var i = 0; i < 64; i += 1) {
            place += way * distance_at(place);
        }
        if distance_at(place) > 0.01 || dot(place, place) > 16.0 { discard; }
        let e = vec2f(0.001, 0.0);
        let normal = normalize(vec3f(distance_at(place + e.xyy) - distance_at(place - e.xyy),
                                     distance_at(place + e.yxy) - distance_at(place - e.yxy),
                                     distance_at(place + e.yyx) - distance_at(place - e.yyx)));
        let light = 0.5 + 0.5 * dot(normal, vec3f(0.36, 0.8, 0.48));
        let clip = views[view].clip_from_world * vec4f(place, 1.0);
        return Hit(vec4f(vec3f(0.9, 0.5, 0.2) * light, 1.0), clip.z / clip.w);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(March(solid(&gpu, "march", SHADER)?));
    Ok(())
}

fn march(mut recorder: Recorder, frame: Frame, march: Res<March>) {
    frame.draw(&mut recorder, &march.0, &[], |rendering| {
        rendering.draw(0..3, 0..1);
    });
}

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Mesh3d(meshes.add(Cuboid::new(3.4, 0.15, 0.6))),
        MeshMaterial3d(materials.add(Color::srgb_u8(124, 144, 255))),
        Transform::from_rotation(Quat::from_rotation_y(0.6)),
    ));
    commands.spawn((PointLight::default(), Transform::from_xyz(2.0, 4.0, 3.0)));
    let eye = Transform::from_xyz(0.0, 1.8, 3.2);
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(Render, solid_pass(march));
}
