use super::{spread, table};
use serde_json::json;

#[test]
fn percentiles_are_nearest_ranks() {
    let times: Vec<f64> = (1..=200).rev().map(f64::from).collect();
    let expected = json!({ "median": 100.0, "p95": 190.0, "p99": 198.0, "worst": 200.0 });
    assert_eq!(spread(times), expected);
    assert_eq!(spread(vec![7.0])["p95"], 7.0);
    assert_eq!(spread(Vec::new())["worst"], 0.0);
}

#[test]
fn table_has_all_numbers() {
    let numbers = json!({
        "device": "d", "topology": "gcts:1", "frames": 3, "frame_ms": spread(vec![2.0]),
        "process_cpu_ms": null, "cpu_phases": [{ "phase": "plan", "ms": spread(vec![0.25]) }],
        "device_queues": [{ "queue": 0, "ms": 1.5 }],
        "device_passes": [{ "queue": 0, "pass": "opaque_3d", "ms": 1.25 }],
        "memory_kib": { "resident": 2048, "peak": null, "device_used": 1024, "device_allocated": 4096 },
    });
    let text = table::text(&numbers);
    for part in [
        "d, queues gcts:1",
        "cpu plan",
        "0.250",
        "queue 0: opaque_3d",
        "1.250",
        "2.0 MiB",
    ] {
        assert!(text.contains(part), "`{part}` in\n{text}");
    }
}
