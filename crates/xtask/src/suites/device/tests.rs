use std::process::Command;

use super::{Request, SUITES, script_text};

#[test]
fn script_names_all_suites_and_is_shell() {
    let script = script_text(&SUITES);
    assert!(
        script.contains("in 2d video 3d ecs vulkan oracle; do"),
        "{script}"
    );
    assert!(!script.contains('@'), "a placeholder is left");
    let checked = Command::new("bash").arg("-nc").arg(&script).status();
    assert!(
        checked.is_ok_and(|status| status.success()),
        "no shell script"
    );
}

#[test]
fn suites_are_packed_by_name() {
    let of = |suites: &[&str]| {
        let suites = suites.iter().map(|it| (*it).to_owned()).collect();
        let folder = "packs".into();
        Request { folder, suites }.suites()
    };
    assert_eq!(of(&[]).unwrap(), SUITES, "all unless named");
    let some = of(&["vulkan", "3d"]).unwrap();
    assert_eq!(some, [("quadrille_3d", "gpu"), ("quadrille_vulkan", "gpu")]);
    let error = of(&["3d", "audio"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "no suite `audio`: there are 2d, video, 3d, ecs, vulkan, oracle"
    );
}

/// Runs the script's function `judge` on a log and an exit status.
fn judged(log: &str, status: &str) -> String {
    let script = script_text(&SUITES);
    let start = script.find("judge() {").unwrap_or(0);
    let end = script.find("alone() {").unwrap_or(0);
    let code = format!("{}\njudge /dev/stdin {status}", &script[start..end]);
    let run = format!(
        "f=$(mktemp); cat >$f; {}; rm $f",
        code.replace("/dev/stdin", "$f")
    );
    let output = Command::new("bash")
        .args([
            "-c",
            &format!(
                "printf '%s\\n' \"$0\" | bash -c '{}'",
                run.replace('\'', "'\\''")
            ),
        ])
        .arg(log)
        .output()
        .expect("bash runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn script_tells_passed_tests_from_others() {
    assert_eq!(judged("test a ... ok", "0"), "passed");
    assert_eq!(
        judged("panicked: VK_EXT_headless_surface is not enabled", "101"),
        "no-surface"
    );
    assert_eq!(judged("panicked", "101"), "FAILED (status 101, 0 messages)");
    let message = "Validation Error: [ SYNC-HAZARD-WRITE-AFTER-WRITE ]";
    assert_eq!(judged(message, "0"), "FAILED (status 0, 1 messages)");
}
