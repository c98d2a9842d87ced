//! The device is lost while `windows` runs: it comes back with the same picture, or ends cleanly.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::layer::Layer;
use crate::process::Running;
use crate::report::Report;
use crate::validation::{self, Stack};
use crate::xvfb::Xvfb;
use crate::{examples, place};

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
    "vkWaitSemaphores nth=60 -> VK_ERROR_DEVICE_LOST",
    "vkGetSemaphoreCounterValue nth=30 -> VK_ERROR_DEVICE_LOST",
];

/// In calls that only windows make, or make more of.
const WINDOWED: [&str; 5] = [
    "lost nth=40",
    "vkQueuePresentKHR nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkAcquireNextImageKHR nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkGetFenceStatus nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkCreateSwapchainKHR nth=2 -> VK_ERROR_DEVICE_LOST",
];

/// Ways to lose it for good: again soon after, and while another is made.
const FINAL: [&str; 4] = [
    "lost nth=40\nlost nth=60",
    "lost nth=40\nlost nth=41",
    "lost nth=40\nvkCreateDevice nth=2 -> VK_ERROR_INITIALIZATION_FAILED",
    "lost nth=40\nvkCreateShaderModule from=2 -> VK_ERROR_OUT_OF_HOST_MEMORY",
];

/// All of them.
///
/// # Errors
/// When the program fails, shows another picture, or does not end; the script is named.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let game = Game {
        stack,
        program,
        layer,
    };
    let plain = game.picture("")?;
    for script in HEADLESS {
        let picture = game
            .picture(script)
            .with_context(|| format!("script {script:?}"))?;
        ensure!(picture == plain, "script {script:?}: another picture");
    }
    let server = Xvfb::start()?;
    for script in WINDOWED {
        game.windowed(script, &server)
            .with_context(|| format!("script {script:?} in windows"))?;
    }
    for script in FINAL {
        game.ends(script)
            .with_context(|| format!("script {script:?}"))?;
    }
    Ok(format!(
        "{} ways to come back from, {} to end by",
        HEADLESS.len() + WINDOWED.len(),
        FINAL.len()
    ))
}

struct Game<'a> {
    stack: &'a Stack,
    program: &'a Path,
    layer: &'a Layer,
}

impl Game<'_> {
    /// The last picture of a run without windows, in which the device was lost and came back.
    fn picture(&self, script: &str) -> Result<Vec<u8>> {
        let screenshot = place::made("verify").join("recover.png");
        examples::forget(&screenshot)?;
        let (mut command, report) = self.command(script)?;
        command
            .arg("--headless")
            .arg("--screenshot")
            .arg(&screenshot);
        let output = validation::run("recover", &mut command, LIMIT)?;
        judge(script, &output, &Report::read(&report)?)?;
        fs::read(&screenshot).with_context(|| format!("no {}", screenshot.display()))
    }

    /// A run in windows, in which the device was lost and came back.
    fn windowed(&self, script: &str, server: &Xvfb) -> Result<()> {
        let (mut command, report) = self.command(script)?;
        command
            .env("DISPLAY", &server.display)
            .env_remove("WAYLAND_DISPLAY");
        let output = validation::run("recover-windows", &mut command, LIMIT)?;
        judge(script, &output, &Report::read(&report)?)
    }

    /// A run that ends with an error that says why, and with nothing left behind.
    fn ends(&self, script: &str) -> Result<()> {
        let (mut command, _) = self.command(script)?;
        command.arg("--headless");
        let mut running = Running::start("recover-ends", &mut command)?;
        let status = running.wait(LIMIT)?;
        let output = running.output();
        ensure!(
            status.code() == Some(1) && !output.contains("panicked"),
            "it ended with {status}\n{}",
            running.tail()
        );
        validation::check_silence("recover-ends", &output)
    }

    fn command(&self, script: &str) -> Result<(Command, std::path::PathBuf)> {
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
            .args(["--frames", &FRAMES.to_string(), "--report"])
            .arg(&report)
            .env("QUADRILLE_LAYER_SCRIPT", &path);
        self.layer.apply(&mut command, FAMILIES);
        Ok((command, report))
    }
}

/// Whether the device was lost, if it was to be, and frames went on after that.
fn judge(script: &str, output: &str, report: &Report) -> Result<()> {
    let times = output.matches("the device was made anew").count();
    let wanted = usize::from(!script.is_empty());
    ensure!(times == wanted, "the device was made anew {times} times");
    let frames = report.number("frames")?;
    ensure!(
        frames + LOST_FRAMES * wanted as u64 >= FRAMES,
        "only {frames} frames were drawn of {FRAMES}"
    );
    Ok(())
}
