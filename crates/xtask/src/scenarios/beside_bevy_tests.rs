use serde_json::json;

use super::{mean, rows};

#[test]
fn means_and_ratios_of_rounds() {
    let run = |median: f64, cpu: Option<f64>| {
        json!({
            "frame_ms": { "median": median, "p95": median, "p99": median, "worst": median },
            "process_cpu_ms": cpu,
            "memory_kib": { "resident": 2048, "peak": 4096 },
        })
    };
    let theirs = [run(10.0, Some(8.0)), run(12.0, Some(8.0))];
    let ours = [run(5.0, Some(2.0)), run(6.0, None)];
    assert_eq!(mean(&theirs, "/frame_ms/median"), Some(11.0));
    assert_eq!(mean(&ours, "/process_cpu_ms"), None, "one run has none");
    let text = rows(&theirs, &ours);
    for part in [
        "| frame, median (ms) | 11.00 | 5.50 | 0.50 |",
        "| CPU of all threads, a frame (ms) | unknown | unknown | |",
        "| resident memory, peak (MiB) | 4.00 | 4.00 | 1.00 |",
    ] {
        assert!(text.contains(part), "`{part}` in\n{text}");
    }
}
