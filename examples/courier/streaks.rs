//! The streaks of the rain, on Quadrille and on bevy alike: levels with rain, their mesh and their shader.

use bevy_camera::visibility::NoFrustumCulling;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::game::Game;

/// Levels with rain, from 0.
const WET: [usize; 3] = [1, 3, 4];

pub(crate) const STREAK: Handle<Shader> =
    bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de005");

/// The mesh of all streaks.
#[derive(Component)]
pub(crate) struct Streaks;

/// Returns whether it rains.
pub(crate) fn rains(game: &Game) -> bool {
    WET.contains(&game.rules.level)
}

/// Returns the hidden streaks of so many drops, without a material: one mesh of a quad for each drop, whose index is z. The
/// vertex shader moves the corners to the drop.
///
/// # Errors
/// The shader's handle is of another generation.
pub(crate) fn streaks(
    drops: u32,
    shaders: &mut Assets<Shader>,
    meshes: &mut Assets<Mesh>,
) -> Result<impl Bundle> {
    let source = include_str!("streak.wesl");
    shaders.insert(STREAK.id(), Shader::from_wesl(source, "streak.wesl"))?;
    let quad = Rectangle::new(1.0, 1.0).mesh().build();
    let mut mesh = quad.clone();
    for drop in 1..drops {
        // Quads have the same attributes, so nothing can fail.
        let _ = mesh.merge(&quad.clone().translated_by(Vec3::Z * drop as f32));
    }
    Ok((
        Streaks,
        Mesh3d(meshes.add(mesh)),
        NotShadowCaster,
        NoFrustumCulling,
        Visibility::Hidden,
    ))
}

/// Shows the streaks in levels with rain.
pub(crate) fn show(game: Res<Game>, mut streaks: Single<&mut Visibility, With<Streaks>>) {
    streaks.set_if_neq(match rains(&game) {
        true => Visibility::Inherited,
        false => Visibility::Hidden,
    });
}
