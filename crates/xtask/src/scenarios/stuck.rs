//! Three windows of which one never gets an image, like an invisible window on some compositors. The others must not be
//! affected, even with faults of their own and after the loss of the device, which ends the stall.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::host::paths;
use crate::host::xvfb::Xvfb;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::layer::Layer;
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(180);
const FRAMES: u64 = 200;
/// Minimum percentage of its frames that a working window presents.
const LEAST_SHOWN: u64 = 90;

/// A window stalls permanently.
const FOR_GOOD: &str = "stuck nth=2";
/// A window stalls until the device is lost, while every third present is never proven complete and swapchains are
/// replaced continuously.
const UNTIL_LOST: &str = "stuck nth=2\nlost nth=90\n\
    vkAcquireNextImageKHR every=5 -> VK_SUBOPTIMAL_KHR\n\
    present fence never every=3";

/// Runs `windows` with its second window stalled.
///
/// # Errors
/// When a working window misses too many frames, or the stalled one presents before the loss of the device.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let server = Xvfb::start()?;
    let remarks = [FOR_GOOD, UNTIL_LOST].map(|script| {
        run(stack, program, layer, &server, script).with_context(|| format!("script {script:?}"))
    });
    let remarks: Vec<_> = remarks.into_iter().collect::<Result<_>>()?;
    Ok(remarks.join("; "))
}

fn run(stack: &Stack, program: &Path, layer: &Layer, server: &Xvfb, rules: &str) -> Result<String> {
    let folder = paths::target("verify");
    let (path, script) = (
        folder.join("stuck.report.json"),
        folder.join("stuck.script.txt"),
    );
    examples::forget(&path)?;
    fs::write(&script, rules).with_context(|| format!("cannot write {}", script.display()))?;
    let mut command = stack.command(program);
    command
        .current_dir(paths::root())
        .args(["--frames", &FRAMES.to_string(), "--report"])
        .arg(&path)
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY")
        .env("QUADRILLE_LAYER_SCRIPT", &script);
    layer.apply(&mut command, "gct:1,ct:1,t:1");
    validation::run("stuck", &mut command, LIMIT)?;
    let report = Report::read(&path)?;
    judge(
        &report.numbers("window_frames")?,
        &report.numbers("window_shown")?,
        rules == FOR_GOOD,
    )
}

fn judge(frames: &[u64], shown: &[u64], for_good: bool) -> Result<String> {
    ensure!(
        frames.len() == 3 && shown.len() == 3,
        "{} windows were counted, not 3",
        shown.len()
    );
    let stuck = shown.iter().filter(|shown| **shown == 0).count();
    ensure!(
        stuck == usize::from(for_good),
        "{stuck} windows show nothing: {shown:?}"
    );
    let is_good = |(frames, shown): &(&u64, &u64)| {
        **frames >= FRAMES / 2 && **shown * 100 >= **frames * LEAST_SHOWN
    };
    let good = frames.iter().zip(shown).filter(is_good).count();
    ensure!(
        good == 2,
        "{good} windows, not 2, show nearly all their frames: {shown:?} of {frames:?}"
    );
    Ok(format!("frames shown: {shown:?} of {frames:?}"))
}

#[cfg(test)]
mod tests;
