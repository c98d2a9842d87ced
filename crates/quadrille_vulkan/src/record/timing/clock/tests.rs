use std::time::{Duration, Instant};

use super::Reading;

#[test]
fn ticks_before_and_after_the_reading() {
    let at = Instant::now() + Duration::from_secs(1);
    let reading = Reading {
        ticks: 1000,
        at,
        period: 2.0,
    };
    let nanoseconds = Duration::from_nanos;
    assert_eq!(reading.instant(1500, u64::MAX), at + nanoseconds(1000));
    assert_eq!(reading.instant(1000, u64::MAX), at);
    assert_eq!(reading.instant(400, u64::MAX), at - nanoseconds(1200));
}

#[test]
fn a_clock_of_few_bits_wraps_around() {
    let at = Instant::now() + Duration::from_secs(1);
    let mask = 0xff;
    let reading = Reading {
        ticks: 250,
        at,
        period: 1.0,
    };
    assert_eq!(reading.instant(4, mask), at + Duration::from_nanos(10));
    let reading = Reading {
        ticks: 4,
        ..reading
    };
    assert_eq!(reading.instant(250, mask), at - Duration::from_nanos(10));
}
