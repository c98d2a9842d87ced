//! Windows without area, like minimized ones on some systems: nothing is drawn, the frame rate is limited, and drawing
//! continues when they have an area again.
//!
//! Checked by counts: at most a hundred frames begin per second, and none submits, acquires, presents or allocates.
//! Their CPU time is only reported, because it is that of an unoptimized program on a shared machine.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::host::paths;
use crate::host::process;
use crate::host::xvfb::Xvfb;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::layer::{self, Layer};
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(180);
/// Number of windows of the program; each is queried for its size in each of these frames.
const WINDOWS: u64 = 3;
const FRAMES: u64 = 500;
/// Number of frames with an area, after that.
const MORE_FRAMES: u64 = 60;
/// Minimum duration of a frame without anything to draw: at most a hundred frames per second.
const LEAST_FRAME: Duration = Duration::from_millis(10);
/// Number of frames of a window until it must be presented again, including those until the first image.
const MOST_LATE: u64 = 10;

/// Calls that must not occur in frames without anything to draw.
const IDLE: [&str; 5] = [
    "vkQueueSubmit2",
    "vkAcquireNextImageKHR",
    "vkQueuePresentKHR",
    "vkAllocateMemory",
    "vkQueueWaitIdle",
];
/// A query that each window makes in each frame.
const QUERY: &str = "vkGetPhysicalDeviceSurfaceCapabilitiesKHR";

/// Runs `windows`, at first without area.
///
/// # Errors
/// When it is not idle without area, makes calls meanwhile, or does not draw afterwards.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let server = Xvfb::start()?;
    let folder = paths::target("verify");
    let file = |end: &str| folder.join(format!("minimised.{end}"));
    let (path, script, log) = (file("report.json"), file("script.txt"), file("log.json"));
    examples::forget(&path)?;
    examples::forget(&log)?;
    // The first query of each window is for its formats.
    let queries = WINDOWS * (FRAMES + 1);
    fs::write(&script, format!("extent from=1 to={queries} 0x0\n"))
        .with_context(|| format!("cannot write {}", script.display()))?;
    let mut command = stack.command(program);
    command
        .current_dir(paths::root())
        .args(["--frames", &(FRAMES + MORE_FRAMES).to_string(), "--report"])
        .arg(&path)
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY")
        .env("QUADRILLE_LAYER_SCRIPT", &script)
        .env("QUADRILLE_LAYER_LOG", &log);
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
    check_rest(&fs::read_to_string(&log).context("no log")?)?;
    let cost = cost(program, layer, &server)?;
    Ok(format!(
        "{FRAMES} frames at rest, then {shown:?} of {MORE_FRAMES} shown; at rest, {cost}"
    ))
}

/// Checks that nothing is done before the first window has an area.
fn check_rest(log: &str) -> Result<()> {
    let mut queries = 0;
    for entry in layer::entries(log) {
        let entry = entry?;
        let call = entry["call"].as_str().unwrap_or_default();
        if call == "vkCreateSwapchainKHR" {
            break;
        }
        ensure!(!IDLE.contains(&call), "a frame at rest calls {call}");
        queries += u64::from(call == QUERY);
    }
    ensure!(
        queries >= WINDOWS * FRAMES,
        "only {queries} queries in {FRAMES} frames"
    );
    Ok(())
}

/// Measures the CPU time of idle frames in a separate run without validation, including start and exit. Returns a
/// sentence.
fn cost(program: &Path, layer: &Layer, server: &Xvfb) -> Result<String> {
    let script = paths::target("verify").join("minimised.script.txt");
    fs::write(&script, "extent from=1 0x0\n")
        .with_context(|| format!("cannot write {}", script.display()))?;
    // The shell reports the CPU time of its children.
    let mut command = Command::new("sh");
    command
        .current_dir(paths::root())
        .args(["-c", "\"$@\" && times", "sh"])
        .arg(program)
        .args(["--frames", &FRAMES.to_string()])
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY")
        .env("QUADRILLE_LAYER_SCRIPT", &script);
    layer.apply(&mut command, "gct:1,ct:1,t:1");
    let start = Instant::now();
    let output = process::run("minimised-cost", &mut command, LIMIT)?;
    let (took, used) = (start.elapsed(), children(&output)?);
    Ok(format!(
        "{FRAMES} take {:.1} s of the processor in {:.1} s",
        used.as_secs_f64(),
        took.as_secs_f64()
    ))
}

/// Reads the CPU time of children from the last line of the shell's `times`: `0m1.49s 0m0.19s`, for the
/// program and for the system.
fn children(output: &str) -> Result<Duration> {
    let line = output.lines().last().context("no times")?;
    let seconds = |word: &str| {
        let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let used: Option<f64> = line.split_whitespace().map(seconds).sum();
    let used = used.with_context(|| format!("no times: {line}"))?;
    Ok(Duration::from_secs_f64(used))
}

#[cfg(test)]
mod tests {
    use super::{FRAMES, WINDOWS, check_rest, children};

    #[test]
    fn work_at_rest_is_noticed() {
        let call = |name| format!("{{\"call\":\"{name}\"}}\n");
        let queries = call(super::QUERY).repeat((WINDOWS * FRAMES) as usize);
        let made = call("vkCreateSwapchainKHR");
        let work = call("vkQueueSubmit2");
        assert!(
            check_rest(&(queries.clone() + &made + &work)).is_ok(),
            "later"
        );
        assert!(check_rest(&(work + &queries + &made)).is_err(), "at rest");
        assert!(check_rest(&made).is_err(), "no frames");
    }

    #[test]
    fn times_of_children_are_read() {
        let text = "a line\n0m0.000000s 0m0.000000s\n1m1.490000s 0m0.190000s\n";
        assert_eq!(
            children(text).map(|used| used.as_millis()).ok(),
            Some(61_680)
        );
        assert!(children("").is_err(), "nothing");
        assert!(children("no times").is_err(), "something else");
    }
}
