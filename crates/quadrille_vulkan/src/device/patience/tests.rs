use std::time::Duration;

use super::{Patience, SLICE};

const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn a_stop_of_the_process_counts_for_one_slice() {
    let mut patience = Patience::new(LIMIT);
    // A night with the lid closed.
    patience.count(SLICE, Duration::from_secs(8 * 3600));
    assert_eq!(patience.spent(), SLICE);
    assert!(!patience.is_over());
}

#[test]
fn a_wait_that_returns_early_counts_for_what_it_took() {
    let mut patience = Patience::new(LIMIT);
    patience.count(SLICE, Duration::from_micros(68));
    assert_eq!(patience.spent(), Duration::from_micros(68));
}

#[test]
fn slices_use_the_limit_up_exactly() {
    let limit = 2 * SLICE + SLICE / 4;
    let mut patience = Patience::new(limit);
    let mut slices = Vec::new();
    while !patience.is_over() {
        patience.wait(|slice| {
            slices.push(slice);
            std::thread::sleep(slice);
        });
    }
    assert_eq!(slices, [SLICE, SLICE, SLICE / 4]);
    assert_eq!(patience.spent(), limit);
}

#[test]
fn who_returns_early_is_asked_again() {
    let mut asked = 0;
    let answer = Patience::new(LIMIT).until(|_| {
        asked += 1;
        (asked == 3).then_some("now")
    });
    assert_eq!(answer, Some("now"));
}

#[test]
fn without_patience_it_is_asked_once() {
    let mut asked = 0;
    let answer = Patience::new(Duration::ZERO).until(|slice| {
        asked += 1;
        assert_eq!(slice, Duration::ZERO);
        None::<()>
    });
    assert_eq!((answer, asked), (None, 1));
}
