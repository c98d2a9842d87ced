//! The program on the `bevy` crate. Not a member of the workspace, so that the workspace's lock file does not contain
//! bevy.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::host::cargo;
use crate::host::paths;
use crate::scenarios::examples;
use crate::scenarios::picture;
use crate::setup::validation::{self, Stack};

const FOLDER: &str = "examples/with_bevy";

const LIMIT: Duration = Duration::from_secs(180);

/// Builds the program in addition to the workspace, and runs it under validation.
///
/// # Errors
/// When it does not build or run, or its image is empty.
pub(crate) fn check(stack: &Stack, target: &Path) -> Result<String> {
    let manifest = paths::root().join(FOLDER).join("Cargo.toml");
    // bevy declares a newer Rust than its crates need.
    let mut build = cargo::command(&["build", "--locked", "--ignore-rust-version"]);
    build
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(target);
    crate::host::process::run("with-bevy-build", &mut build, cargo::BUILD_LIMIT)?;
    let frame = paths::target("verify").join("with_bevy.png");
    examples::forget(&frame)?;
    let mut command = stack.command(target.join("debug/with_bevy"));
    command
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .arg(&frame);
    validation::run("with_bevy", &mut command, LIMIT)?;
    let size = picture::check(&frame)?;
    Ok(format!("picture {size}"))
}
