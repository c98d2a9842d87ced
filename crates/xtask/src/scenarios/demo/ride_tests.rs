use serde_json::json;

use super::*;

#[test]
fn arguments_have_the_frames_of_ten_seconds() {
    let after = |name: &str| {
        let at = ARGUMENTS.iter().position(|it| *it == name);
        ARGUMENTS[at.expect("given") + 1]
            .parse::<usize>()
            .expect("a number")
    };
    assert_eq!(after("--frames"), FRAMES);
    assert_eq!(FRAMES, 10 * usize::from(RATE));
    assert_eq!(after("--steps") * usize::from(RATE), 60);
}

#[test]
fn summary_names_queues_and_times() {
    let report = json!({
        "device": "a device",
        "topology": "graphics, compute",
        "submissions": 3,
        "semaphore_waits": 2,
        "frame_us": 12_345.0,
        "cpu_us": { "run": 1500.0, "wait": 250.0 },
        "moved": { "rain": {} },
    });
    let text = summary(&report, Duration::from_secs(9), Duration::from_millis(1500));
    for part in [
        "a device",
        "graphics, compute",
        "3 submissions and 2 waits",
        "measurement: 1",
        "12.3 ms",
        "run 1.5",
        "9.0 s drawn, 1.5 s encoded",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // A report without an entry is no reason to fail.
    assert!(summary(&json!({}), Duration::ZERO, Duration::ZERO).contains('?'));
}
