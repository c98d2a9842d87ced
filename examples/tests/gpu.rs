//! The example programs on a device. `cargo test -p examples --test gpu -- --ignored`; without a
//! device these tests fail.
//!
//! Programs run as a user runs them. Where `QUADRILLE_VALIDATED` names a script that starts
//! programs under the validation layer, they are started through it.

use std::path::PathBuf;
use std::process::{Command, Output};

use examples::{Board, Pattern, Rule, Size, rle};
use serde_json::Value;

fn program(path: &str) -> Command {
    match std::env::var_os("QUADRILLE_VALIDATED") {
        Some(script) => {
            let mut command = Command::new(script);
            command.arg(path);
            command
        }
        None => Command::new(path),
    }
}

fn life(args: &[&str]) -> Output {
    program(env!("CARGO_BIN_EXE_life"))
        .args(args)
        .output()
        .expect("life starts")
}

/// A file in the test's own folder: programs run side by side on several topologies.
fn file(name: &str) -> PathBuf {
    let queues = std::env::var("QUADRILLE_LAYER_FAMILIES").unwrap_or_default();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("examples {queues}"));
    std::fs::create_dir_all(&folder).expect("folders can be made");
    folder.join(name)
}

fn report(path: &PathBuf) -> Value {
    let text = std::fs::read_to_string(path).expect("the report is written");
    serde_json::from_str(&text).expect("the report is JSON")
}

fn expect_success(output: &Output) {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{:?}\n{out}\n{err}", output.status);
}

/// A board of noise, the same for the same seed (splitmix64).
fn noise(size: Size, mut seed: u64) -> Board {
    let mut board = Board::new(size);
    for y in 0..size.height() {
        for x in 0..size.width() {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            board.set(x, y, (z ^ (z >> 31)).is_multiple_of(3));
        }
    }
    board
}

/// Runs a board on the device and on the CPU.
fn compare(name: &str, size: &str, rule: &str, generations: u32, speed: u32, more: &[&str]) {
    let size: Size = size.parse().expect("a size");
    let rule: Rule = rule.parse().expect("a rule");
    let mut board = noise(size, u64::from(generations));
    let (start, end) = (
        file(&format!("{name}.rle")),
        file(&format!("{name}_end.rle")),
    );
    let numbers = file(&format!("{name}.json"));
    std::fs::write(&start, rle::write(&board, rule)).expect("the pattern is written");
    let path = |path: &PathBuf| path.to_str().expect("plain names").to_owned();
    let (size_text, generations_text, speed) =
        (size.to_string(), generations.to_string(), speed.to_string());
    let (start, save, numbers_text) = (path(&start), path(&end), path(&numbers));
    let mut args = vec!["--headless", "--pattern", &start, "--size", &size_text];
    args.extend([
        "--generations",
        &generations_text,
        "--speed",
        &speed,
        "--save",
        &save,
    ]);
    args.extend(["--report", &numbers_text]);
    args.extend(more);
    expect_success(&life(&args));
    for _ in 0..generations {
        board = board.step(rule);
    }
    let result = Pattern::load(&end).expect("the last generation is written");
    let mut device = Board::new(size);
    device
        .place_centred(&result)
        .expect("it has the board's size");
    assert!(
        device == board,
        "{size} {rule} after {generations} generations differs from the CPU's"
    );
    let report = report(&numbers);
    assert_eq!(report["generation"], generations);
    assert_eq!(report["population"], board.population());
}

#[test]
#[ignore = "needs a device"]
fn gpu_and_cpu_agree_bit_for_bit() {
    compare("square", "64x64", "B3/S23", 50, 1, &[]);
    compare("odd", "33x17", "B36/S23", 25, 4, &[]);
    compare("narrow", "1x40", "B3/S23", 7, 3, &[]);
    compare("flat", "95x1", "B2/S", 9, 2, &[]);
    compare("wide", "1000x3", "B3678/S34678", 31, 16, &[]);
    compare("shared", "100x100", "B3/S23", 40, 5, &["--concurrent"]);
    compare("worker", "100x100", "B3/S23", 41, 1, &["--worker"]);
    compare("ahead", "33x17", "B36/S23", 50, 4, &["--worker"]);
}

#[test]
#[ignore = "needs a device"]
fn plans_of_the_steady_state_are_reused() {
    let numbers = file("steady.json");
    let args = [
        "--headless",
        "--frames",
        "100",
        "--report",
        numbers.to_str().expect("plain"),
    ];
    expect_success(&life(&args));
    let report = report(&numbers);
    let (frames, reused) = (report["frames"].as_u64(), report["plans_reused"].as_u64());
    assert!(
        frames >= Some(100) && reused >= Some(80),
        "{reused:?} of {frames:?}"
    );
}

#[test]
#[ignore = "needs a device"]
fn bad_input_is_one_line_and_exit_code_2() {
    let missing = file("no_such_file.rle");
    let broken = file("broken.rle");
    std::fs::write(&broken, "x = 3, y = 3\nbob$2bq!\n").expect("written");
    let picture = file("never.png");
    let picture = picture.to_str().expect("plain");
    let cases: [(&[&str], &[&str]); 5] = [
        (
            &["--pattern", missing.to_str().expect("plain")],
            &["no_such_file.rle"],
        ),
        (
            &["--pattern", broken.to_str().expect("plain")],
            &["broken.rle:2:7", "expected"],
        ),
        (&["--size", "9000x10"], &["9000", "8192"]),
        (&["--size", "wide"], &["wide"]),
        (&["--size", "1x1"], &["1x1", "3x3"]),
    ];
    for (args, parts) in cases {
        let output = life(&[args, &["--headless", "--screenshot", picture]].concat());
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
        assert_eq!(err.trim().lines().count(), 1, "{args:?}: {err}");
        assert!(
            parts.iter().all(|part| err.contains(part)),
            "{args:?}: {err}"
        );
        assert!(
            !PathBuf::from(picture).exists(),
            "{args:?} writes a picture"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn a_device_that_does_not_exist_is_named_with_those_that_do() {
    let output = program(env!("CARGO_BIN_EXE_triangle"))
        .args(["--headless", "--frames", "2"])
        .env("QUADRILLE_DEVICE", "no such device")
        .output()
        .expect("triangle starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("no such device"), "{text}");
}

#[test]
#[ignore = "needs a device"]
fn a_program_without_a_window_says_where_its_frames_go() {
    let output = program(env!("CARGO_BIN_EXE_triangle"))
        .args(["--headless", "--frames", "2"])
        .env("RUST_LOG", "info")
        .output()
        .expect("triangle starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{text}");
    let lines: Vec<&str> = text.lines().filter(|it| it.contains("headless")).collect();
    assert_eq!(lines.len(), 1, "{text}");
    for words in ["an image of 960x540 pixels", "save_to_disk(\"frame.png\")"] {
        assert!(lines[0].contains(words), "no {words:?} in {text}");
    }
}

/// Accesses that an ordinary system changes at run time are in the next plans.
#[test]
#[ignore = "needs a device"]
fn changed_accesses_change_the_plan() {
    let output = program(env!("CARGO_BIN_EXE_accesses"))
        .args(["--headless", "--frames", "20"])
        .output()
        .expect("accesses starts");
    expect_success(&output);
    let out = String::from_utf8_lossy(&output.stdout);
    let (before, rest) = out.split_once("the passes:").expect("passes are listed");
    let (listed, after) = rest.split_once("the plan after:").expect("a plan follows");
    let waves = "waves, queue: Main\n    storage write: Waves";
    assert!(listed.contains(waves), "{out}");
    // The added access orders `sky` after `waves`, where nothing did.
    let why = "pass waves -> pass sky";
    assert!(!before.contains(why) && after.contains(why), "{out}");
    let queue_of = |plan: &str, pass: &str| {
        let pass = format!("  pass {pass}");
        let lines = plan.lines().take_while(|line| *line != pass);
        let submit = lines.filter(|line| line.starts_with("submit ")).last();
        submit
            .expect("a submission has it")
            .split(' ')
            .nth(1)
            .map(str::to_owned)
    };
    assert_eq!(queue_of(before, "waves"), queue_of(before, "show"), "{out}");
    let families = std::env::var("QUADRILLE_LAYER_FAMILIES").unwrap_or_default();
    if families.contains(",ct") {
        assert_ne!(queue_of(after, "waves"), queue_of(after, "show"), "{out}");
    }
}
