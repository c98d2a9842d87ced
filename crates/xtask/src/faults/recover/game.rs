//! An example whose device is lost, and the checks of its run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

use crate::host::paths;
use crate::host::process::Running;
use crate::host::xvfb::Xvfb;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::layer::{self, Layer};
use crate::setup::validation::{self, Stack};

pub(super) const LIMIT: Duration = Duration::from_secs(120);
pub(super) const FRAMES: u64 = 120;
const FAMILIES: &str = "gct:1,ct:1,t:1";
/// Number of frames that may be lost with the device: those in flight, and those until a window recovers.
const LOST_FRAMES: u64 = 60;

/// An example with its arguments.
pub(super) struct Game<'a> {
    pub(super) stack: &'a Stack,
    pub(super) program: &'a Path,
    pub(super) layer: &'a Layer,
    pub(super) arguments: &'a [&'a str],
}

impl Game<'_> {
    /// Returns the last image of a run without windows, in which the device was lost and recovered.
    pub(super) fn picture(&self, script: &str, frames: u64) -> Result<(Vec<u8>, Report)> {
        let screenshot = paths::target("verify").join("recover.png");
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

    /// Runs the example in windows; the device is lost and recovers.
    pub(super) fn windowed(&self, script: &str, server: &Xvfb) -> Result<()> {
        let (mut command, report) = self.command(script, FRAMES)?;
        command
            .env("DISPLAY", &server.display)
            .env_remove("WAYLAND_DISPLAY");
        let output = validation::run("recover-windows", &mut command, LIMIT)?;
        judge(script, &output)?;
        check_frames(&Report::read(&report)?)
    }

    /// Runs the example until it exits without leaks, successfully or with an error that states the reason. Returns its
    /// exit code, 0 or 1.
    pub(super) fn ends(&self, script: &str, server: Option<&Xvfb>) -> Result<i32> {
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

    /// Returns the command of a run, and the path of its report.
    pub(super) fn command(&self, script: &str, frames: u64) -> Result<(Command, PathBuf)> {
        let folder = paths::target("verify");
        let (report, path) = (
            folder.join("recover.report.json"),
            folder.join("recover.script.txt"),
        );
        examples::forget(&report)?;
        fs::write(&path, script).with_context(|| format!("cannot write {}", path.display()))?;
        let mut command = self.stack.command(self.program);
        command
            .current_dir(paths::root())
            .args(self.arguments)
            .args(["--frames", &frames.to_string(), "--report"])
            .arg(&report)
            .env("QUADRILLE_LAYER_SCRIPT", &path);
        self.layer.apply(&mut command, FAMILIES);
        Ok((command, report))
    }
}

/// Checks that the device was lost as often as the script says.
fn judge(script: &str, output: &str) -> Result<()> {
    let times = output.matches("the device was recreated").count();
    let losses = script.lines().filter(|line| line.starts_with("lost"));
    let wanted = losses.count().max(usize::from(!script.is_empty()));
    ensure!(times == wanted, "the device was recreated {times} times");
    Ok(())
}

/// Checks that frames continued after the loss. (Some examples end by themselves, with fewer frames.)
pub(super) fn check_frames(report: &Report) -> Result<()> {
    let frames = report.number("frames")?;
    ensure!(
        frames + LOST_FRAMES >= FRAMES,
        "only {frames} frames were drawn of {FRAMES}"
    );
    Ok(())
}
