use std::time::Duration;

use super::LastWaits;

const TIMEOUT: Duration = Duration::from_secs(5);

#[test]
fn a_second_wait_on_a_stuck_device_is_skipped() {
    let last = LastWaits::default();
    assert_eq!(last.timeout(TIMEOUT), TIMEOUT);
    last.note(false);
    assert_eq!(last.timeout(TIMEOUT), Duration::ZERO);
    last.note(true);
    assert_eq!(last.timeout(TIMEOUT), TIMEOUT, "it got on after all");
}

#[test]
fn one_window_learns_from_another_that_fences_are_forgotten() {
    let last = LastWaits::default();
    let first = last.fence_timeout();
    last.note_fences(false);
    assert!(last.fence_timeout() < first / 10);
    last.note_fences(true);
    assert_eq!(last.fence_timeout(), first);
}

#[test]
fn held_objects_stay_held() {
    let last = LastWaits::default();
    assert!(!last.has_leaked());
    last.hold();
    last.note(true);
    assert!(last.has_leaked());
}
