//! Many frames with random changes of windows, buffers and shaders: at the end the program must hold no more memory and
//! objects than after warm-up.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::host::paths;
use crate::host::process::{self, Running};
use crate::host::xvfb::Xvfb;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::validation::{self, Stack};

/// Length and seed of a soak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Dose {
    /// Frames without windows, and as many in windows, though under validation 10000 at most;
    /// memory is judged from 50000 on
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) frames: u64,
    /// Draws what happens
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Minimum number of frames for checking memory: allocators and caches of the driver were seen to grow for 8,000
/// frames, which must be within the first fifth.
///
/// Memory is checked without the validation layer, which keeps some hundred bytes for each pipeline ever created, and
/// more for each swapchain ([`MOST_VALIDATED`]): more than the growth to detect.
const JUDGED_FRAMES: u64 = 50_000;
/// Maximum number of frames in windows under validation. Synchronization validation (1.4.363) never forgets the images
/// of a destroyed swapchain, even after a wait for the queue that presented them. Each swapchain ever created costs 5
/// KB, and a microsecond of each later frame. A window of 3,000 frames with a constant size costs the same at the end
/// as at the beginning. One that is resized every other frame grows by 2.7 KB a frame, and its frames take four times
/// as long; without synchronization validation, or without the layer, neither happens. More frames would take hours and
/// show nothing new.
const MOST_VALIDATED: u64 = 10_000;
const POLL: Duration = Duration::from_secs(1);
/// Maximum mean duration of a frame in windows, under validation on a software driver.
const SLOWEST_FRAME: Duration = Duration::from_millis(200);
const START: Duration = Duration::from_secs(120);
/// Memory may grow by one part in this number.
const GROWTH: u64 = 100;
/// Allowed additional entities: the second window is open half of the time.
const SECOND_WINDOW: u64 = 1;
/// Maximum number of retired swapchains of a window.
const MOST_RETIRED: u64 = 5;
/// Upper bound of the buffers that the program, its uploads and its windows have at a time.
const MOST_BUFFERS: u64 = 64;

/// Runs without windows: under validation if there is a stack, else with a check of memory.
///
/// # Errors
/// When the program fails or grows, or the layer reports a message.
pub(crate) fn headless(stack: Option<&Stack>, program: &Path, dose: Dose) -> Result<String> {
    run(stack, program, dose, None)
}

/// Runs in windows, with fewer frames under validation.
///
/// # Errors
/// As [`headless`].
pub(crate) fn in_windows(stack: Option<&Stack>, program: &Path, dose: Dose) -> Result<String> {
    let server = Xvfb::start()?;
    let most = stack.map_or(u64::MAX, |_| MOST_VALIDATED);
    let frames = dose.frames.min(most);
    run(stack, program, Dose { frames, ..dose }, Some(&server))
}

/// Whether the run is long enough for a check of memory.
pub(crate) fn is_weighed(dose: Dose) -> bool {
    dose.frames >= JUDGED_FRAMES
}

fn run(stack: Option<&Stack>, program: &Path, dose: Dose, server: Option<&Xvfb>) -> Result<String> {
    let name = match (server, stack) {
        (Some(_), Some(_)) => "soak-windows",
        (None, Some(_)) => "soak",
        (Some(_), None) => "soak-windows-weighed",
        (None, None) => "soak-weighed",
    };
    let path = paths::target("verify").join(format!("{name}.report.json"));
    examples::forget(&path)?;
    let mut command = stack.map_or_else(|| Command::new(program), |stack| stack.command(program));
    command
        .current_dir(paths::root())
        .args(["--frames", &dose.frames.to_string()])
        .args(["--seed", &dose.seed.to_string(), "--report"])
        .arg(&path);
    match server {
        Some(server) => command
            .env("DISPLAY", &server.display)
            .env_remove("WAYLAND_DISPLAY"),
        None => command.arg("--headless"),
    };
    let mut running = Running::start(name, &mut command)?;
    follow(&mut running);
    let frames = u32::try_from(dose.frames).unwrap_or(u32::MAX);
    let status = running.wait(START + SLOWEST_FRAME.saturating_mul(frames))?;
    let failed = || format!("seed {}: it ended with {status}", dose.seed);
    ensure!(status.success(), "{}\n{}", failed(), running.tail());
    if stack.is_some() {
        validation::check_silence(name, &running.output())?;
    }
    let is_weighed = stack.is_none() && is_weighed(dose);
    let report = match stack {
        Some(_) => Report::read(&path)?,
        None => Report::read_unvalidated(&path)?,
    };
    judge(&report, dose, is_weighed).with_context(|| format!("seed {}", dose.seed))
}

/// Prints the progress until the program ends, is interrupted, or prints nothing new for too long.
fn follow(running: &mut Running) {
    let mut printed = String::new();
    let mut silent = Duration::ZERO;
    while running.is_alive() && !process::interrupted() && silent < START {
        thread::sleep(POLL);
        silent += POLL;
        let output = running.output();
        let now = output
            .lines()
            .rev()
            .find_map(|line| Some(line.split_once("soak: ")?.1.trim()));
        if let Some(now) = now.filter(|now| *now != printed) {
            println!("    {now}");
            now.clone_into(&mut printed);
            silent = Duration::ZERO;
        }
    }
}

fn judge(report: &Report, dose: Dose, is_weighed: bool) -> Result<String> {
    let drawn = report.number("frames")?;
    ensure!(
        drawn * 2 > dose.frames,
        "only {drawn} frames were drawn of {}",
        dose.frames
    );
    let retired = report.number("most_retired")?;
    ensure!(
        retired <= MOST_RETIRED,
        "{retired} old swapchains of one window"
    );
    let beyond = report.number("semaphores_beyond")?;
    ensure!(
        beyond == 0,
        "{beyond} semaphores more than images, frames in flight and 2"
    );
    let buffers = report.numbers("highest_buffer")?;
    let most = buffers.iter().copied().max().unwrap_or(0);
    ensure!(most < MOST_BUFFERS, "{most} buffers at a time");
    let events = [
        "resizes", "windows", "buffers", "reloads", "changed", "refused",
    ]
    .map(|name| Ok(format!("{} {name}", report.number(name)?)));
    let events: Vec<String> = events.into_iter().collect::<Result<_>>()?;
    let memory = growth(&report.numbers("resident_kib")?)?;
    let entities = growth(&report.numbers("entities")?)?;
    for (what, [early, late], more, is_judged) in [
        ("KiB resident", memory, 0, is_weighed),
        ("entities", entities, SECOND_WINDOW, self::is_weighed(dose)),
    ] {
        ensure!(
            !is_judged || late <= early + early / GROWTH + more,
            "{late} {what} in the end, and {early} after warming up"
        );
    }
    Ok(format!(
        "seed {}, {drawn} frames, {}; {} KiB resident early, {} late; {} entities, {}; at most \
         {most} buffers and {retired} old swapchains of a window",
        dose.seed,
        events.join(", "),
        memory[0],
        memory[1],
        entities[0],
        entities[1]
    ))
}

/// Returns the medians of the second and of the last fifth.
fn growth(samples: &[u64]) -> Result<[u64; 2]> {
    let fifth = samples.len() / 5;
    ensure!(fifth > 0, "only {} samples", samples.len());
    let median = |part: &[u64]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part[part.len() / 2]
    };
    let late = &samples[samples.len() - fifth..];
    Ok([median(&samples[fifth..2 * fifth]), median(late)])
}

#[cfg(test)]
mod tests;
