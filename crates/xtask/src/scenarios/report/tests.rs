use serde_json::{Value, json};

use super::Report;

fn good() -> Value {
    json!({
        "frames": 60, "plans_reused": 58, "submissions": 2, "command_buffers": 2.5, "barrier_calls": 3,
        "barriers": 4, "semaphore_waits": 1, "ownership_transfers": 0, "validation_messages": 0,
        "cpu_us": {"collect": 1.0, "plan": 0.5, "record": 9, "submit": 4, "wait": 3},
        "device": "llvmpipe", "topology": "gct:1", "validation": "1.4.363"
    })
}

#[test]
fn without_the_layer_nothing_is_asked_of_it() {
    let mut report = good();
    report["validation"] = Value::Null;
    let text = report.to_string();
    assert!(Report::parse(&text).is_err(), "it should have been on");
    Report::parse_unvalidated(&text).unwrap();
    report["device"] = Value::Null;
    let error = Report::parse_unvalidated(&report.to_string()).unwrap_err();
    assert!(error.to_string().contains("device"), "{error}");
}

/// Returns the error for a valid report with one value replaced.
fn complaint(key: &str, value: Value) -> String {
    let mut report = good();
    report[key] = value;
    Report::parse(&report.to_string()).unwrap_err().to_string()
}

#[test]
fn a_good_report_passes() {
    let report = Report::parse(&good().to_string()).unwrap();
    assert_eq!(report.number("frames").unwrap(), 60, "a count");
    assert!(
        report.summary().contains("58 plans reused"),
        "{}",
        report.summary()
    );
}

#[test]
fn wrong_values_are_named() {
    assert!(
        complaint("barriers", Value::Null).contains("`barriers`"),
        "a missing count"
    );
    assert!(
        complaint("cpu_us", json!({"plan": 1})).contains("cpu_us.collect"),
        "a missing time"
    );
    assert!(
        complaint("validation", Value::Null).contains("`validation`"),
        "validation was off"
    );
    assert!(
        complaint("validation_messages", json!(2)).contains("2 validation messages"),
        "the layer spoke"
    );
    assert!(
        complaint("frames", json!(0)).contains("no frame"),
        "nothing happened"
    );
}
