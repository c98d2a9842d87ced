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
    let mut lag = Lag::default();
    assert_eq!(lag.value(point(0, 5)), 5, "nothing has repeated");
    lag.begin(&[4, 9]);
    assert!(lag.is_none());
    lag.repeat(&[2, 0]);
    lag.repeat(&[2, 0]);
    assert!(!lag.is_none());
    assert_eq!(lag.value(point(0, 6)), 10, "of the plan");
    assert_eq!(lag.value(point(0, 4)), 4, "from before it");
    assert_eq!(lag.value(point(1, 9)), 9, "of a queue that it does not use");
    assert_eq!(lag.value(point(7, 3)), 3, "of a queue that nobody knows");
    lag.end();
    assert_eq!(lag.value(point(0, 10)), 10, "written down");
}
