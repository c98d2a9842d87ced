use std::process::Command;
use std::time::{Duration, Instant};

use super::{last_lines, log_path, run};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn output_and_errors_come_back() {
    let text = run(
        "test-output",
        &mut shell("echo out; echo err >&2"),
        Duration::from_secs(10),
    )
    .unwrap();
    assert_eq!(text, "out\nerr\n", "both streams are in the log, in order");
}

#[test]
fn a_failure_shows_the_end_of_the_log() {
    let error = run(
        "test-failure",
        &mut shell("echo last words; exit 3"),
        Duration::from_secs(10),
    )
    .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("exit status: 3"),
        "the status is named: {text}"
    );
    assert!(text.contains("last words"), "the log is shown: {text}");
}

#[test]
fn a_hanging_group_is_ended_with_its_children() {
    let started = Instant::now();
    let script = "sleep 60 & echo $!; wait";
    let error = run("test-hang", &mut shell(script), Duration::from_millis(300)).unwrap_err();
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "the deadline held"
    );
    let text = error.to_string();
    assert!(
        text.contains("did not end within"),
        "the cause is named: {text}"
    );
    let grandchild: u32 = text
        .lines()
        .find_map(|line| line.trim().parse().ok())
        .expect("the log holds the grandchild's id");
    assert!(!is_running(grandchild), "the grandchild is gone too");
}

/// A killed process may be a zombie until init reaps it, which counts as ended.
fn is_running(id: u32) -> bool {
    (0..100).all(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    })
}

#[test]
fn the_tail_of_a_log_is_its_last_lines() {
    assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc", "two of three");
    assert_eq!(last_lines("a\n", 2), "a", "fewer than asked");
    assert_eq!(last_lines("", 2), "", "none");
}

#[test]
fn log_names_are_plain_file_names() {
    let path = log_path("life: gct:1/x");
    assert_eq!(
        path.file_name().unwrap(),
        "life__gct_1_x.log",
        "no separators, no blanks"
    );
}
