use std::time::Duration;

use super::{Compiling, MIN_SHARE, Times, is_compiling, parse};

fn times(ran: u64, delayed: u64) -> Times {
    Times {
        ran: Duration::from_millis(ran),
        delayed: Duration::from_millis(delayed),
    }
}

fn assert_near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9, "{one} is not {other}");
}

#[test]
fn time_without_a_processor_does_not_count() {
    assert_near(times(100, 0).share(false), 1.0);
    assert_near(times(20, 60).share(false), 0.25);
    assert_near(times(0, 100).share(false), MIN_SHARE);
}

#[test]
fn an_idle_process_waits_for_a_device() {
    assert_near(times(1, 3).share(false), 1.0);
    assert_near(times(0, 0).share(false), 1.0);
}

#[test]
fn compilation_counts_little() {
    assert_near(times(100, 0).share(true), MIN_SHARE);
    let compiling = Compiling::begin();
    assert!(is_compiling());
    drop(compiling);
}

#[test]
fn threads_that_end_take_nothing_away() {
    assert_eq!(times(100, 20).since(times(150, 5)), times(0, 15));
}

#[test]
fn schedstat_is_read() {
    let expected = (
        Duration::from_nanos(108_241),
        Duration::from_nanos(2_579_196),
    );
    assert_eq!(parse("108241 2579196 2\n"), Some(expected));
    assert_eq!(parse("108241"), None);
    #[cfg(target_os = "linux")]
    assert!(Times::now().is_some_and(|it| it.ran > Duration::ZERO));
}
