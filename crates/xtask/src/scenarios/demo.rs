//! `cargo demo`: sets up the machine, builds the games, and opens their launcher or draws images of three and a ride.

mod animation;
mod ride;

use std::io::{BufRead, BufReader, IsTerminal as _, Write as _};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::host::cargo;
use crate::host::paths;
use crate::setup::machine;
use crate::setup::packages::Purpose;

/// An image that the demo draws without a display.
struct Picture {
    program: &'static str,
    shows: &'static str,
    arguments: &'static [&'static str],
}

const PICTURES: [Picture; 3] = [
    Picture {
        program: "courier",
        shows: "a 3D game over a city at night: thousands of instances, own materials, lights, rain",
        arguments: &["--autoplay", "--skip", "400", "--frames", "5"],
    },
    Picture {
        program: "swarm",
        shows: "50,000 enemies moved on a compute queue, sprites, text, bloom",
        arguments: &["--script", "assets/scripts/swarm.txt", "--frames", "110"],
    },
    // Seven cells that stay active for thousands of generations.
    Picture {
        program: "life",
        shows: "1,500 generations of Game of Life on a compute queue",
        arguments: &[
            "--pattern",
            "assets/patterns/acorn.rle",
            "--size",
            "320x180",
            "--generations",
            "1500",
            "--speed",
            "8",
        ],
    },
];

/// Programs of the launcher, and the launcher itself.
const PROGRAMS: [&str; 7] = [
    "launcher",
    "courier",
    "swarm",
    "breakout",
    "life",
    "scene3d",
    "many_cubes",
];

/// Opens the launcher of the games if there is a display, else draws three images and a ride through the city of `courier`.
///
/// # Errors
/// When a program cannot be built, started, or written.
pub(crate) fn demo() -> Result<ExitCode> {
    println!("==> setup");
    if let Err(error) = machine::install(Purpose::Play) {
        // The program may run nevertheless: the check only knows packages, not all ways to install a driver.
        println!("    {error:#}");
    }
    if has_display() {
        build(&PROGRAMS)?;
        println!("==> launcher (arrows, mouse or gamepad choose; enter plays; escape ends)");
        finish("launcher", program("launcher").status()?)?;
    } else {
        build(&PICTURES.map(|picture| picture.program))?;
        println!("==> no display: three pictures and a ride instead of a window");
        draw()?;
    }
    println!(
        "next: cargo run --release -p examples --bin courier, a 3D game; README.md has all examples"
    );
    Ok(ExitCode::SUCCESS)
}

fn has_display() -> bool {
    ["WAYLAND_DISPLAY", "DISPLAY"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Builds programs of `examples`, with one line of progress on a terminal and cargo's log elsewhere.
fn build(programs: &[&str]) -> Result<()> {
    println!(
        "==> building {} (the first time takes some minutes)",
        programs.join(", ")
    );
    let mut command = cargo::command(&["build", "--package", "examples"]);
    for program in programs {
        command.args(["--bin", program]);
    }
    let is_terminal = std::io::stdout().is_terminal();
    if is_terminal {
        command
            .args(["--quiet", "--message-format=json-render-diagnostics"])
            .stdout(Stdio::piped());
    }
    let mut child = command.spawn().context("cannot start cargo")?;
    if let Some(messages) = child.stdout.take() {
        show_progress(BufReader::new(messages).lines().map_while(Result::ok));
    }
    if child.wait().context("cannot wait for cargo")?.success() {
        Ok(())
    } else {
        bail!("the build failed")
    }
}

/// Overwrites one line with the number of built crates, for each message of cargo.
fn show_progress(messages: impl Iterator<Item = String>) {
    let mut out = std::io::stdout();
    let names = messages.filter_map(|message| built_crate(&message));
    for (count, name) in (1..).zip(names) {
        // A closed terminal does not end the build.
        let _ = write!(out, "\r\x1b[K    {count} crates, now {name}");
        let _ = out.flush();
    }
    let _ = write!(out, "\r\x1b[K");
    let _ = out.flush();
}

/// Returns the name of the target that a message of cargo reports as built.
fn built_crate(message: &str) -> Option<String> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    (message["reason"] == "compiler-artifact")
        .then(|| message["target"]["name"].as_str().map(str::to_owned))?
}

fn draw() -> Result<()> {
    let folder = paths::target("demo");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    for picture in &PICTURES {
        let path = folder.join(format!("{}.png", picture.program));
        let status = program(picture.program)
            .arg("--headless")
            .args(picture.arguments)
            .arg("--screenshot")
            .arg(&path)
            .status()?;
        finish(picture.program, status)?;
        println!("    {}: {}", path.display(), picture.shows);
    }
    ride::draw(program("courier"), &folder)
}

/// Returns a command for a program of `examples`, run in the root of the checkout.
fn program(name: &str) -> Command {
    cargo::command(&[
        "run",
        "--quiet",
        "--package",
        "examples",
        "--bin",
        name,
        "--",
    ])
}

fn finish(program: &str, status: std::process::ExitStatus) -> Result<()> {
    if status.success() {
        Ok(())
    } else {
        bail!("{program} ended with {status}")
    }
}

#[cfg(test)]
mod tests;
