//! The ground: one plane whose shader paints wet asphalt, puddles, lanes, crossings, pavements, and the pools of light below
//! street lamps, whose positions it knows by their formula.
//!
//! Deferred under cameras with `ScreenSpaceReflections`, which mirror what is on the screen in it. Under others the shader
//! lights it forward, with the mirror images of lamps and signs by their formula as well.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_time::Time;
use examples::random::Random;
use quadrille_3d::OpaqueRendererMethod;
use quadrille_3d::prelude::*;

use crate::city::PITCH;
use crate::game::Game;
use crate::player::play;
use crate::streaks::rains;

/// Streets on a standard material.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(crate) struct Streets {
    /// Half the side of the city in meters.
    #[uniform(100)]
    half: f32,
    /// Meters from street to street.
    #[uniform(100)]
    pitch: f32,
    /// Offset of the pattern of puddles in meters.
    #[uniform(100)]
    shift: f32,
    /// Strength of rain, from 0 to 1: rings on puddles.
    #[uniform(100)]
    rain: f32,
    /// Seconds that rings are drawn at. bevy's prepass shaders have no `globals`.
    #[uniform(100)]
    time: f32,
}

pub(crate) type Ground = ExtendedMaterial<StandardMaterial, Streets>;

impl MaterialExtension for Streets {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }

    fn deferred_fragment_shader() -> ShaderRef {
        SHADER.into()
    }
}

const SHADER: Handle<Shader> = bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de002");

/// Adds the ground.
pub(crate) struct StreetsPlugin;

impl Plugin for StreetsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(MaterialPlugin::<Ground>::default())
            .add_systems(Startup, spawn_ground)
            .add_systems(Update, soak.after(play));
    }
}

fn spawn_ground(
    mut commands: Commands,
    mut shaders: ResMut<Assets<Shader>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<Ground>>,
    game: Res<Game>,
) -> Result {
    let source = include_str!("streets.wesl");
    shaders.insert(SHADER.id(), Shader::from_wesl(source, "streets.wesl"))?;
    let half = game.city.side() / 2.0;
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(6.0 * half, 6.0 * half))),
        MeshMaterial3d(materials.add(Ground {
            base: StandardMaterial {
                perceptual_roughness: 0.5,
                opaque_render_method: OpaqueRendererMethod::Deferred,
                ..StandardMaterial::from(Color::srgb(0.2, 0.21, 0.24))
            },
            extension: Streets {
                half,
                pitch: PITCH,
                shift: puddle_shift(game.seed),
                rain: 0.0,
                time: 0.0,
            },
        })),
        NotShadowCaster,
    ));
    Ok(())
}

/// Returns the offset of the pattern of puddles, a whole number of meters that floats hold beside small distances.
fn puddle_shift(seed: u64) -> f32 {
    Random::new(seed ^ 0x0DD1E).within(0.0, 4096.0).floor()
}

/// Returns the strength of rain in the next frame: it begins and ends within seconds.
fn next_rain(now: f32, is_raining: bool) -> f32 {
    let wanted = f32::from(u8::from(is_raining));
    now + (wanted - now).clamp(-0.01, 0.01)
}

/// Lets the rain begin on the puddles, and end.
fn soak(
    game: Res<Game>,
    time: Res<Time>,
    mut grounds: ResMut<Assets<Ground>>,
    mut shown: Local<f32>,
) {
    let rain = next_rain(*shown, rains(&game));
    if rain == *shown && rain == 0.0 {
        return;
    }
    *shown = rain;
    for (_, ground) in grounds.iter_mut() {
        ground.extension.rain = rain;
        ground.extension.time = time.elapsed_secs_wrapped();
    }
}

#[cfg(test)]
#[path = "streets_tests.rs"]
mod tests;
