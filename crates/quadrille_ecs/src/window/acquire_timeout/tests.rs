use std::time::Duration;

use super::AcquireTimeout;

/// Total wait of all frames for a window that has an image in every `period`-th frame, or never if `period` is 0.
fn waited(frames: u32, period: u32) -> Duration {
    let mut waits = AcquireTimeout::default();
    let mut sum = Duration::ZERO;
    for frame in 1..=frames {
        let timeout = waits.next(false);
        if period > 0 && frame % period == 0 {
            waits.hit();
        } else {
            sum += timeout;
            waits.missed();
        }
    }
    sum
}

#[test]
fn a_window_that_gives_no_image_costs_the_others_little() {
    // 600 frames take 10 seconds at 60 Hz; the waits add less than 110 ms.
    assert!(waited(600, 0) < Duration::from_millis(110));
    // Afterwards a frame waits 1/16 ms on average: less than 1 % at 60 Hz.
    let later = waited(6000, 0) - waited(600, 0);
    assert!(later < Duration::from_millis(345), "{later:?}");
    // One image per second, as for an invisible window.
    assert!(waited(600, 60) < Duration::from_millis(120));
    assert!(waited(600, 4) < Duration::from_millis(120));
}

#[test]
fn a_window_that_comes_back_is_waited_for_again() {
    let mut waits = AcquireTimeout::default();
    let first = waits.next(true);
    for _ in 0..100 {
        waits.missed();
    }
    assert!(waits.next(true) < first);
    for _ in 0..20 {
        waits.hit();
    }
    assert_eq!(waits.next(true), first);
}

#[test]
fn now_and_then_there_is_a_wait() {
    // Some drivers never return an image to callers that only poll.
    let mut waits = AcquireTimeout::default();
    for _ in 0..100 {
        waits.missed();
    }
    let timeouts: Vec<Duration> = (0..64).map(|_| waits.next(false)).collect();
    let waits = timeouts.iter().filter(|timeout| !timeout.is_zero());
    assert_eq!(waits.count(), 4);
}
