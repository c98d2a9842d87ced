//! The example of two processes: what it shows, and what is left of it when one of them is killed.
//! `cargo test -p examples --test gpu_processes -- --ignored`; without a device these tests fail.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

#[expect(dead_code, reason = "other tests use the rest")]
mod common;

use common::Picture;

/// Longer than any of this takes.
const LONG: Duration = Duration::from_secs(100);

/// A folder of one test: programs run side by side on several topologies.
fn folder(name: &str) -> PathBuf {
    let queues = std::env::var("QUADRILLE_LAYER_FAMILIES").unwrap_or_default();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shared {name} {queues}"));
    // An earlier run may have left it.
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("folders can be made");
    folder
}

/// Starts both processes; waits until they share frames.
fn start(folder: &Path, frames: &str) -> (Child, BufReader<ChildStderr>) {
    let path = env!("CARGO_BIN_EXE_shared");
    let mut command = match std::env::var_os("QUADRILLE_VALIDATED") {
        Some(script) => {
            let mut command = Command::new(script);
            command.arg(path);
            command
        }
        None => Command::new(path),
    };
    command.args(["--headless", "--frames", frames, "--screenshot"]);
    command
        .arg(folder.join("first.png"))
        .arg("--second-screenshot");
    command
        .arg(folder.join("second.png"))
        .stderr(Stdio::piped());
    let mut first = command.spawn().expect("the program starts");
    let mut output = BufReader::new(first.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("frames are shared") {
        line.clear();
        let read = output.read_line(&mut line).expect("the output is text");
        assert!(read > 0, "the program ends before it shares frames");
    }
    (first, output)
}

/// Waits for something that another process does.
fn wait_for(what: &str, mut is_done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < LONG, "{what} takes longer than {LONG:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Kills a process without letting it end by itself.
fn kill(process: u32) {
    let mut kill = Command::new("kill");
    let killed = kill.args(["-KILL", &process.to_string()]).status();
    assert!(killed.expect("kill starts").success());
}

#[test]
#[ignore = "needs a device"]
fn both_processes_show_one_image() {
    let folder = folder("alive");
    let (mut first, mut output) = start(&folder, "30");
    let mut rest = String::new();
    while output.read_line(&mut rest).expect("the output is text") > 0 {}
    let status = first.wait().expect("it ends");
    assert!(status.success(), "{status}\n{rest}");
    let pictures = ["first.png", "second.png"].map(|name| Picture::read(&folder.join(name)));
    let is_bright = |pixel: &[u8; 3]| pixel.iter().any(|channel| *channel > 100);
    assert!(
        pictures[0].pixels.iter().any(is_bright),
        "there is a triangle"
    );
    let [first, second] = pictures.map(|picture| picture.reduced());
    assert_eq!(second.difference(&first), None);
}

#[test]
#[ignore = "needs a device"]
fn second_process_ends_well_when_the_first_is_killed() {
    let folder = folder("first");
    let (mut first, _output) = start(&folder, "1000000");
    kill(first.id());
    assert!(!first.wait().expect("it ends").success());
    let picture = folder.join("second.png");
    wait_for("the end of the second process", || picture.exists());
}

#[test]
#[ignore = "needs a device"]
fn first_process_ends_well_when_the_second_is_killed() {
    let folder = folder("second");
    let (mut first, mut output) = start(&folder, "1000000");
    // Any of its threads may have started it.
    let threads = fs::read_dir(format!("/proc/{}/task", first.id())).expect("it runs");
    let children = threads
        .flatten()
        .map(|thread| thread.path().join("children"));
    let children = children.map(|path| fs::read_to_string(path).unwrap_or_default());
    let children: Vec<String> = children.collect();
    let second = children
        .iter()
        .find_map(|of| of.split_whitespace().next()?.parse().ok());
    kill(second.expect("it has a second process"));
    let mut rest = String::new();
    while output.read_line(&mut rest).expect("the output is text") > 0 {}
    let status = first.wait().expect("it ends");
    assert!(status.success(), "{status}\n{rest}");
    assert!(folder.join("first.png").exists());
}
