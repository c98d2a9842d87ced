use super::*;

#[test]
fn images_keep_aspect_ratio() {
    let size = |x, y| fit_size(Vec2::new(x, y), Vec2::new(60.0, 40.0));
    assert_eq!(size(30.0, 30.0), Vec2::splat(40.0));
    assert_eq!(size(30.0, 10.0), Vec2::new(60.0, 20.0));
    assert_eq!(size(0.0, 10.0), Vec2::new(60.0, 40.0));
}

#[test]
fn mirror_rect_swaps_sides() {
    let whole = Rect::new(10.0, 0.0, 30.0, 8.0);
    let left_top = Rect::new(10.0, 0.0, 14.0, 2.0);
    let at = |x, y| mirror_rect(left_top, whole, x, y);
    assert_eq!(at(false, false), left_top);
    assert_eq!(at(true, false), Rect::new(26.0, 0.0, 30.0, 2.0));
    assert_eq!(at(false, true), Rect::new(10.0, 6.0, 14.0, 8.0));
}

#[test]
fn pixel_aligned_edges_are_detected() {
    let at = |x| Affine3A::from_translation(bevy_math::Vec3::new(x, 3.0, 0.0));
    let rect = Rect::new(-2.0, -2.0, 2.0, 2.0);
    assert!(is_pixel_aligned(&at(5.0), rect));
    assert!(!is_pixel_aligned(&at(5.25), rect));
    let turned = Affine3A::from_rotation_z(0.1);
    assert!(!is_pixel_aligned(&turned, rect));
}
