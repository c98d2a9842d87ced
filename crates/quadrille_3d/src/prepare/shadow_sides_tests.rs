use bevy_math::proj;

use super::*;

/// Camera at the origin that looks along -z, with 1,000 pixels of a unit at depth 1.
fn camera() -> ViewResolution {
    let clip = proj::perspective_infinite_reverse(std::f32::consts::FRAC_PI_2, 1.0, 0.1);
    ViewResolution::new(&clip, [2000, 2000])
}

fn region(depth: f32) -> LitRegion {
    LitRegion {
        center: Vec3::new(0.0, 0.0, -depth),
        range: 10.0,
        half_angle_tangent: 1.0,
    }
}

#[test]
fn maps_have_two_texels_for_a_pixel_at_the_nearest_lit_point() {
    // 20 units are 2,000 pixels wide at depth 10, 1,000 at depth 20.
    for (depth, side) in [
        (20.0, 4096),
        (29.0, 4096),
        (30.0, 2048),
        (50.0, 1024),
        (1e6, 64),
    ] {
        assert_eq!(region(depth).side(8192, &[camera()]), side, "{depth}");
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
fn camera_that_sees_most_decides() {
    let far = Mat4::from_translation(Vec3::new(0.0, 0.0, -1e4));
    let clip = proj::perspective_infinite_reverse(std::f32::consts::FRAC_PI_2, 1.0, 0.1);
    let far = ViewResolution::new(&(clip * far), [2000, 2000]);
    assert_eq!(region(50.0).side(8192, &[far]), 64);
    assert_eq!(region(50.0).side(8192, &[far, camera()]), 1024);
    // Nothing of the region is before this one.
    assert_eq!(region(-50.0).side(8192, &[camera()]), 64);
}

#[test]
fn orthographic_cameras_see_the_same_at_each_depth() {
    let clip = proj::orthographic(-50.0, 50.0, -50.0, 50.0, 0.0, 1000.0);
    let camera = ViewResolution::new(&clip, [1000, 1000]);
    // 20 units are 200 pixels.
    for depth in [0.0, 30.0, 900.0] {
        assert_eq!(region(depth).side(2048, &[camera]), 512, "{depth}");
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
