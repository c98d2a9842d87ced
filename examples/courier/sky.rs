//! Sky dome, moonlight, ambient light and fog. Dusk turns into night from level to level.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_camera::visibility::NoFrustumCulling;
use bevy_ecs::prelude::*;
use bevy_light::GlobalAmbientLight;
use quadrille_3d::prelude::*;

use crate::delivery::LEVELS;
use crate::effects::apply;
use crate::game::Game;
use crate::player::{FollowCamera, follow};

/// Fog at dusk and at night; the horizon has the same color.
const FOG: [Color; 2] = [
    Color::linear_rgb(0.085, 0.062, 0.105),
    Color::linear_rgb(0.016, 0.024, 0.055),
];

/// A dome with a gradient, stars and a moon.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Sky {
    #[uniform(0)]
    horizon: LinearRgba,
    /// From 0, dusk, to 1, night.
    #[uniform(0)]
    night: f32,
}

impl Material for Sky {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }

    fn enable_shadows() -> bool {
        false
    }
}

const SHADER: Handle<Shader> = bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de003");

/// The dome.
#[derive(Component)]
struct Dome;

/// Adds the sky.
pub(crate) struct SkyPlugin;

impl Plugin for SkyPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(MaterialPlugin::<Sky>::default())
            .insert_resource(ClearColor(FOG[1]))
            .add_systems(Startup, spawn_sky)
            .add_systems(Update, (darken.after(apply), move_dome).after(follow));
    }
}

/// Returns the fog of a camera at dusk.
pub(crate) fn fog() -> DistanceFog {
    DistanceFog {
        color: FOG[0],
        falloff: FogFalloff::ExponentialSquared { density: 0.0021 },
        ..DistanceFog::default()
    }
}

fn spawn_sky(
    mut commands: Commands,
    mut shaders: ResMut<Assets<Shader>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<Sky>>,
) -> Result {
    let source = include_str!("sky.wesl");
    shaders.insert(SHADER.id(), Shader::from_wesl(source, "sky.wesl"))?;
    // A box, seen from inside; the shader goes by direction.
    commands.spawn((
        Dome,
        Mesh3d(meshes.add(Cuboid::from_length(-4000.0))),
        MeshMaterial3d(materials.add(Sky {
            horizon: FOG[0].to_linear(),
            night: 0.0,
        })),
        NotShadowCaster,
        NoFrustumCulling,
    ));
    commands.spawn((
        DirectionalLight {
            color: Color::srgb(0.62, 0.72, 1.0),
            illuminance: 1600.0,
            ..DirectionalLight::default()
        },
        Transform::from_xyz(-3.0, 5.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    Ok(())
}

/// Lets the light follow the level.
fn darken(
    game: Res<Game>,
    mut skies: ResMut<Assets<Sky>>,
    mut ambient: ResMut<GlobalAmbientLight>,
    mut fogs: Query<&mut DistanceFog>,
    mut shown: Local<Option<f32>>,
) {
    let wanted = game.rules.level as f32 / (LEVELS - 1) as f32;
    // Slowly, and no change at all once it is there.
    let night = shown.map_or(wanted, |now| now + (wanted - now).clamp(-0.004, 0.004));
    let color = FOG[0].mix(&FOG[1], night);
    // Fog that the player turns on begins with the color of dusk.
    for mut fog in &mut fogs {
        if fog.color != color {
            fog.color = color;
        }
    }
    if *shown == Some(night) {
        return;
    }
    *shown = Some(night);
    for (_, sky) in skies.iter_mut() {
        sky.horizon = color.to_linear();
        sky.night = night;
    }
    ambient.color = Color::srgb(0.45, 0.58, 1.0);
    ambient.brightness = 1300.0 - 450.0 * night;
}

fn move_dome(
    camera: Single<&Transform, (With<FollowCamera>, Without<Dome>)>,
    mut dome: Single<&mut Transform, With<Dome>>,
) {
    dome.translation = camera.translation;
}
