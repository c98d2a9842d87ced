use bevy_camera::MainPassResolutionOverride;
use bevy_math::UVec2;

use super::view_size;

#[test]
fn resolution_override_is_limited_to_the_viewport() {
    let viewport = [3, 5, 40, 30];
    assert_eq!(view_size(viewport, None), [40, 30]);
    for (wanted, size) in [
        ([20, 10], [20, 10]),
        ([40, 30], [40, 30]),
        ([80, 15], [40, 15]),
        ([0, 99], [1, 30]),
    ] {
        let wanted = MainPassResolutionOverride(UVec2::from_array(wanted));
        assert_eq!(view_size(viewport, Some(&wanted)), size);
    }
}
