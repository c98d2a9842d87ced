use bevy_camera::MainPassResolutionOverride;
use bevy_math::UVec2;

use super::view_size;

#[test]
fn resolution_override_is_limited_to_the_viewport() {
    let viewport = [3, 5, 40, 30];
    assert_eq!(view_size(viewport, None, None), [40, 30]);
    for (wanted, size) in [
        ([20, 10], [20, 10]),
        ([40, 30], [40, 30]),
        ([80, 15], [40, 15]),
        ([0, 99], [1, 30]),
    ] {
        let wanted = MainPassResolutionOverride(UVec2::from_array(wanted));
        assert_eq!(view_size(viewport, Some(&wanted), None), size);
    }
}

#[test]
fn upscaled_view_has_a_fraction_of_the_viewport() {
    let viewport = [3, 5, 40, 30];
    for (scale, size) in [
        (1.0, [40, 30]),
        (0.5, [20, 15]),
        (0.67, [27, 20]),
        (0.001, [1, 1]),
    ] {
        assert_eq!(view_size(viewport, None, Some(scale)), size);
    }
    // The resolution of the main passes comes first.
    let wanted = MainPassResolutionOverride(UVec2::new(10, 9));
    assert_eq!(view_size(viewport, Some(&wanted), Some(0.5)), [10, 9]);
}
