//! Street lamps: an emissive mesh for each, and a few point lights that move to the lamps nearest to the courier.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::buildings::merged;
use crate::city::PITCH;
use crate::game::Game;
use crate::player::play;
use crate::quality::Quality;

/// Height of a lamp in meters.
const HEIGHT: f32 = 7.2;
/// Distance of a lamp from the middle of its street, in meters; `streets.wesl` has it as well.
const OFF: f32 = 8.6;

/// Returns the four lamps of a block, with the direction from each to its street's middle.
fn lamps_of([column, row]: [i32; 2], half: f32) -> [(Vec3, Vec3); 4] {
    let corner = Vec3::new(column as f32, 0.0, row as f32) * PITCH - Vec3::new(half, 0.0, half);
    let quarter = PITCH / 4.0;
    [
        (Vec3::new(OFF, HEIGHT, quarter), Vec3::NEG_X),
        (Vec3::new(-OFF, HEIGHT, 3.0 * quarter), Vec3::X),
        (Vec3::new(quarter, HEIGHT, OFF), Vec3::NEG_Z),
        (Vec3::new(3.0 * quarter, HEIGHT, -OFF), Vec3::Z),
    ]
    .map(|(lamp, inward)| (corner + lamp, inward))
}

/// Returns the lamps nearest to a point, nearest first.
fn lamps_near(point: Vec3, half: f32, count: usize) -> Vec<Vec3> {
    let middle = ((point + half) / PITCH).floor();
    let mut near: Vec<Vec3> = (-2..=2)
        .flat_map(|row| (-2..=2).map(move |column| [column, row]))
        .map(|[column, row]| [middle.x as i32 + column, middle.z as i32 + row])
        .filter(|block| {
            block
                .iter()
                .all(|at| (0..(2.0 * half / PITCH) as i32).contains(at))
        })
        .flat_map(|block| lamps_of(block, half).map(|(lamp, _)| lamp))
        .collect();
    near.sort_by(|a, b| {
        let distance = |lamp: &Vec3| lamp.distance_squared(point);
        distance(a).total_cmp(&distance(b))
    });
    near.truncate(count);
    near
}

/// Point light of the n-th nearest lamp.
#[derive(Component)]
struct NearLamp(usize);

/// Adds the lamps.
pub(crate) struct LampsPlugin;

impl Plugin for LampsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, (spawn_posts, spawn_lights))
            .add_systems(Update, move_lights.after(play));
    }
}

fn spawn_posts(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    game: Res<Game>,
    quality: Res<Quality>,
) {
    // The arm points along -z.
    let post = meshes.add(merged([
        (
            Vec3::new(0.18, HEIGHT, 0.18),
            Vec3::new(0.0, -HEIGHT / 2.0, 1.6),
        ),
        (Vec3::new(0.12, 0.12, 1.8), Vec3::new(0.0, 0.1, 0.8)),
    ]));
    let head = meshes.add(Cuboid::new(0.5, 0.16, 1.0));
    let dark = materials.add(StandardMaterial::from(Color::srgb(0.08, 0.09, 0.1)));
    let light = materials.add(StandardMaterial {
        emissive: LinearRgba::rgb(11.0, 6.6, 2.6),
        emissive_exposure_weight: 0.0,
        ..StandardMaterial::from(Color::BLACK)
    });
    let (blocks, half) = (game.city.blocks as i32, game.city.side() / 2.0);
    for block in (0..blocks * blocks).map(|index| [index % blocks, index / blocks]) {
        for (lamp, inward) in lamps_of(block, half) {
            let place = Transform::from_translation(lamp).looking_to(inward, Vec3::Y);
            commands.spawn((
                Mesh3d(post.clone()),
                MeshMaterial3d(dark.clone()),
                place,
                quality.visible_up_to(260.0),
            ));
            commands.spawn((
                Mesh3d(head.clone()),
                MeshMaterial3d(light.clone()),
                place,
                quality.visible_up_to(900.0),
                NotShadowCaster,
            ));
        }
    }
}

fn spawn_lights(mut commands: Commands, quality: Res<Quality>) {
    for index in 0..quality.lamps() {
        commands.spawn((
            NearLamp(index),
            PointLight {
                color: Color::srgb(1.0, 0.72, 0.42),
                intensity: 700_000.0,
                range: 26.0,
                ..PointLight::default()
            },
            Transform::default(),
        ));
    }
}

fn move_lights(game: Res<Game>, mut lights: Query<(&NearLamp, &mut Transform)>) {
    let half = game.city.side() / 2.0;
    // The lamps ahead matter more than those behind.
    let center = game.flight.position + game.flight.forward() * 14.0;
    let near = lamps_near(center, half, lights.iter().len());
    for (&NearLamp(index), mut place) in &mut lights {
        let lamp = near.get(index).copied();
        place.translation = lamp.unwrap_or(Vec3::Y * -500.0) - Vec3::Y * 0.4;
    }
}

#[cfg(test)]
#[path = "lamps_tests.rs"]
mod tests;
