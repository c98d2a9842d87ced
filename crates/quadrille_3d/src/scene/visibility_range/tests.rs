use super::*;

fn is_seen(range: &VisibilityRange, distance: f32) -> bool {
    let instance = InstanceRow {
        world_from_local: [[0.0, 0.0, 0.0, 5.0], [0.0; 4], [0.0; 4]],
        material: 0,
        flags: 0,
        range: pack_visibility_range(range),
    };
    !is_outside_visibility_range(&instance, [5.0, 0.0, distance, 1.0])
}

#[test]
fn visibility_range_includes_margins() {
    let range = VisibilityRange {
        start_margin: 2.0..4.0,
        end_margin: 10.0..16.0,
        use_aabb: false,
    };
    let seen = [1.9, 2.0, 3.0, 15.9, 16.0].map(|distance| is_seen(&range, distance));
    assert_eq!(seen, [false, true, true, true, false]);
    let near = VisibilityRange::abrupt(0.0, 1.5);
    assert_eq!(
        [0.0, 1.4, 1.5].map(|at| is_seen(&near, at)),
        [true, true, false]
    );
    let endless = VisibilityRange::abrupt(3.0, f32::INFINITY);
    assert_eq!([2.0, 1e9].map(|at| is_seen(&endless, at)), [false, true]);
    let never = VisibilityRange::default();
    assert_eq!([0.0, 1.0].map(|at| is_seen(&never, at)), [false, false]);
}
