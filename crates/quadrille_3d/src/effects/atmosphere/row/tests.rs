use bevy_asset::Handle;
use bevy_camera::Camera;
use bevy_light::Atmosphere;
use bevy_math::Vec3;
use bevy_transform::components::{GlobalTransform, Transform};

use super::{AtmosphereRow, MAX_LIGHTS, Sun};
use crate::effects::atmosphere::component::AtmosphereSettings;

fn row(planet: Transform, camera: Transform) -> AtmosphereRow {
    let atmosphere = Atmosphere::earth(Handle::default());
    let mut row = AtmosphereRow::new(&atmosphere, &AtmosphereSettings::default()).unwrap();
    let camera = (&Camera::default(), &GlobalTransform::from(camera));
    assert!(row.set_view(&planet.into(), camera));
    row
}

#[test]
fn camera_is_above_ground_of_planet() {
    let below = Transform::from_xyz(0.0, -6_360_000.0, 0.0);
    let at = |x, y| row(below, Transform::from_xyz(x, y, 0.0)).altitude;
    assert_eq!(at(0.0, 500.0), 500.0);
    assert_eq!(at(0.0, -500.0), 1.0);
    // The ground curves away.
    assert!((at(10_000.0, 500.0) - 507.86).abs() < 0.01);
}

#[test]
fn scale_of_planet_changes_units() {
    let kilometers = Transform::from_xyz(0.0, -6360.0, 0.0).with_scale(Vec3::splat(1e-3));
    let row = row(kilometers, Transform::from_xyz(0.0, 2.0, 0.0));
    assert!((row.scale - 1000.0).abs() < 0.1, "{}", row.scale);
    assert!((row.altitude - 2000.0).abs() < 1.0, "{}", row.altitude);
}

#[test]
fn axes_are_orthonormal_at_poles_as_well() {
    for axis in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_Z, Vec3::ONE] {
        let row = row(Transform::IDENTITY, Transform::from_translation(axis * 7e6));
        let [up, east, south] = [row.up, row.east, row.south].map(Vec3::from);
        assert!(up.distance(axis.normalize()) < 1e-6);
        assert!(
            up.dot(east).abs() < 1e-6 && up.dot(south).abs() < 1e-6,
            "{up} {east} {south}"
        );
        assert!(east.cross(up).distance(south) < 1e-6, "{axis}");
    }
}

#[test]
fn unusable_radii_are_refused() {
    for (inner, outer) in [(0.0, 1.0), (2.0, 2.0), (2.0, 1.0), (1.0, f32::NAN)] {
        let mut atmosphere = Atmosphere::earth(Handle::default());
        atmosphere.inner_radius = inner;
        atmosphere.outer_radius = outer;
        assert!(AtmosphereRow::new(&atmosphere, &AtmosphereSettings::default()).is_none());
    }
}

#[test]
fn parts_change_with_what_luts_depend_on() {
    let camera = Transform::from_xyz(0.0, 10.0, 0.0);
    let at = row(Transform::IDENTITY, camera);
    let mut lit = at;
    let sun = Sun {
        direction_to_light: Vec3::Y,
        color: Vec3::ONE,
        disk: [0.01, 1.0],
    };
    lit.set_suns(&[sun; MAX_LIGHTS + 1]);
    assert_eq!(lit.light_count as usize, MAX_LIGHTS);
    assert!(at.planet() == lit.planet() && at.sky() != lit.sky());
    let turned = row(Transform::IDENTITY, camera.looking_to(Vec3::X, Vec3::Y));
    assert!(at.sky() == turned.sky() && at.view() != turned.view());
}
