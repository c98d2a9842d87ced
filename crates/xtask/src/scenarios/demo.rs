//! `cargo demo`: sets up what is missing, builds `life`, and plays it.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::host::cargo;
use crate::host::place;
use crate::setup::machine;
use crate::setup::packages::Purpose;

/// Seven cells that stay busy for thousands of generations, on a board that fills a window.
const SCENE: [&str; 4] = [
    "--pattern",
    "assets/patterns/acorn.rle",
    "--size",
    "320x180",
];

/// Arguments of the build: half of the packages that all examples need, so that the first try does not take
/// long.
const LIFE: [&str; 5] = [
    "--package",
    "examples",
    "--bin",
    "life",
    "--no-default-features",
];

/// When the headless demo takes its picture.
const GENERATIONS: &str = "1500";

/// Plays `life` in a window where there is a display, else makes a picture of it.
///
/// # Errors
/// When it cannot be built, started, or written.
pub(crate) fn demo() -> Result<ExitCode> {
    println!("==> setup");
    if let Err(error) = machine::install(Purpose::Play) {
        // The program may run all the same: the check knows packages, not every way to have a driver.
        println!("    {error:#}");
    }
    println!("==> building life (the first time takes some minutes)");
    let status = cargo::command(&["build"])
        .args(LIFE)
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("life did not build");
    }
    if has_display() { play() } else { draw() }
}

fn has_display() -> bool {
    ["WAYLAND_DISPLAY", "DISPLAY"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn play() -> Result<ExitCode> {
    println!("==> life (space pauses, the wheel zooms, the mouse paints)");
    finish(life(&[])?)
}

fn draw() -> Result<ExitCode> {
    let picture = place::made("demo/life.png");
    let folder = place::made("demo");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    println!("==> life, {GENERATIONS} generations without a window: there is no display");
    let path = picture
        .to_str()
        .context("the checkout's path is not text")?;
    let status = life(&[
        "--headless",
        "--generations",
        GENERATIONS,
        "--speed",
        "8",
        "--screenshot",
        path,
    ])?;
    if status.success() {
        println!("the picture: {}", picture.display());
    }
    finish(status)
}

fn life(arguments: &[&str]) -> Result<std::process::ExitStatus> {
    cargo::command(&["run", "--quiet"])
        .args(LIFE)
        .arg("--")
        .args(SCENE)
        .args(arguments)
        .status()
        .context("cannot start cargo")
}

fn finish(status: std::process::ExitStatus) -> Result<ExitCode> {
    if status.success() {
        Ok(ExitCode::SUCCESS)
    } else {
        bail!("life ended with {status}")
    }
}
