use serde_json::json;

use super::table;
use crate::scenarios::calls;

#[test]
fn the_table_has_ratios_of_the_same_run() {
    let beside = |name: &str, ratio: f64| {
        json!({"contestant": name, "n": 10, "pre_submit_ns_per_pass": 5.0, "ratio": ratio,
               "verified": false})
    };
    let line = json!({
        "contestant": "ours", "n": 10, "pre_submit_ns_per_pass": 20.0, "verified": true,
        "beside": [
            beside("ash, no barriers", 4.0),
            beside("ash, barriers known beforehand", 3.0),
            beside("ash, hand-written tracker", 0.5),
        ],
    });
    let text = table(&[line]);
    assert!(
        text.contains("| 10 | ours | 20.0 | 4.0 | 3.0 | 0.5 | true |"),
        "{text}"
    );
    assert!(
        text.contains("| 10 | ash, no barriers | 5.0 | - | - | - | false |"),
        "{text}"
    );
}

#[test]
fn calls_are_counted_with_their_barriers() {
    let log = r#"{"call":"vkCmdPipelineBarrier2","nth":1,"memory":1,"buffers":2,"images":3}
{"note":"deadlock","text":"none"}
{"call":"vkQueueSubmit2","nth":1}
{"call":"vkQueueSubmit2","nth":2}"#;
    let calls = calls::parse(log).unwrap();
    assert_eq!(calls["vkCmdPipelineBarrier2"], 1);
    assert_eq!(calls["barriers"], 6);
    assert_eq!(calls["vkQueueSubmit2"], 2);
}

#[test]
fn report_must_match_counts() {
    let calls = |barriers: u64| {
        calls::Calls::from([
            ("vkCmdPipelineBarrier2".to_owned(), 160),
            ("barriers".to_owned(), barriers),
            ("vkQueueSubmit2".to_owned(), 10),
            ("vkBeginCommandBuffer".to_owned(), 10),
        ])
    };
    let line = json!({"barrier_calls": 16, "barriers": 42, "submissions": 1, "command_buffers": 1});
    let agreed = calls::agree(&line, &calls(420), 10).unwrap();
    assert!(
        agreed.starts_with("16 barrier calls, 42 barriers"),
        "{agreed}"
    );
    for wrong in [0, 410, 421] {
        let error = calls::agree(&line, &calls(wrong), 10).unwrap_err();
        assert!(error.to_string().contains("barriers"), "{error}");
    }
    let before = calls::Calls::from([("barriers".to_owned(), 400)]);
    let more = calls::difference(&calls(820), &before);
    assert_eq!((more["barriers"], more["vkQueueSubmit2"]), (420, 10));
}
