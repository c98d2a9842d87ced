//! The ground: one plane whose shader paints asphalt, lanes, crossings, pavements, and the pools of light below street
//! lamps, whose positions it knows by their formula.

use bevy_app::{App, Plugin, Startup};
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::city::PITCH;
use crate::game::Game;

/// Streets on a standard material.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Streets {
    /// Half the side of the city in meters.
    #[uniform(100)]
    half: f32,
    /// Meters from street to street.
    #[uniform(100)]
    pitch: f32,
}

type Ground = ExtendedMaterial<StandardMaterial, Streets>;

impl MaterialExtension for Streets {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }
}

const SHADER: Handle<Shader> = bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de002");

/// Adds the ground.
pub(crate) struct StreetsPlugin;

impl Plugin for StreetsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(MaterialPlugin::<Ground>::default())
            .add_systems(Startup, spawn_ground);
    }
}

fn spawn_ground(
    mut commands: Commands,
    mut shaders: ResMut<Assets<Shader>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<Ground>>,
    game: Res<Game>,
) -> Result {
    let source = include_str!("streets.wgsl");
    shaders.insert(SHADER.id(), Shader::from_wgsl(source, "streets.wgsl"))?;
    let half = game.city.side() / 2.0;
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(6.0 * half, 6.0 * half))),
        MeshMaterial3d(materials.add(Ground {
            base: StandardMaterial {
                perceptual_roughness: 0.5,
                ..StandardMaterial::from(Color::srgb(0.2, 0.21, 0.24))
            },
            extension: Streets { half, pitch: PITCH },
        })),
        NotShadowCaster,
    ));
    Ok(())
}
