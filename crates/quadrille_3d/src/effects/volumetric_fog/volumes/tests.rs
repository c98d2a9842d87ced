use bevy_math::{Mat4, Vec4, proj};

use super::pixel_ranges;

/// Corners of a box of sides 1 at this distance in front of a camera with a vertical field of view of 90 degrees.
fn corners(distance: f32) -> [Vec4; 8] {
    let clip_from_view = proj::perspective_infinite_reverse(std::f32::consts::FRAC_PI_2, 2.0, 0.1);
    let clip_from_local =
        clip_from_view * Mat4::from_translation(bevy_math::Vec3::NEG_Z * distance);
    [0, 1, 2, 3, 4, 5, 6, 7].map(|corner| {
        let side = |bit: u32| (corner >> bit & 1) as f32 - 0.5;
        clip_from_local * Vec4::new(side(0), side(1), side(2), 1.0)
    })
}

#[test]
fn pixels_of_box_are_its_projection() {
    // The front face, at distance 2, is a quarter of the view's height.
    let [across, down] = pixel_ranges(&corners(2.5), [200, 100]).unwrap();
    assert_eq!((across, down), (86..114, 36..64));
}

#[test]
fn box_around_camera_covers_all_pixels() {
    assert_eq!(
        pixel_ranges(&corners(0.0), [200, 100]),
        Some([0..200, 0..100])
    );
}

#[test]
fn box_behind_or_beside_camera_covers_no_pixel() {
    assert_eq!(pixel_ranges(&corners(-3.0), [200, 100]), None);
    let mut beside = corners(5.0);
    beside.iter_mut().for_each(|corner| corner.x += 20.0);
    assert_eq!(pixel_ranges(&beside, [200, 100]), None);
}
