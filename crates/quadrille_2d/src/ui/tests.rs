use bevy_math::Vec4;
use bevy_ui::CalculatedClipRect;

use super::*;

fn pixel(matrix: Mat4, x: f32, y_down: f32) -> Vec2 {
    let clip = matrix * Vec4::new(x, -y_down, 0.0, 1.0);
    Vec2::new(clip.x, clip.y)
}

#[test]
fn pixels_fill_the_viewport() {
    let matrix = clip_from_pixels([10, 20, 200, 100]);
    assert_eq!(pixel(matrix, 0.0, 0.0), Vec2::new(-1.0, 1.0));
    assert_eq!(pixel(matrix, 200.0, 100.0), Vec2::new(1.0, -1.0));
    assert_eq!(pixel(matrix, 100.0, 25.0), Vec2::new(0.0, 0.5));
}

#[test]
fn a_turn_to_the_right_stays_one() {
    let turned = Affine2::from_angle_translation(std::f32::consts::FRAC_PI_2, Vec2::new(3.0, 4.0));
    let up = y_up(turned);
    for point in [Vec2::X, Vec2::Y, Vec2::new(2.0, -5.0)] {
        let down = turned.transform_point2(point);
        let same = up.transform_point3(Vec3::new(point.x, -point.y, 0.0));
        assert!((same.truncate() - Vec2::new(down.x, -down.y)).length() < 1e-5);
    }
}

#[test]
fn a_quad_is_cut_with_its_image() {
    let world = Affine3A::from_translation(Vec3::new(10.0, -10.0, 0.0));
    let place = Rect::from_center_size(Vec2::ZERO, Vec2::splat(8.0));
    let bounds = Rect::new(10.0, -12.0, 100.0, 100.0);
    let (cut, uv) = clip::clip(&world, place, UvRect::WHOLE, bounds).unwrap();
    assert_eq!(cut, Rect::new(0.0, -2.0, 4.0, 4.0));
    assert_eq!(
        (uv.min, uv.max),
        (Vec2::new(0.5, 0.0), Vec2::new(1.0, 0.75))
    );
    let away = Rect::new(50.0, 0.0, 60.0, 10.0);
    assert_eq!(clip::clip(&world, place, UvRect::WHOLE, away), None);
}

#[test]
fn a_mirrored_image_is_cut_on_the_other_side() {
    let place = Rect::from_center_size(Vec2::ZERO, Vec2::splat(8.0));
    let uv = UvRect::WHOLE.flipped(true, false);
    let bounds = Rect::new(-4.0, -4.0, 0.0, 4.0);
    let (_, uv) = clip::clip(&Affine3A::IDENTITY, place, uv, bounds).unwrap();
    assert_eq!((uv.min.x, uv.max.x), (1.0, 0.5));
}

#[test]
fn clips_of_all_ancestors_count() {
    let rect = |min: f32, max: f32| CalculatedClipRect {
        rect: Rect::new(min, min, max, max),
        world_to_clip_local: Affine2::IDENTITY,
    };
    let clip = CalculatedClip::Rects([rect(0.0, 10.0), rect(5.0, 20.0)].into_iter().collect());
    assert_eq!(clip::bounds(&clip), Some(Rect::new(5.0, -10.0, 10.0, -5.0)));
    assert_eq!(clip::bounds(&CalculatedClip::FullyClipped), None);
}
