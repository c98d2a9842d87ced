use std::f32::consts::FRAC_PI_2;

use bevy_math::{Quat, proj};

use super::*;

/// Camera at a position, with 1,000 pixels of a unit at distance 1, turned by an angle.
fn turned_camera(eye: Vec3, angle: f32) -> ViewResolution {
    let clip_from_view = proj::perspective_infinite_reverse(FRAC_PI_2, 1.0, 0.1);
    let world_from_view =
        Mat4::from_rotation_translation(Quat::from_rotation_y(angle), eye).inverse();
    ViewResolution::new(&(clip_from_view * world_from_view), eye, [2000, 2000])
}

fn camera() -> ViewResolution {
    turned_camera(Vec3::ZERO, 0.0)
}

fn region(distance: f32) -> LitRegion {
    LitRegion {
        center: Vec3::new(0.0, 0.0, -distance),
        range: 10.0,
        half_angle_tangent: 1.0,
    }
}

#[test]
fn maps_have_four_texels_for_a_pixel_at_the_nearest_lit_point() {
    // 20 units are 2,000 pixels wide at distance 10, 1,000 at distance 20.
    for (distance, side) in [
        (20.5, 8192),
        (29.0, 8192),
        (30.5, 4096),
        (50.5, 2048),
        (1e6, 64),
    ] {
        let found = region(distance).side(8192, &[camera()]);
        assert_eq!(found, side, "{distance}");
    }
}

#[test]
fn setting_of_the_app_is_the_largest_side() {
    assert_eq!(region(20.0).side(1024, &[camera()]), 1024);
    assert_eq!(region(1e6).side(48, &[camera()]), 48);
    assert_eq!(region(1e6).side(100, &[camera()]), 100);
    assert_eq!(region(1e6).side(1, &[camera()]), 1);
}

#[test]
fn lights_around_a_camera_have_the_whole_side() {
    assert_eq!(region(9.0).side(2048, &[camera()]), 2048);
    assert_eq!(region(-9.0).side(2048, &[camera()]), 2048);
}

#[test]
fn sides_do_not_depend_on_where_a_camera_looks() {
    for angle in [0.0, 0.7, 2.0, 3.0] {
        let camera = turned_camera(Vec3::ZERO, angle);
        assert_eq!(region(50.5).side(8192, &[camera]), 2048, "{angle}");
    }
}

#[test]
fn camera_that_sees_most_decides() {
    let far = turned_camera(Vec3::new(0.0, 0.0, 1e5), 0.0);
    assert_eq!(region(50.5).side(8192, &[far]), 64);
    assert_eq!(region(50.5).side(8192, &[far, camera()]), 2048);
}

#[test]
fn orthographic_cameras_see_the_same_at_each_distance() {
    let clip = proj::orthographic(-50.0, 50.0, -50.0, 50.0, 0.0, 1000.0);
    let camera = ViewResolution::new(&clip, Vec3::ZERO, [1000, 1000]);
    // 20 units are 200 pixels.
    for distance in [0.0, 30.0, 900.0] {
        assert_eq!(region(distance).side(2048, &[camera]), 1024, "{distance}");
    }
}

#[test]
fn numbers_that_are_not_finite_shrink_nothing() {
    for (range, half_angle_tangent) in [
        (f32::NAN, 1.0),
        (f32::INFINITY, 1.0),
        (10.0, f32::NAN),
        (10.0, f32::INFINITY),
    ] {
        let region = LitRegion {
            range,
            half_angle_tangent,
            ..region(50.0)
        };
        assert_eq!(region.side(2048, &[camera()]), 2048, "{region:?}");
    }
}
