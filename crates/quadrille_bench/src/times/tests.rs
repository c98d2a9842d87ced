use std::time::Duration;

use super::{FrameTimes, Medians};

#[test]
fn the_median_is_that_of_its_field() {
    let mut medians = Medians::default();
    for (record, submit) in [(5, 1), (1, 9), (3, 2)] {
        medians.add(FrameTimes {
            record: Duration::from_nanos(record),
            submit: Duration::from_nanos(submit),
            ..FrameTimes::default()
        });
    }
    assert_eq!(medians.median(|times| times.record), 3);
    assert_eq!(medians.median(|times| times.submit), 2);
    let of = |wanted: &str| medians.fields().find(|(name, _)| *name == wanted);
    assert_eq!(of("record_wall_ns"), Some(("record_wall_ns", 3)));
    assert_eq!(of("submit_wall_ns"), Some(("submit_wall_ns", 2)));
}

#[test]
fn no_frames_no_time() {
    assert!(Medians::default().fields().all(|(_, value)| value == 0));
}
