//! Light of the sky on meshes.

use std::f64::consts::PI;

use bevy_ecs::prelude::*;
use bevy_light::AtmosphereEnvironmentMapLight;
use quadrille_3d::prelude::*;

use super::{ALTITUDE, SIDE, earth, rig, small, sun_at};
use crate::common::Rig;

/// Turns the camera to a direction.
fn look(rig: &mut Rig, camera: Entity, direction: Vec3) {
    let up = if direction.y.abs() > 0.5 {
        Vec3::Z
    } else {
        Vec3::Y
    };
    let transform = Transform::from_xyz(0.0, ALTITUDE, 0.0).looking_to(direction, up);
    rig.app.world_mut().entity_mut(camera).insert(transform);
}

/// Mean of the sky over the upper hemisphere, weighted by the cosine to the zenith, from pictures of five sides of a cube.
fn mean_sky(rig: &mut Rig, camera: Entity) -> [f64; 3] {
    let mut sum = [0.0; 3];
    let mut total = 0.0;
    for direction in [Vec3::Y, Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        look(rig, camera, direction);
        for (y, row) in (0..).zip(rig.exact_rows()) {
            for (x, color) in (0..).zip(row) {
                let [u, v] = [x, y].map(|it| (f64::from(it) + 0.5) / f64::from(SIDE) * 2.0 - 1.0);
                let length = (1.0 + u * u + v * v).sqrt();
                let cosine = if direction.y > 0.5 { 1.0 } else { -v } / length;
                if cosine > 0.0 {
                    // Solid angle of a pixel of a cube's side, but for a factor.
                    let weight = cosine / length.powi(3);
                    total += weight;
                    for (sum, value) in sum.iter_mut().zip(color) {
                        *sum += weight * f64::from(value);
                    }
                }
            }
        }
    }
    // All of the hemisphere is in the pictures: the cosine's mean is a half.
    let solid = 4.0 / f64::from(SIDE * SIDE);
    assert!((total * solid / PI - 1.0).abs() < 0.01, "{}", total * solid);
    sum.map(|sum| sum / total)
}

#[test]
#[ignore = "needs a device"]
fn floor_reflects_the_light_of_the_sky() {
    for elevation in [0.3, 1.2] {
        let mut rig = rig(earth(), sun_at(elevation), small());
        let world = rig.app.world_mut();
        let camera = world
            .query_filtered::<Entity, With<Camera3d>>()
            .single(world)
            .expect("one camera");
        let sun = world
            .query_filtered::<Entity, With<DirectionalLight>>()
            .single(world)
            .expect("one sun");
        world.entity_mut(sun).insert(bevy_light::SunDisk::OFF);
        let sky = mean_sky(&mut rig, camera);
        let world = rig.app.world_mut();
        let mesh = world
            .resource_mut::<Assets<Mesh>>()
            .add(Plane3d::new(Vec3::Y, Vec2::splat(2.0)));
        let material = world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(StandardMaterial {
                perceptual_roughness: 1.0,
                reflectance: 0.0,
                ..StandardMaterial::from(Color::WHITE)
            });
        // One meter below the camera, where there is hardly any air between them.
        world.spawn((
            Mesh3d(mesh),
            MeshMaterial3d(material),
            Transform::from_xyz(0.0, ALTITUDE - 1.0, 0.0),
        ));
        look(&mut rig, camera, Vec3::NEG_Y);
        let sunlit = rig.exactly(SIDE / 2, SIDE / 2);
        let light = AtmosphereEnvironmentMapLight::default();
        rig.app.world_mut().entity_mut(camera).insert(light);
        let both = rig.exactly(SIDE / 2, SIDE / 2);
        for channel in 0..3 {
            let found = f64::from(both[channel] - sunlit[channel]);
            let ratio = found / sky[channel];
            assert!((ratio - 1.0).abs() < 0.04, "{elevation}: {found}, {sky:?}");
        }
        // Half the intensity is half the light, without another cube.
        let half = AtmosphereEnvironmentMapLight {
            intensity: 0.5,
            ..AtmosphereEnvironmentMapLight::default()
        };
        rig.app.world_mut().entity_mut(camera).insert(half);
        let halved = rig.exactly(SIDE / 2, SIDE / 2);
        let ratio = (halved[2] - sunlit[2]) / (both[2] - sunlit[2]);
        assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
    }
}

#[test]
#[ignore = "needs a device"]
fn light_of_the_sky_follows_the_sun() {
    let mut rig = rig(earth(), sun_at(0.8), small());
    let world = rig.app.world_mut();
    let light = AtmosphereEnvironmentMapLight::default();
    let camera = world
        .query_filtered::<Entity, With<Camera3d>>()
        .single(world)
        .expect("one camera");
    world.entity_mut(camera).insert(light);
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Plane3d::new(Vec3::Y, Vec2::splat(2.0)));
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::WHITE);
    world.spawn((
        Mesh3d(mesh),
        MeshMaterial3d(material),
        Transform::from_xyz(0.0, ALTITUDE - 1.0, 0.0),
    ));
    look(&mut rig, camera, Vec3::NEG_Y);
    let day = rig.exactly(SIDE / 2, SIDE / 2);
    let world = rig.app.world_mut();
    let mut suns = world.query_filtered::<&mut Transform, With<DirectionalLight>>();
    // Below the horizon by 20 degrees.
    *suns.single_mut(world).expect("one sun") = sun_at(-0.35);
    let night = rig.exactly(SIDE / 2, SIDE / 2);
    assert!(
        day[2] > 1e-3 && night[2] < 0.01 * day[2],
        "{day:?} {night:?}"
    );
}
