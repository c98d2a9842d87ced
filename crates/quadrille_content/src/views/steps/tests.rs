use super::*;
use crate::views::compositing;

/// Steps of cameras with these kinds, targets and overlays; target 9 is an image asset.
fn steps(cameras: &[(&str, u32, bool)]) -> Vec<u32> {
    let mut steps = Steps::default();
    steps.begin();
    let layer = |kind: &str, target| Layer {
        is_3d: kind == "3d",
        target,
        kind: match target {
            9 => TargetKind::Asset,
            _ => TargetKind::Window,
        },
        color: None,
        output_clear_color: None,
        ..compositing::tests::layer()
    };
    let next = |&(kind, target, over): &(&str, u32, bool)| steps.next(&layer(kind, target), over);
    cameras.iter().map(next).collect()
}

#[test]
fn camera_2d_over_3d_needs_one_step() {
    assert_eq!(
        steps(&[("3d", 0, false), ("3d", 1, false), ("2d", 0, false)]),
        [0, 0, 0]
    );
    assert_eq!(
        steps(&[("2d", 0, false), ("3d", 1, false), ("2d", 1, false)]),
        [0, 0, 0]
    );
}

#[test]
fn camera_3d_over_2d_starts_new_step() {
    let cameras = [
        ("2d", 0, false),
        ("3d", 0, false),
        ("3d", 0, false),
        ("2d", 0, false),
        ("3d", 0, false),
    ];
    assert_eq!(steps(&cameras), [0, 1, 2, 2, 3]);
    assert_eq!(
        steps(&[("3d", 0, true), ("3d", 0, false)]),
        [0, 1],
        "over nodes"
    );
}

#[test]
fn camera_3d_sampling_a_target_starts_new_step() {
    assert_eq!(steps(&[("2d", 9, false), ("3d", 0, false)]), [0, 1]);
    assert_eq!(
        steps(&[("3d", 9, false), ("3d", 0, false), ("3d", 1, false)]),
        [0, 1, 1]
    );
    assert_eq!(steps(&[("3d", 9, false), ("2d", 0, false)]), [0, 0]);
    assert_eq!(
        steps(&[("3d", 9, false), ("3d", 9, false)]),
        [0, 1],
        "over an earlier picture"
    );
}

#[test]
fn overlapping_3d_viewports_take_turns() {
    let mut steps = Steps::default();
    steps.begin();
    let viewports = [[0, 0, 4, 8], [4, 0, 4, 8], [3, 3, 2, 2], [0, 0, 3, 3]];
    let steps = viewports.map(|viewport| {
        let camera = Layer {
            is_3d: true,
            viewport,
            ..compositing::tests::layer()
        };
        steps.next(&camera, false)
    });
    assert_eq!(steps, [0, 0, 1, 1], "halves share a step");
}
