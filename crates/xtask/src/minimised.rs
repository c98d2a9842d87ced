//! Windows without area, as minimised ones are on some systems: nothing is drawn, the app does not
//! run as fast as it can, and once they have an area they are drawn again.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::layer::Layer;
use crate::report::Report;
use crate::validation::{self, Stack};
use crate::xvfb::Xvfb;
use crate::{examples, place};

const LIMIT: Duration = Duration::from_secs(180);
/// The windows of the program, each of which is asked for its size in each of these frames.
const WINDOWS: u64 = 3;
const FRAMES: u64 = 500;
/// Frames with an area, after that.
const MORE_FRAMES: u64 = 60;
/// A frame without anything to draw takes so long at least: at most a hundred in a second.
const LEAST_FRAME: Duration = Duration::from_millis(10);
/// Frames of a window after which it must be shown again, with those that the first image takes.
const MOST_LATE: u64 = 10;

/// Runs `windows` without area at first.
///
/// # Errors
/// When it does not rest, or does not draw afterwards.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let server = Xvfb::start()?;
    let folder = place::made("verify");
    let (path, script) = (
        folder.join("minimised.report.json"),
        folder.join("minimised.script.txt"),
    );
    examples::forget(&path)?;
    // The first query of each window is for its formats.
    let queries = WINDOWS * (FRAMES + 1);
    fs::write(&script, format!("extent from=1 to={queries} 0x0\n"))
        .with_context(|| format!("cannot write {}", script.display()))?;
    let mut command = stack.command(program);
    command
        .current_dir(place::root())
        .args(["--frames", &(FRAMES + MORE_FRAMES).to_string(), "--report"])
        .arg(&path)
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY")
        .env("QUADRILLE_LAYER_SCRIPT", &script);
    layer.apply(&mut command, "gct:1,ct:1,t:1");
    let start = Instant::now();
    validation::run("minimised", &mut command, LIMIT)?;
    let took = start.elapsed();
    let least = LEAST_FRAME * FRAMES as u32;
    ensure!(took >= least, "{FRAMES} frames took {took:?} only");
    let shown = Report::read(&path)?.numbers("window_shown")?;
    ensure!(
        shown.len() as u64 == WINDOWS
            && shown.iter().all(|shown| *shown + MOST_LATE >= MORE_FRAMES),
        "of {MORE_FRAMES} frames with an area, windows show {shown:?}"
    );
    Ok(format!(
        "{FRAMES} frames at rest, then {shown:?} of {MORE_FRAMES} shown"
    ))
}
