use super::*;

fn view(x: f32) -> HistoryView {
    HistoryView {
        clip_from_world: Mat4::from_translation([x, 0.0, 0.0].into()),
        size: [4, 4],
        cut: 0,
    }
}

/// Updates one camera; returns the translation of the previous matrix if the history is valid.
fn update(histories: &mut CameraHistories, view: HistoryView, submitted: u64) -> Option<f32> {
    let camera = Entity::PLACEHOLDER;
    histories.update([(camera, view)].into_iter(), submitted);
    let history = histories.get(camera).unwrap();
    if !history.is_valid() {
        let previous = history.previous_clip_from_world();
        assert_eq!(previous, view.clip_from_world, "nothing moves");
        return None;
    }
    Some(history.previous_clip_from_world().w_axis.x)
}

#[test]
fn previous_matrix_is_that_of_last_submitted_frame() {
    let mut histories = CameraHistories::default();
    assert_eq!(
        update(&mut histories, view(1.0), 0),
        None,
        "the first frame"
    );
    assert_eq!(
        update(&mut histories, view(2.0), 0),
        None,
        "it was not submitted"
    );
    assert_eq!(update(&mut histories, view(3.0), 1), Some(2.0));
    assert_eq!(update(&mut histories, view(4.0), 2), Some(3.0));
    assert_eq!(
        update(&mut histories, view(5.0), 2),
        Some(3.0),
        "not submitted"
    );
    assert_eq!(update(&mut histories, view(6.0), 3), Some(5.0));
}

#[test]
fn cut_resize_and_absence_end_the_history() {
    let mut histories = CameraHistories::default();
    let cut = HistoryView {
        cut: 1,
        ..view(1.0)
    };
    let wide = HistoryView {
        size: [8, 4],
        ..cut
    };
    for (frame, (view, expected)) in (0..).zip([
        (view(1.0), None),
        (view(1.0), Some(1.0)),
        (cut, None),
        (cut, Some(1.0)),
        (wide, None),
        (wide, Some(1.0)),
    ]) {
        assert_eq!(
            update(&mut histories, view, frame),
            expected,
            "frame {frame}"
        );
    }
    histories.update(std::iter::empty(), 6);
    assert!(histories.get(Entity::PLACEHOLDER).is_none());
    assert_eq!(update(&mut histories, wide, 7), None, "the camera is new");
}
