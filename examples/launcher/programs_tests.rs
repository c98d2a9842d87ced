//! Tests of started programs.

use std::path::Path;
use std::process::Command;

use super::{PROGRAMS, Running, beside};

#[test]
fn programs_lie_beside_the_launcher() {
    let path = beside(Path::new("target/release/launcher"), "swarm");
    assert_eq!(path.parent(), Some(Path::new("target/release")));
    assert_eq!(path.file_stem().and_then(|it| it.to_str()), Some("swarm"));
}

#[test]
fn missing_program_is_named_with_the_way_to_build_it() {
    let mut running = Running::default();
    running.start("no_such_program");
    assert!(!running.is_busy());
    assert!(running.message.contains("--bin no_such_program"));
}

#[test]
fn repeated_runs_start_nothing() {
    let mut running = Running::new(true);
    running.start("swarm");
    assert!(!running.is_busy());
    assert_eq!(running.message, "would play swarm");
}

#[test]
fn end_of_a_program_is_noted_with_its_status() {
    for (argument, expected) in [("--list", ""), ("--no-such-option", "ended with")] {
        // This test program itself stands for a game.
        let this = std::env::current_exe().expect("it runs");
        let mut command = Command::new(this);
        command
            .arg(argument)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        let child = command.spawn().expect("it starts");
        let mut running = Running {
            child: Some(("game", child)),
            ..Running::default()
        };
        while running.is_busy() {
            running.poll();
            std::thread::yield_now();
        }
        assert!(running.message.contains(expected), "{}", running.message);
        assert_eq!(running.message.is_empty(), expected.is_empty());
    }
}

#[test]
fn each_program_is_an_example() {
    let manifest = include_str!("../Cargo.toml");
    for program in &PROGRAMS {
        let line = format!("name = \"{}\"", program.name);
        assert!(manifest.contains(&line), "{}", program.name);
        assert!(!program.sheet.is_empty());
    }
}
