//! Timing of programs on Quadrille and on bevy_render, alternating, in windows of one X server.
//!
//! Both are built optimized by one cargo project, from the same files. A program has to log its frame times, as bevy's
//! stress tests do. The result is the median of the logged times after warm-up.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use super::programs::{self, Program};
use super::project::{self, Bevy, Project};
use crate::host::process::{self, Running};
use crate::host::xvfb::Xvfb;

/// Default programs to time: many sprites of which few are visible; all visible and large; all visible and small.
const DEFAULT: [&str; 4] = [
    "many_sprites",
    "bevymark --benchmark --waves 1 --per-wave 100000",
    "sprites 100000 8",
    "sprites 100000 8 no-msaa",
];

/// Our own sprite program, timed in addition to bevy's.
const SPRITES: &str = include_str!("sprites.rs.in");
const SPRITES_NAME: &str = "sprites";

/// Timeout until a program logs its first frame time.
const START_LIMIT: Duration = Duration::from_secs(180);
/// Run time after that.
const RUN: Duration = Duration::from_secs(12);
/// Number of runs per renderer.
const ROUNDS: usize = 2;

/// Builds and times the programs, and prints a table.
///
/// # Errors
/// When something does not build or logs no frame times.
pub(super) fn run(package: &Path, lines: &[String], assets: &Path) -> Result<()> {
    let lines: Vec<String> = match lines {
        [] => DEFAULT.map(str::to_owned).to_vec(),
        lines => lines.to_vec(),
    };
    let folder = project::folder_of_timing();
    let programs = programs_of(package, &lines, &folder)?;
    let project = Project::write_timing(package, &programs, assets, SPRITES)?;
    println!("==> building both; the first time all of bevy twice, which takes an hour or so");
    for program in &programs {
        project.build_with(Bevy::Theirs, program)?;
        project.build_with(Bevy::Ours, program)?;
    }
    let server = Xvfb::start()?;
    println!(
        "{:56} {:>12} {:>12}",
        "ms per frame", "Quadrille", "bevy_render"
    );
    for line in &lines {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (bevy, times) in [Bevy::Ours, Bevy::Theirs].into_iter().zip(&mut times) {
                times.extend(frame_times(&project, &server, bevy, line)?);
            }
        }
        let [ours, theirs] = times.map(median);
        println!("{line:56} {ours:12.2} {theirs:12.2}");
    }
    Ok(())
}

fn programs_of(package: &Path, lines: &[String], folder: &Path) -> Result<Vec<Program>> {
    let mut names: Vec<String> = lines.iter().map(|line| word(line).to_owned()).collect();
    names.sort();
    names.dedup();
    let (own, bevys): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name == SPRITES_NAME);
    let mut programs = match bevys.as_slice() {
        [] => Vec::new(),
        names => programs::find(package, names)?,
    };
    programs.extend(own.into_iter().map(|name| Program {
        path: folder.join("sprites.rs"),
        name,
        arguments: Vec::new(),
    }));
    Ok(programs)
}

fn word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// Runs a program. Returns its frame times in milliseconds, one per second.
fn frame_times(project: &Project, server: &Xvfb, bevy: Bevy, line: &str) -> Result<Vec<f64>> {
    let program: PathBuf = project.program(bevy, word(line));
    let mut command = Command::new(program);
    command
        .args(line.split_whitespace().skip(1))
        .current_dir(project.asset_root())
        .env("BEVY_ASSET_ROOT", project.asset_root())
        .env("DISPLAY", &server.display)
        .env("WGPU_BACKEND", "vulkan")
        .env("NO_COLOR", "1")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("QUADRILLE_VALIDATION");
    let log = format!("time-{}-{}", bevy.name(), word(line));
    let mut running = Running::start(&log, &mut command)?;
    let begin = Instant::now();
    let mut first = None;
    while first.is_none_or(|first: Instant| first.elapsed() < RUN) {
        if first.is_none() && !logged(&running.output()).is_empty() {
            first = Some(Instant::now());
        }
        ensure!(
            running.is_alive(),
            "{log} ended by itself\n{}",
            running.tail()
        );
        if process::interrupted() {
            bail!("interrupted");
        }
        ensure!(
            first.is_some() || begin.elapsed() < START_LIMIT,
            "{log} logs no frame times\n{}",
            running.tail()
        );
        thread::sleep(Duration::from_millis(100));
    }
    let times = logged(&running.output());
    // The first half is affected by loading, compilation, and averages over them.
    let warm = times.get(times.len() / 2..).unwrap_or_default();
    ensure!(!warm.is_empty(), "{log} logged too few frame times");
    Ok(warm.to_vec())
}

/// Returns the frame times in a log of bevy's diagnostics, in milliseconds.
fn logged(log: &str) -> Vec<f64> {
    let lines = log.lines().filter(|line| line.contains("frame_time"));
    let time = |line: &str| {
        line.split_once("frame_time")?
            .1
            .split_once(':')?
            .1
            .trim()
            .split_once("ms")?
            .0
            .parse()
            .ok()
    };
    lines.filter_map(time).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
