use super::*;

fn rows_at(x: f32) -> AffineRows {
    [
        [1.0, 0.0, 0.0, x],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ]
}

fn row(previous: &PreviousTransforms, index: usize) -> (u32, f32) {
    let row = previous.table.rows()[index];
    (row.stamp, row.world_from_local[0][3])
}

#[test]
fn instances_at_rest_write_no_row() {
    let mut previous = PreviousTransforms::default();
    previous.note(3, rows_at(1.0));
    assert!(previous.table.rows().is_empty(), "no camera reads any");
    previous.begin(Some(1));
    previous.note(3, rows_at(1.0));
    assert_eq!(row(&previous, 3), (1, 1.0));
    assert_eq!(row(&previous, 2), (0, 0.0));
    previous.begin(Some(2));
    assert_eq!(row(&previous, 3).0, 1, "the row of an earlier frame");
    previous.begin(None);
    assert!(previous.table.rows().is_empty());
}

#[test]
fn motion_begins_at_last_submitted_frame() {
    let mut previous = PreviousTransforms::default();
    previous.begin(Some(5));
    previous.note(0, rows_at(1.0));
    // The frame was not submitted, so that its number comes again.
    previous.begin(Some(5));
    previous.note(0, rows_at(2.0));
    assert_eq!(row(&previous, 0), (5, 1.0));
    previous.begin(Some(6));
    previous.note(0, rows_at(3.0));
    assert_eq!(row(&previous, 0), (6, 3.0));
    previous.forget(0);
    assert_eq!(row(&previous, 0).0, 0, "another instance has the index");
}
