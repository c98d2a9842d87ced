use ash::vk;
use serde_json::{Value, json};

use super::{call_line, quoted};

#[test]
fn a_call_is_one_line_of_json() {
    let details = [("queue", 1), ("waits", 2)];
    let line = call_line("vkQueueSubmit2", 3, &details, Some(vk::Result::SUCCESS));
    let parsed: Value = serde_json::from_str(&line).unwrap();
    let expected =
        json!({"call": "vkQueueSubmit2", "nth": 3, "queue": 1, "waits": 2, "result": "SUCCESS"});
    assert_eq!(parsed, expected, "keys in plain words");
    assert!(line.ends_with("}\n"), "a line of its own");
}

#[test]
fn strings_survive() {
    for text in ["plain", "a \"quoted\" \\ word", "tab\tand\nline", "größe"] {
        let parsed: Value = serde_json::from_str(&quoted(text)).unwrap();
        assert_eq!(parsed, Value::from(text), "{text:?}");
    }
}
