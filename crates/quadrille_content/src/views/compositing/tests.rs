use super::*;

const RED: LinearRgba = LinearRgba::RED;

/// A 2D camera that fills a window's image with red.
pub(in crate::views) fn layer() -> Layer {
    Layer {
        camera: Entity::PLACEHOLDER,
        is_3d: false,
        target: 0,
        kind: TargetKind::Window,
        main: MainTexture {
            samples: 4,
            is_hdr: false,
            usages: 0,
        },
        clip_from_world: Mat4::IDENTITY,
        viewport: [0, 0, 8, 8],
        has_viewport: false,
        is_part: false,
        color: Some(RED),
        output_clear_color: Some(LinearRgba::BLUE),
        is_skipped: false,
        writeback: MsaaWriteback::Auto,
    }
}

#[test]
fn first_camera_clears_undefined_contents() {
    let none = Layer {
        color: None,
        ..layer()
    };
    assert_eq!(first_camera_clear(&layer(), true), (Some(RED), None));
    let clears = |kind, is_initialized| {
        first_camera_clear(
            &Layer {
                kind,
                ..none.clone()
            },
            is_initialized,
        )
        .0
    };
    assert_eq!(clears(TargetKind::Window, true), Some(LinearRgba::NONE));
    assert_eq!(clears(TargetKind::Asset, false), Some(LinearRgba::NONE));
    assert_eq!(clears(TargetKind::Asset, true), None);
    assert_eq!(clears(TargetKind::Manual, false), None);
}

#[test]
fn output_color_surrounds_first_viewport() {
    let part = Layer {
        is_part: true,
        has_viewport: true,
        ..layer()
    };
    assert_eq!(
        first_camera_clear(&part, true),
        (Some(LinearRgba::BLUE), Some(RED))
    );
    let without = Layer {
        output_clear_color: None,
        ..part
    };
    assert_eq!(
        first_camera_clear(&without, true),
        (Some(LinearRgba::NONE), Some(RED))
    );
    let asset = Layer {
        kind: TargetKind::Asset,
        ..without
    };
    assert_eq!(
        first_camera_clear(&asset, true),
        (None, Some(RED)),
        "contents stay"
    );
}

#[test]
fn later_cameras_clear_like_bevy() {
    let earlier = [layer()];
    let filled = |layer: Layer| later_camera_fill(&layer, &earlier).is_some();
    let main = |samples, is_hdr| MainTexture {
        samples,
        is_hdr,
        usages: 0,
    };
    assert!(!filled(layer()), "samples are written back");
    assert!(filled(Layer {
        has_viewport: true,
        ..layer()
    }));
    assert!(filled(Layer {
        main: main(1, false),
        ..layer()
    }));
    assert!(filled(Layer {
        main: main(4, true),
        ..layer()
    }));
    let other_target = Layer {
        target: 1,
        ..layer()
    };
    assert!(later_camera_fill(&layer(), &[other_target]).is_some());
    for (writeback, is_filled) in [(MsaaWriteback::Off, true), (MsaaWriteback::Always, false)] {
        let layer = Layer {
            writeback,
            has_viewport: writeback == MsaaWriteback::Always,
            ..layer()
        };
        assert_eq!(filled(layer), is_filled, "{writeback:?}");
    }
    assert!(!filled(Layer {
        color: None,
        main: main(1, false),
        ..layer()
    }));
}

#[test]
fn skipped_camera_is_written_by_sharing_camera() {
    let skipped = Layer {
        is_skipped: true,
        ..layer()
    };
    assert!(!is_written(std::slice::from_ref(&skipped), 0));
    assert!(is_written(&[skipped.clone(), layer()], 0));
    let clears = Layer {
        writeback: MsaaWriteback::Off,
        ..layer()
    };
    assert!(!is_written(&[skipped.clone(), clears], 0));
    assert!(!is_written(&[skipped.clone(), skipped], 0));
}
