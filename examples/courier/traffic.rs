//! Hundreds of cars on lanes, some of them in the air. A car's position is a function of time, so that traffic is the
//! same in each run and needs no state.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use examples::random::Random;
use quadrille_3d::prelude::*;

use crate::buildings::merged;
use crate::city::PITCH;
use crate::game::Game;
use crate::player::play;
use crate::quality::Quality;

/// Altitudes of lanes in meters, from the street to the air.
const ALTITUDES: [f32; 3] = [0.8, 27.0, 46.0];

/// A car, which drives along one street for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Car {
    /// Whether its street runs along x; else along z.
    is_along_x: bool,
    /// Coordinate of its lane across the street, and its altitude.
    lane: [f32; 2],
    /// Position along the street at the start.
    start: f32,
    /// In meters per second, with sign.
    speed: f32,
}

impl Car {
    /// Returns position and heading after so many seconds in a city of a side.
    pub(crate) fn pose(&self, time: f32, side: f32) -> (Vec3, f32) {
        let along = (self.start + self.speed * time).rem_euclid(side) - side / 2.0;
        let [across, altitude] = self.lane;
        let direction = self.velocity();
        let yaw = (-direction.x).atan2(-direction.z);
        let position = match self.is_along_x {
            true => Vec3::new(along, altitude, across),
            false => Vec3::new(across, altitude, along),
        };
        (position, yaw)
    }

    /// Returns its velocity in meters per second.
    pub(crate) fn velocity(&self) -> Vec3 {
        match self.is_along_x {
            true => Vec3::X * self.speed,
            false => Vec3::Z * self.speed,
        }
    }
}

/// Returns the cars of a city.
pub(crate) fn cars(seed: u64, blocks: u32) -> Vec<Car> {
    let mut random = Random::new(seed ^ 0xCA25);
    let side = blocks as f32 * PITCH;
    let car = |_| {
        // Streets near the middle have more cars.
        let spread = random.within(-1.0, 1.0) * random.within(0.15, 1.0);
        let line = (spread * blocks as f32 / 2.0).round() * PITCH;
        let is_along_x = random.bits().is_multiple_of(2);
        let level = [0, 0, 1, 2][(random.bits() % 4) as usize];
        let direction = if random.bits().is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        // Right-hand traffic; lanes in the air lie side by side with room for the courier between.
        let right = if is_along_x { direction } else { -direction };
        let offset = if level == 0 { 3.6 } else { 6.0 };
        Car {
            is_along_x,
            lane: [line + right * offset, ALTITUDES[level]],
            start: random.within(0.0, side),
            // One speed in a lane, or cars would drive through each other.
            speed: direction * (9.0 + 5.0 * level as f32 + (spread.abs() * 7.0).floor() * 0.5),
        }
    };
    (0..2 * blocks * blocks).map(car).collect()
}

/// Index of the car that an entity is a part of.
#[derive(Component)]
struct CarPart(usize);

/// Spot light of a car's head lamps: the n-th nearest.
#[derive(Component)]
struct Headlight(usize);

/// Draws the cars and lights the road ahead of the nearest.
pub(crate) struct TrafficPlugin;

impl Plugin for TrafficPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, (spawn_cars, spawn_headlights))
            .add_systems(Update, (drive, shine).after(play));
    }
}

fn spawn_cars(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    game: Res<Game>,
    quality: Res<Quality>,
) {
    let body = meshes.add(merged([
        (Vec3::new(1.9, 0.7, 4.4), Vec3::new(0.0, 0.0, 0.0)),
        (Vec3::new(1.6, 0.55, 2.2), Vec3::new(0.0, 0.6, 0.2)),
    ]));
    let lamps = |z: f32, width: f32| {
        merged([
            (Vec3::new(width, 0.22, 0.12), Vec3::new(-0.65, 0.05, z)),
            (Vec3::new(width, 0.22, 0.12), Vec3::new(0.65, 0.05, z)),
        ])
    };
    let (front, back) = (
        meshes.add(lamps(-2.22, 0.45)),
        meshes.add(lamps(2.22, 0.55)),
    );
    let glow = |color: LinearRgba| StandardMaterial {
        emissive: color,
        emissive_exposure_weight: 0.0,
        ..StandardMaterial::from(Color::BLACK)
    };
    let white = materials.add(glow(LinearRgba::rgb(9.0, 8.4, 7.2)));
    let red = materials.add(glow(LinearRgba::rgb(6.0, 0.25, 0.12)));
    let paints: Vec<_> = [0.0, 0.58, 0.62, 0.1, 0.78]
        .map(|hue: f32| {
            materials.add(StandardMaterial {
                metallic: 0.6,
                perceptual_roughness: 0.35,
                ..StandardMaterial::from(Color::hsl(hue * 360.0, 0.35, 0.22))
            })
        })
        .into();
    for index in 0..game.cars.len() {
        let parts = [
            (&body, &paints[index % paints.len()]),
            (&front, &white),
            (&back, &red),
        ];
        for (mesh, material) in parts {
            commands.spawn((
                CarPart(index),
                Mesh3d(mesh.clone()),
                MeshMaterial3d(material.clone()),
                Transform::default(),
                quality.visible_up_to(480.0),
            ));
        }
    }
}

fn spawn_headlights(mut commands: Commands, quality: Res<Quality>) {
    for index in 0..quality.headlights() {
        commands.spawn((
            Headlight(index),
            SpotLight {
                color: Color::srgb(1.0, 0.93, 0.8),
                intensity: 2_500_000.0,
                range: 45.0,
                inner_angle: 0.25,
                outer_angle: 0.5,
                shadow_maps_enabled: index == 0 && quality.has_shadows(),
                ..SpotLight::default()
            },
            Transform::default(),
        ));
    }
}

/// Returns the transform of a car.
fn transform(car: &Car, game: &Game) -> Transform {
    let (position, yaw) = car.pose(game.time, game.city.side());
    Transform::from_translation(position).with_rotation(Quat::from_rotation_y(yaw))
}

fn drive(game: Res<Game>, mut parts: Query<(&CarPart, &mut Transform)>) {
    for (&CarPart(index), mut place) in &mut parts {
        *place = transform(&game.cars[index], &game);
    }
}

/// Puts the spot lights at the cars nearest to the courier.
fn shine(game: Res<Game>, mut lights: Query<(&Headlight, &mut Transform)>) {
    let center = game.flight.position;
    let mut near: Vec<(f32, Transform)> = game
        .cars
        .iter()
        .map(|car| transform(car, &game))
        .map(|place| (place.translation.distance_squared(center), place))
        .filter(|(distance, _)| *distance < 200.0 * 200.0)
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (&Headlight(index), mut place) in &mut lights {
        // Without a car the light waits below the ground.
        *place = near
            .get(index)
            .map_or(Transform::from_xyz(0.0, -500.0, 0.0), |(_, car)| {
                let down = Quat::from_rotation_x(-0.12);
                let front = car.translation + *car.forward() * 2.4;
                Transform::from_translation(front).with_rotation(car.rotation * down)
            });
    }
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
