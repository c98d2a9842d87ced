use std::time::Duration;

use super::{SLICE, TimeLimit};

const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn a_stop_of_the_process_counts_for_one_slice() {
    let mut limit = TimeLimit::new(LIMIT);
    // The computer slept for eight hours.
    limit.count(SLICE, Duration::from_secs(8 * 3600), 1.0);
    assert_eq!(limit.spent(), SLICE);
    assert!(!limit.is_over());
}

#[test]
fn a_wait_that_returns_early_counts_its_own_time() {
    let mut limit = TimeLimit::new(LIMIT);
    limit.count(SLICE, Duration::from_micros(68), 1.0);
    assert_eq!(limit.spent(), Duration::from_micros(68));
}

#[test]
fn the_share_that_a_process_ran_counts() {
    let mut limit = TimeLimit::new(LIMIT);
    limit.count(SLICE, 3 * SLICE, 0.25);
    assert_eq!(limit.spent(), SLICE / 4);
}

#[test]
fn slices_use_the_limit_up() {
    let time = 2 * SLICE + SLICE / 4;
    let mut limit = TimeLimit::new(time);
    let mut slices = Vec::new();
    while !limit.is_over() {
        limit.wait(|slice| {
            slices.push(slice);
            std::thread::sleep(slice);
        });
    }
    // On a busy machine a slice may count for less.
    assert!(
        slices.len() >= 3 && slices.iter().all(|it| *it <= SLICE),
        "{slices:?}"
    );
    assert_eq!(slices[0], SLICE);
    assert_eq!(limit.spent(), time);
}

#[test]
fn an_early_return_is_repeated() {
    let mut tries = 0;
    let result = TimeLimit::new(LIMIT).until(|_| {
        tries += 1;
        (tries == 3).then_some("now")
    });
    assert_eq!(result, Some("now"));
}

#[test]
fn without_time_there_is_one_try() {
    let mut tries = 0;
    let result = TimeLimit::new(Duration::ZERO).until(|slice| {
        tries += 1;
        assert_eq!(slice, Duration::ZERO);
        None::<()>
    });
    assert_eq!((result, tries), (None, 1));
}
