//! One of three windows never gets an image, as on a compositor that keeps those of a window that
//! nobody sees: the others go on as if it were not there.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::layer::Layer;
use crate::report::Report;
use crate::validation::{self, Stack};
use crate::xvfb::Xvfb;
use crate::{examples, place};

const LIMIT: Duration = Duration::from_secs(180);
const FRAMES: u64 = 200;
/// What a good window shows at least, in percent of its frames.
const LEAST_SHOWN: u64 = 90;

/// Runs `windows` with its second window stuck.
///
/// # Errors
/// When a good window misses too many frames, or the stuck one shows any.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let server = Xvfb::start()?;
    let folder = place::made("verify");
    let (path, script) = (
        folder.join("stuck.report.json"),
        folder.join("stuck.script.txt"),
    );
    examples::forget(&path)?;
    fs::write(&script, "stuck nth=2\n")
        .with_context(|| format!("cannot write {}", script.display()))?;
    let mut command = stack.command(program);
    command
        .current_dir(place::root())
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
    )
}

fn judge(frames: &[u64], shown: &[u64]) -> Result<String> {
    ensure!(
        frames.len() == 3 && shown.len() == 3,
        "{} windows were counted, not 3",
        shown.len()
    );
    let stuck = shown.iter().filter(|shown| **shown == 0).count();
    ensure!(stuck == 1, "{stuck} windows show nothing: {shown:?}");
    for (frames, shown) in frames.iter().zip(shown).filter(|(_, shown)| **shown > 0) {
        ensure!(
            *frames >= FRAMES / 2 && shown * 100 >= frames * LEAST_SHOWN,
            "a good window shows {shown} of {frames} frames"
        );
    }
    Ok(format!("frames shown: {shown:?} of {frames:?}"))
}

#[cfg(test)]
mod tests;
