//! The device is lost while examples run: each comes back with the same picture, or ends cleanly.

mod during;
mod pictures;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

use crate::faults::Depth;
use crate::host::place;
use crate::host::process::Running;
use crate::host::xvfb::Xvfb;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::layer::{self, Layer};
use crate::setup::validation::{self, Stack};

pub(crate) use pictures::check as pictures;

const LIMIT: Duration = Duration::from_secs(120);
const FRAMES: u64 = 120;
/// Frames that may be lost with the device: those on their way, and as many as a window may take
/// to come back.
const LOST_FRAMES: u64 = 60;
const FAMILIES: &str = "gct:1,ct:1,t:1";

/// Ways to lose the device once, in calls that frames make without a window.
const HEADLESS: [&str; 4] = [
    "lost nth=40",
    "vkQueueSubmit2 nth=40 -> VK_ERROR_DEVICE_LOST",
    "vkWaitSemaphores nth=20 -> VK_ERROR_DEVICE_LOST",
    "vkGetSemaphoreCounterValue nth=30 -> VK_ERROR_DEVICE_LOST",
];

/// Three losses, each later after the one before than a device has to last.
const THRICE: &str = "lost nth=40\nlost nth=110\nlost nth=180";
/// Frames with all of them, and as many after the last as one may take to come back.
const THRICE_FRAMES: u64 = 250;

/// In calls that only windows make, or make more of.
const WINDOWED: [&str; 6] = [
    "lost nth=40",
    "vkQueuePresentKHR nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkAcquireNextImageKHR nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkGetFenceStatus nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkCreateSwapchainKHR nth=2 -> VK_ERROR_DEVICE_LOST",
    TROUBLE,
];

/// With windows that are in trouble of their own: each third image is suboptimal, a surface is lost,
/// and when the device is back there is no area for ten frames of three windows.
const TROUBLE: &str = "lost nth=40\n\
    vkAcquireNextImageKHR every=3 -> VK_SUBOPTIMAL_KHR\n\
    vkQueuePresentKHR nth=20 -> VK_ERROR_SURFACE_LOST_KHR\n\
    extent from=60 to=89 0x0";

/// The same, and the device is lost again while it is made.
const TROUBLE_AT_ONCE: [&str; 2] = [
    "vkCreateDevice nth=2 -> VK_ERROR_DEVICE_LOST",
    "vkCreateSwapchainKHR from=12 -> VK_ERROR_DEVICE_LOST",
];

/// Ways to lose it for good: again soon after, and while another is made.
const FINAL: [&str; 6] = [
    "lost nth=40\nlost nth=60",
    "lost nth=40\nlost nth=41",
    "lost nth=40\nvkCreateDevice nth=2 -> VK_ERROR_INITIALIZATION_FAILED",
    "lost nth=40\nvkCreateShaderModule from=2 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "lost nth=40\nlost nth=105\nvkCreateDevice nth=3 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "lost nth=40\nlost nth=105\nvkAllocateMemory nth=3 -> VK_ERROR_OUT_OF_DEVICE_MEMORY",
];

/// All of them, with `windows`.
///
/// # Errors
/// When the program fails, shows another picture, or does not end; the script is named.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let game = Game {
        stack,
        program,
        layer,
        arguments: &[],
    };
    let (plain, _) = game.picture("", FRAMES)?;
    for script in HEADLESS {
        let (picture, report) = game
            .picture(script, FRAMES)
            .with_context(|| format!("script {script:?}"))?;
        ensure!(picture == plain, "script {script:?}: another picture");
        check_frames(&report).with_context(|| format!("script {script:?}"))?;
    }
    let (plain, _) = game.picture("", THRICE_FRAMES)?;
    let (picture, _) = game.picture(THRICE, THRICE_FRAMES)?;
    ensure!(picture == plain, "script {THRICE:?}: another picture");
    let server = Xvfb::start()?;
    for script in WINDOWED {
        game.windowed(script, &server)
            .with_context(|| format!("script {script:?} in windows"))?;
    }
    for script in FINAL {
        let code = game.ends(script, None)?;
        ensure!(code == 1, "script {script:?}: it ended with {code}");
    }
    for script in TROUBLE_AT_ONCE {
        let script = format!("{TROUBLE}\n{script}");
        let code = game.ends(&script, Some(&server))?;
        ensure!(code == 1, "script {script:?}: it ended with {code}");
    }
    Ok(format!(
        "{} ways to come back from, {} to end by",
        HEADLESS.len() + 1 + WINDOWED.len(),
        FINAL.len() + TROUBLE_AT_ONCE.len()
    ))
}

/// While the device is made anew, each kind of call fails once.
///
/// # Errors
/// As [`check`].
pub(crate) fn during(stack: &Stack, program: &Path, layer: &Layer, depth: Depth) -> Result<String> {
    let game = Game {
        stack,
        program,
        layer,
        arguments: &[],
    };
    during::check(&game, depth)
}

/// An example, and what to tell it.
struct Game<'a> {
    stack: &'a Stack,
    program: &'a Path,
    layer: &'a Layer,
    arguments: &'a [&'a str],
}

impl Game<'_> {
    /// The last picture of a run without windows, in which the device was lost and came back.
    fn picture(&self, script: &str, frames: u64) -> Result<(Vec<u8>, Report)> {
        let screenshot = place::made("verify").join("recover.png");
        examples::forget(&screenshot)?;
        let (mut command, report) = self.command(script, frames)?;
        command
            .arg("--headless")
            .arg("--screenshot")
            .arg(&screenshot);
        let output = validation::run("recover", &mut command, LIMIT)?;
        let report = Report::read(&report)?;
        judge(script, &output)?;
        let picture = fs::read(&screenshot);
        let picture = picture.with_context(|| format!("no {}", screenshot.display()))?;
        Ok((picture, report))
    }

    /// A run in windows, in which the device was lost and came back.
    fn windowed(&self, script: &str, server: &Xvfb) -> Result<()> {
        let (mut command, report) = self.command(script, FRAMES)?;
        command
            .env("DISPLAY", &server.display)
            .env_remove("WAYLAND_DISPLAY");
        let output = validation::run("recover-windows", &mut command, LIMIT)?;
        judge(script, &output)?;
        check_frames(&Report::read(&report)?)
    }

    /// A run that ends, with nothing left behind, by success or with an error that says why: its
    /// exit code, 0 or 1.
    fn ends(&self, script: &str, server: Option<&Xvfb>) -> Result<i32> {
        let (mut command, _) = self.command(script, FRAMES)?;
        match server {
            Some(server) => command
                .env("DISPLAY", &server.display)
                .env_remove("WAYLAND_DISPLAY"),
            None => command.arg("--headless"),
        };
        let mut running = Running::start("recover-ends", &mut command)?;
        let status = running.wait(LIMIT)?;
        let output = running.output();
        let bad = |what: &str| anyhow!("script {script:?}: it {what}\n{}", running.tail());
        ensure!(!output.contains("panicked"), bad("panicked"));
        layer::check_taken(&output).map_err(|e| bad(&e.to_string()))?;
        validation::check_silence("recover-ends", &output).map_err(|e| bad(&e.to_string()))?;
        match status.code() {
            Some(0) => Ok(0),
            Some(1) if output.contains("ERROR") => Ok(1),
            _ => Err(bad(&format!("ended with {status}"))),
        }
    }

    fn command(&self, script: &str, frames: u64) -> Result<(Command, PathBuf)> {
        let folder = place::made("verify");
        let (report, path) = (
            folder.join("recover.report.json"),
            folder.join("recover.script.txt"),
        );
        examples::forget(&report)?;
        fs::write(&path, script).with_context(|| format!("cannot write {}", path.display()))?;
        let mut command = self.stack.command(self.program);
        command
            .current_dir(place::root())
            .args(self.arguments)
            .args(["--frames", &frames.to_string(), "--report"])
            .arg(&report)
            .env("QUADRILLE_LAYER_SCRIPT", &path);
        self.layer.apply(&mut command, FAMILIES);
        Ok((command, report))
    }
}

/// Whether the device was lost, as often as it was to be.
fn judge(script: &str, output: &str) -> Result<()> {
    let times = output.matches("the device was made anew").count();
    let losses = script.lines().filter(|line| line.starts_with("lost"));
    let wanted = losses.count().max(usize::from(!script.is_empty()));
    ensure!(times == wanted, "the device was made anew {times} times");
    Ok(())
}

/// Whether frames went on after the loss. (Some examples end by themselves, with fewer.)
fn check_frames(report: &Report) -> Result<()> {
    let frames = report.number("frames")?;
    ensure!(
        frames + LOST_FRAMES >= FRAMES,
        "only {frames} frames were drawn of {FRAMES}"
    );
    Ok(())
}
