use std::convert::Infallible;

use super::settled;

/// A device that completes two submissions between any two readings, until all are complete. Queues 0 and 1 alternate:
/// each submission waits for the previous one.
#[test]
fn values_fit_together_however_often_they_change() {
    for submissions in [0, 1, 7, 40, 101] {
        let mut done = 0_u64;
        let values = settled(2, |queue| {
            let value = [done.div_ceil(2), done / 2][queue];
            done = (done + 2).min(submissions);
            Ok::<u64, Infallible>(value)
        });
        let Ok([first, second]) = values.as_deref() else {
            panic!("two values, not {values:?}");
        };
        assert!(
            first == second || *first == second + 1,
            "{first} of queue 0 and {second} of queue 1 do not fit together"
        );
    }
}
