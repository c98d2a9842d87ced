use bevy_math::{Quat, Vec3};

use super::*;

#[test]
fn affine_rows_match_matrix() {
    let world = Affine3A::from_scale_rotation_translation(
        Vec3::new(2.0, 3.0, 1.0),
        Quat::from_rotation_z(0.5),
        Vec3::new(7.0, -4.0, 2.0),
    );
    let instance = Instance::mesh(
        world,
        Affine2::IDENTITY,
        LinearRgba::WHITE,
        AlphaMode::Blend,
    );
    let point = Vec3::new(0.3, -0.4, 0.0);
    let by_rows: Vec<f32> = instance
        .world_from_local
        .iter()
        .map(|row| bevy_math::Vec4::from(*row).dot(point.extend(1.0)))
        .collect();
    let expected = world.transform_point3(point);
    assert!((Vec3::from_slice(&by_rows) - expected).length() < 1e-5);
}

#[test]
fn quad_instance_covers_rect() {
    let rect = Rect::new(10.0, 20.0, 30.0, 60.0);
    let quad = Instance::quad(
        &Affine3A::IDENTITY,
        rect,
        UvRect::WHOLE,
        LinearRgba::WHITE,
        AlphaMode::Blend,
    );
    let [x, y, _] = quad.world_from_local;
    assert_eq!([x[0] * -0.5 + x[3], x[0] * 0.5 + x[3]], [10.0, 30.0]);
    assert_eq!([y[1] * -0.5 + y[3], y[1] * 0.5 + y[3]], [20.0, 60.0]);
}

#[test]
fn flipping_uv_rect_swaps_sides() {
    let uv = UvRect::of_pixels(Rect::new(0.0, 0.0, 16.0, 8.0), Vec2::new(32.0, 8.0));
    let flipped = uv.flipped(true, false);
    assert_eq!(
        (flipped.min, flipped.max),
        (Vec2::new(0.5, 0.0), Vec2::new(0.0, 1.0))
    );
}
