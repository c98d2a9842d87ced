//! Sunlight on surfaces behind an atmosphere.

use bevy_ecs::prelude::*;
use bevy_math::DVec3;
use quadrille_3d::AtmosphereSettings;
use quadrille_3d::prelude::*;

use super::reference::Planet;
use super::{assert_near, earth, rig, small};

/// Light of a surface near the camera at an altitude, with and without the air. The light comes from behind the camera.
fn surface_light(elevation: f32, altitude: f32) -> [DVec3; 2] {
    let to_light = Vec3::new(0.0, elevation.sin(), elevation.cos());
    let sun = Transform::default().looking_to(-to_light, Vec3::X);
    let mut rig = rig(earth(), sun, small());
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(10.0, 10.0));
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::WHITE);
    let at = Transform::from_xyz(0.0, altitude, -2.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), at));
    let mut cameras = world.query_filtered::<Entity, With<AtmosphereSettings>>();
    let camera = cameras.single(world).expect("a camera");
    let mut camera = world.entity_mut(camera);
    camera.insert(Transform::from_xyz(0.0, altitude, 0.0));
    let camera = camera.id();
    let mut light = || {
        let [red, green, blue, _] = rig.exact_rows()[8][8].map(f64::from);
        rig.app
            .world_mut()
            .entity_mut(camera)
            .remove::<AtmosphereSettings>();
        DVec3::new(red, green, blue)
    };
    [light(), light()]
}

#[test]
#[ignore = "needs a device"]
fn sunlight_on_surfaces_is_attenuated() {
    let planet = Planet::new(earth());
    for (elevation, altitude) in [(0.8, 500.0), (0.1, 500.0), (0.1, 20_000.0)] {
        let [with, without] = surface_light(elevation, altitude);
        let mu = f64::from(elevation.sin());
        let through = planet.transmittance(f64::from(altitude), mu, 2000);
        let subject = format!("{elevation} {altitude}");
        assert_near(with / without, through, 0.01, &subject);
    }
    // In space.
    let [with, without] = surface_light(0.1, 200_000.0);
    assert_near(with / without, DVec3::ONE, 1e-3, "space");
}

#[test]
#[ignore = "needs a device"]
fn disk_sets_behind_horizon() {
    let planet = Planet::new(earth());
    let dip = (planet.inner / (planet.inner + 500.0)).acos();
    let [with, without] = surface_light(-dip as f32, 500.0);
    let through = planet.transmittance(500.0, -(dip - 1e-6).sin(), 2000);
    assert_near(with / without, through * 0.5, 0.03, "half of the disk");
    let [with, without] = surface_light(-dip as f32 - 0.01, 500.0);
    assert_near(with / without, DVec3::ZERO, 0.0, "none of the disk");
}
