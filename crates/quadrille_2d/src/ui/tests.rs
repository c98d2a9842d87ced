use bevy_math::Vec4;
use bevy_ui::CalculatedClipRect;

use super::clip::Clipped;
use super::*;

fn pixel(matrix: Mat4, x: f32, y_down: f32) -> Vec2 {
    let clip = matrix * Vec4::new(x, -y_down, 0.0, 1.0);
    Vec2::new(clip.x, clip.y)
}

#[test]
fn pixel_coordinates_span_viewport() {
    let matrix = clip_from_pixels([10, 20, 200, 100]);
    assert_eq!(pixel(matrix, 0.0, 0.0), Vec2::new(-1.0, 1.0));
    assert_eq!(pixel(matrix, 200.0, 100.0), Vec2::new(1.0, -1.0));
    assert_eq!(pixel(matrix, 100.0, 25.0), Vec2::new(0.0, 0.5));
}

#[test]
fn y_up_keeps_clockwise_rotation() {
    let turned = Affine2::from_angle_translation(std::f32::consts::FRAC_PI_2, Vec2::new(3.0, 4.0));
    let up = y_up(turned);
    for point in [Vec2::X, Vec2::Y, Vec2::new(2.0, -5.0)] {
        let down = turned.transform_point2(point);
        let same = up.transform_point3(Vec3::new(point.x, -point.y, 0.0));
        assert!((same.truncate() - Vec2::new(down.x, -down.y)).length() < 1e-5);
    }
}

/// Clip rectangle with its transform to world space.
fn rect(rect: Rect, to_world: Affine2) -> CalculatedClipRect {
    CalculatedClipRect {
        rect,
        world_to_clip_local: to_world.inverse(),
    }
}

fn clip(rects: impl IntoIterator<Item = CalculatedClipRect>) -> Clip {
    let mut clip = Clip::default();
    let calculated = CalculatedClip::Rects(rects.into_iter().collect());
    assert!(clip.set(Some(&calculated)));
    clip
}

const SQUARE: Rect = Rect {
    min: Vec2::splat(-4.0),
    max: Vec2::splat(4.0),
};

#[test]
fn clipped_quad_keeps_matching_uv() {
    let world = Affine3A::from_translation(Vec3::new(10.0, -10.0, 0.0));
    let bounds = Rect::new(10.0, -100.0, 100.0, 12.0);
    let mut all = clip([rect(bounds, Affine2::IDENTITY)]);
    let clip_quad = Rect::new(0.0, -2.0, 4.0, 4.0);
    assert_eq!(all.clip_quad(&world, SQUARE), Clipped::Rect(clip_quad));
    let uv = |x, y| clip::uv_at(Vec2::new(x, y), SQUARE, UvRect::WHOLE);
    assert_eq!(
        (uv(0.0, 4.0), uv(4.0, -2.0)),
        (Vec2::new(0.5, 0.0), Vec2::new(1.0, 0.75))
    );
    let mut away = clip([rect(Rect::new(50.0, 0.0, 60.0, 10.0), Affine2::IDENTITY)]);
    assert_eq!(away.clip_quad(&world, SQUARE), Clipped::Nothing);
}

#[test]
fn clip_of_mirrored_image_mirrors_uv() {
    let uv = UvRect::WHOLE.flipped(true, false);
    let at = |x| clip::uv_at(Vec2::new(x, 0.0), SQUARE, uv).x;
    assert_eq!((at(-4.0), at(0.0)), (1.0, 0.5));
}

#[test]
fn clips_of_all_ancestors_intersect() {
    let square = |min, max| rect(Rect::new(min, min, max, max), Affine2::IDENTITY);
    let mut both = clip([square(0.0, 10.0), square(5.0, 20.0)]);
    let whole = Rect::new(-50.0, -50.0, 50.0, 50.0);
    let left = both.clip_quad(&Affine3A::IDENTITY, whole);
    assert_eq!(left, Clipped::Rect(Rect::new(5.0, -10.0, 10.0, -5.0)));
    assert!(!both.set(Some(&CalculatedClip::FullyClipped)));
}

#[test]
fn infinite_clip_axis_does_not_clip() {
    let band = |min: f32, max: f32, to_world| {
        clip([rect(
            Rect::new(min, f32::NEG_INFINITY, max, f32::INFINITY),
            to_world,
        )])
    };
    let mut straight = band(-9.0, -5.0, Affine2::from_translation(Vec2::new(7.0, 0.0)));
    let left = straight.clip_quad(&Affine3A::IDENTITY, SQUARE);
    assert_eq!(left, Clipped::Rect(Rect::new(-2.0, -4.0, 2.0, 4.0)));
    let half_turn = Affine2::from_angle_translation(std::f32::consts::PI, Vec2::new(7.0, 0.0));
    let mut turned = band(5.0, 9.0, half_turn);
    let left = turned.clip_quad(&Affine3A::IDENTITY, SQUARE);
    assert!((area(&left) - 32.0).abs() < 1e-3, "{left:?}");
}

/// The area of a polygon.
fn area(left: &Clipped<'_>) -> f32 {
    match left {
        Clipped::Nothing => 0.0,
        Clipped::Rect(rect) => rect.width() * rect.height(),
        Clipped::Polygon(corners) => {
            let next = corners.iter().cycle().skip(1);
            let crosses = corners.iter().zip(next).map(|(a, b)| a.perp_dot(*b));
            crosses.sum::<f32>().abs() / 2.0
        }
    }
}

#[test]
fn rotated_clip_yields_polygon() {
    let eighth = Affine2::from_angle(std::f32::consts::FRAC_PI_4);
    let bounds = Rect::from_center_size(Vec2::ZERO, Vec2::splat(8.0));
    // Clipping a square by a rotated one of equal size yields an octagon, in either order.
    let octagon = 64.0 * (2.0 * 2.0_f32.sqrt() - 2.0);
    let mut straight = clip([rect(bounds, Affine2::IDENTITY)]);
    let left = straight.clip_quad(&y_up(eighth), SQUARE);
    assert!(
        matches!(left, Clipped::Polygon(corners) if corners.len() == 8),
        "{left:?}"
    );
    assert!((area(&left) - octagon).abs() < 1e-3, "{left:?}");
    let mut turned = clip([rect(bounds, eighth)]);
    let left = turned.clip_quad(&Affine3A::IDENTITY, SQUARE);
    assert!((area(&left) - octagon).abs() < 1e-3, "{left:?}");
    // With equal rotations nothing is clipped.
    let left = turned.clip_quad(&y_up(eighth), SQUARE);
    assert!((area(&left) - 64.0).abs() < 1e-3, "{left:?}");
    // Half of the square is clipped, including two corners.
    let half = y_up(Affine2::from_translation(Vec2::new(4.0, 0.0)) * eighth);
    let away = straight.clip_quad(&half, SQUARE);
    let corner = 4.0 * 2.0_f32.sqrt() - 4.0;
    assert!(
        (area(&away) - (32.0 - corner * corner)).abs() < 1e-3,
        "{away:?}"
    );
}

#[test]
fn nan_clip_rejects_everything() {
    let nan = Affine2::from_translation(Vec2::new(f32::NAN, 0.0));
    let mut clip = clip([rect(Rect::new(-9.0, -9.0, 9.0, 9.0), nan)]);
    assert_eq!(
        clip.clip_quad(&Affine3A::IDENTITY, SQUARE),
        Clipped::Nothing
    );
}
