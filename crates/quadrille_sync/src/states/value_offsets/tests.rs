use super::*;
use crate::topology::QueueIndex;

fn point(queue: u8, value: u64) -> TimelinePoint {
    TimelinePoint {
        queue: QueueIndex(queue),
        value,
    }
}

#[test]
fn points_of_the_plan_that_repeats_move_on() {
    let mut offsets = ValueOffsets::default();
    assert_eq!(offsets.value(point(0, 5)), 5, "nothing has repeated");
    offsets.begin(&[4, 9]);
    assert!(offsets.is_none());
    offsets.repeat(&[2, 0]);
    offsets.repeat(&[2, 0]);
    assert!(!offsets.is_none());
    assert_eq!(offsets.value(point(0, 6)), 10, "of the plan");
    assert_eq!(offsets.value(point(0, 4)), 4, "from before it");
    assert_eq!(
        offsets.value(point(1, 9)),
        9,
        "of a queue that it does not use"
    );
    assert_eq!(
        offsets.value(point(7, 3)),
        3,
        "of a queue that nobody knows"
    );
    offsets.end();
    assert_eq!(offsets.value(point(0, 10)), 10, "written down");
}
