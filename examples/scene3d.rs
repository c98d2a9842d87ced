//! A scene of bevy's own 3D components: meshes, materials, lights with shadows, fog; drawn by
//! Quadrille. The camera goes round it.

use std::f32::consts::{FRAC_PI_2, TAU};
use std::time::Duration;

use bevy_app::{App, AppExit, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLightShadowMap, PointLightShadowMap};
use bevy_time::{Time, TimeUpdateStrategy};
use clap::Parser;
use examples::effects::EffectArgs;
use examples::{CommonArgs, args};
use quadrille_3d::prelude::*;

/// A sun with cascades, a lamp, a spot light, metal, glass and fog; all of bevy's components.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// The side of shadow maps in texels, a power of two
    #[arg(long, value_name = "N", default_value_t = 2048)]
    shadow_map: usize,
    #[command(flatten)]
    effects: EffectArgs,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  scene3d
  scene3d --headless --frames 60 --screenshot scene3d.png
  scene3d --effects bloom,fxaa
  scene3d --headless --frames 60 --plan plan.txt";

const WINDOW: [u32; 2] = [640, 360];

const HAZE: Color = Color::srgb(0.55, 0.65, 0.78);

/// Turns round the middle.
#[derive(Component)]
struct Orbit {
    radius: f32,
    height: f32,
    /// Turns a second.
    speed: f32,
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let plugins = args.common.plugins("3D", WINDOW);
    let is_headless = args.common.is_headless();
    let mut app = App::new();
    app.insert_resource(ClearColor(HAZE))
        .insert_resource(DirectionalLightShadowMap {
            size: args.shadow_map,
        })
        .insert_resource(PointLightShadowMap {
            size: args.shadow_map / 2,
        })
        .add_plugins((plugins, Quadrille3dPlugin::default()))
        .add_plugins((args.common, args.effects))
        .add_systems(Startup, (spawn_things, spawn_lights))
        .add_systems(Update, orbit);
    if is_headless {
        // Each frame is a step, so that pictures are the same each time.
        let step = Duration::from_secs_f64(1.0 / 60.0);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    }
    app.run()
}

fn spawn_things(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(120.0, 120.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            perceptual_roughness: 0.9,
            ..StandardMaterial::from(Color::srgb(0.35, 0.38, 0.33))
        })),
    ));
    let solids = [
        meshes.add(Sphere::new(0.7).mesh().uv(48, 24)),
        meshes.add(Cuboid::from_length(1.2)),
        meshes.add(Torus::new(0.3, 0.7)),
        meshes.add(Capsule3d::new(0.45, 0.7)),
        meshes.add(Cylinder::new(0.6, 1.3)),
    ];
    for index in 0..20u8 {
        let part = f32::from(index) / 20.0;
        let ring = if index % 2 == 0 { 4.0 } else { 6.5 };
        let turned = Quat::from_rotation_y(part * TAU);
        let hue = Color::hsl(part * 360.0, 0.6, 0.5);
        commands.spawn((
            Mesh3d(solids[usize::from(index) % solids.len()].clone()),
            MeshMaterial3d(materials.add(StandardMaterial {
                metallic: f32::from(index % 3 == 0),
                perceptual_roughness: 0.15 + 0.8 * part,
                ..StandardMaterial::from(hue)
            })),
            Transform::from_translation(turned * Vec3::new(ring, 0.85, 0.0)).with_rotation(turned),
        ));
    }
    commands.spawn((
        Mesh3d(meshes.add(Sphere::new(1.4).mesh().uv(64, 32))),
        MeshMaterial3d(materials.add(StandardMaterial {
            metallic: 1.0,
            perceptual_roughness: 0.3,
            ..StandardMaterial::from(Color::srgb(1.0, 0.78, 0.34))
        })),
        Transform::from_xyz(0.0, 1.4, 0.0),
    ));
    let glass = materials.add(StandardMaterial {
        cull_mode: None,
        double_sided: true,
        perceptual_roughness: 0.1,
        ..StandardMaterial::from(Color::srgba(0.5, 0.8, 1.0, 0.35))
    });
    let pane = meshes.add(Rectangle::new(2.2, 2.6));
    for index in 0..3u8 {
        let turned = Quat::from_rotation_y(f32::from(index) / 3.0 * TAU + 0.4);
        commands.spawn((
            Mesh3d(pane.clone()),
            MeshMaterial3d(glass.clone()),
            Transform::from_translation(turned * Vec3::new(0.0, 1.3, 2.6)).with_rotation(turned),
        ));
    }
}

fn spawn_lights(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        DirectionalLight {
            illuminance: 3500.0,
            color: Color::srgb(1.0, 0.93, 0.82),
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        CascadeShadowConfigBuilder {
            maximum_distance: 60.0,
            ..CascadeShadowConfigBuilder::default()
        }
        .build(),
        Transform::from_xyz(5.0, 6.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        SpotLight {
            color: Color::srgb(0.4, 0.6, 1.0),
            intensity: 2_000_000.0,
            inner_angle: 0.35,
            outer_angle: 0.45,
            shadow_maps_enabled: true,
            ..SpotLight::default()
        },
        Transform::from_xyz(-6.0, 7.0, 6.0).looking_at(Vec3::new(-2.0, 0.0, 2.0), Vec3::Y),
    ));
    // A lamp that can be seen.
    let orange = Color::srgb(1.0, 0.5, 0.2);
    commands.spawn((
        PointLight {
            color: orange,
            intensity: 400_000.0,
            shadow_maps_enabled: true,
            ..PointLight::default()
        },
        Mesh3d(meshes.add(Sphere::new(0.12))),
        MeshMaterial3d(materials.add(StandardMaterial {
            emissive: orange.to_linear() * 8.0,
            ..StandardMaterial::default()
        })),
        NotShadowCaster,
        Transform::default(),
        Orbit {
            radius: 5.2,
            height: 1.8,
            speed: 0.2,
        },
    ));
    commands.spawn((
        Camera3d::default(),
        DistanceFog {
            color: HAZE,
            falloff: FogFalloff::Linear {
                start: 15.0,
                end: 60.0,
            },
            ..DistanceFog::default()
        },
        Transform::default(),
        Orbit {
            radius: 11.0,
            height: 5.0,
            speed: -0.03,
        },
    ));
}

fn orbit(time: Res<Time>, mut turning: Query<(&Orbit, &mut Transform)>) {
    for (orbit, mut transform) in &mut turning {
        let angle = time.elapsed_secs() * orbit.speed * TAU + FRAC_PI_2;
        let (sine, cosine) = angle.sin_cos();
        let place = Vec3::new(cosine * orbit.radius, orbit.height, sine * orbit.radius);
        *transform = Transform::from_translation(place).looking_at(Vec3::Y, Vec3::Y);
    }
}
