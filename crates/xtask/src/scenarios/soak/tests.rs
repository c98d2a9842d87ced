use serde_json::{Value, json};

use super::*;

fn report(resident_kib: &[u64], more: (&str, u64)) -> Report {
    let mut value = json!({
        "frames": 60_000, "highest_buffer": [3, 9], "most_retired": 2, "semaphores_beyond": 0, "entities": [7, 7, 7, 7, 7, 7, 7],
        "resizes": 1, "windows": 1, "buffers": 1, "reloads": 1, "changed": 1, "refused": 1,
        "resident_kib": resident_kib,
    });
    value[more.0] = if more.0 == "highest_buffer" {
        json!([more.1])
    } else {
        more.1.into()
    };
    Report::unchecked(value)
}

fn judged(frames: u64, resident_kib: &[u64], more: (&str, u64)) -> Result<String> {
    let dose = Dose { frames, seed: 5 };
    judge(&report(resident_kib, more), dose, is_weighed(dose))
}

#[test]
fn growth_is_found() {
    let flat = [90, 100, 1000, 1000, 1005, 1005, 1009, 1009, 1010, 1010];
    let leak = [90, 100, 1000, 1000, 1005, 1005, 1009, 1009, 1011, 1011];
    let as_it_was = ("resizes", 1);
    assert!(judged(60_000, &flat, as_it_was).is_ok(), "1 % is allowed");
    let error = judged(60_000, &leak, as_it_was).unwrap_err().to_string();
    assert!(error.contains("1011 KiB"), "{error}");
    assert!(judged(300, &leak, as_it_was).is_ok(), "too short to judge");
    assert!(judged(300, &[1], as_it_was).is_err(), "no samples");
}

#[test]
fn bounds_hold_for_any_dose() {
    let flat = [1000; 10];
    for broken in [
        ("most_retired", 6),
        ("semaphores_beyond", 1),
        ("highest_buffer", 64),
        ("frames", 30_000),
    ] {
        assert!(judged(60_000, &flat, broken).is_err(), "{broken:?}");
    }
    let mut value: Value = json!({ "resident_kib": "many" });
    assert!(Report::unchecked(value.take()).numbers("x").is_err());
}
