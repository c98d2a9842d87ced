//! The games on a device, played from scripts. `cargo test -p examples --test gpu_games --
//! --ignored`; without a device these tests fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A program, started through the script that `QUADRILLE_VALIDATED` names if it does.
fn program(path: &str, args: &[&str]) -> Output {
    let mut command = match std::env::var_os("QUADRILLE_VALIDATED") {
        Some(script) => {
            let mut command = Command::new(script);
            command.arg(path);
            command
        }
        None => Command::new(path),
    };
    command.args(args).output().expect("the program starts")
}

const BREAKOUT: &str = env!("CARGO_BIN_EXE_breakout");

/// A file in the test's own folder: programs run side by side on several topologies.
fn file(name: &str) -> PathBuf {
    let queues = std::env::var("QUADRILLE_LAYER_FAMILIES").unwrap_or_default();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("examples {queues}"));
    std::fs::create_dir_all(&folder).expect("folders can be made");
    folder.join(name)
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/scripts/breakout.txt")
}

/// Plays a game headless; its report and the bytes of its picture.
fn play(path: &str, name: &str, args: &[&str]) -> (Value, Vec<u8>) {
    let (report, picture) = (file(&format!("{name}.json")), file(&format!("{name}.png")));
    let mut all = vec!["--headless", "--report", report.to_str().expect("plain")];
    all.extend(["--screenshot", picture.to_str().expect("plain")]);
    all.extend(args);
    let output = program(path, &all);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}\n{err}", output.status);
    let text = std::fs::read_to_string(&report).expect("the report is written");
    let picture = std::fs::read(&picture).expect("the picture is written");
    (serde_json::from_str(&text).expect("JSON"), picture)
}

#[test]
#[ignore = "needs a device"]
fn breakout_from_a_script_is_the_same_each_time() {
    let script = script();
    let script = script.to_str().expect("plain");
    let args = ["--script", script, "--frames", "230", "--seed", "3"];
    let (report, picture) = play(BREAKOUT, "first", &args);
    let (again, picture_again) = play(BREAKOUT, "again", &args);
    assert_eq!(report["score"], again["score"]);
    assert!(picture == picture_again, "the pictures differ");
    assert!(report["score"].as_u64() >= Some(10), "{report}");
    // The script pauses for 30 frames: without that the ball would be elsewhere.
    let (_, elsewhere) = play(BREAKOUT, "shorter", &["--autoplay", "--frames", "40"]);
    assert!(picture != elsewhere, "another game has another picture");
}

#[test]
#[ignore = "needs a device"]
fn a_broken_script_is_one_line_and_exit_code_2() {
    let broken = file("broken.txt");
    std::fs::write(&broken, "1 press left\n2 jump\n").expect("written");
    let output = program(
        BREAKOUT,
        &["--headless", "--script", broken.to_str().expect("plain")],
    );
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(err.trim().lines().count(), 1, "{err}");
    assert!(err.contains("broken.txt:2: `jump` is none of"), "{err}");
}

#[test]
#[ignore = "needs a device"]
fn swarm_from_a_script_is_the_same_each_time() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/scripts/swarm.txt");
    let script = script.to_str().expect("plain");
    let args = ["--script", script, "--frames", "90", "--enemies", "6000"];
    let swarm = env!("CARGO_BIN_EXE_swarm");
    let (report, picture) = play(swarm, "swarm", &args);
    let (again, picture_again) = play(swarm, "swarm_again", &args);
    assert_eq!(report["score"], again["score"]);
    assert_eq!(report["health"], again["health"]);
    assert!(picture == picture_again, "the pictures differ");
    assert!(report["score"].as_u64() > Some(0), "{report}");
}

#[test]
#[ignore = "needs a device"]
fn swarm_begins_again_where_it_began() {
    let again = file("again.txt");
    // Frames are counted from 0: 40 are left after this one.
    std::fs::write(&again, "29 tap r\n").expect("written");
    let again = again.to_str().expect("plain");
    let swarm = env!("CARGO_BIN_EXE_swarm");
    let (report, picture) = play(swarm, "swarm_new", &["--frames", "40", "--enemies", "6000"]);
    let args = ["--frames", "70", "--enemies", "6000", "--script", again];
    let (report_again, picture_again) = play(swarm, "swarm_again", &args);
    assert!(report["score"].as_u64() > Some(0), "{report}");
    assert_eq!(report["score"], report_again["score"]);
    assert_eq!(report["health"], report_again["health"]);
    assert!(picture == picture_again, "the pictures differ");
}

#[test]
#[ignore = "needs a device"]
fn random_input_ends_no_game() {
    let courier = env!("CARGO_BIN_EXE_courier");
    let swarm = env!("CARGO_BIN_EXE_swarm");
    let games: [(&str, &str, &[&str]); 3] = [
        (BREAKOUT, "fuzz_breakout", &["--title"]),
        (swarm, "fuzz_swarm", &["--title", "--enemies", "500"]),
        (
            courier,
            "fuzz_courier",
            &["--blocks", "4", "--size", "96x54"],
        ),
    ];
    for (path, name, more) in games {
        for seed in ["1", "2"] {
            let args = [&["--frames", "120", "--fuzz", seed], more].concat();
            let (report, picture) = play(path, name, &args);
            assert_eq!(report["validation_messages"], 0, "{name}: {report}");
            let (_, again) = play(path, &format!("{name}_again"), &args);
            assert!(picture == again, "{name}: seed {seed} is the same again");
        }
    }
}
