//! Checks for unnecessary synchronization by the test layer's log: with one family there are no ownership transfers,
//! and with one queue no semaphore waits except those for swapchain images.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::host::paths;
use crate::host::xvfb::Xvfb;
use crate::scenarios::examples;
use crate::setup::layer::{self, Layer};
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(180);

/// Enough for plans to be reused, and for each image of a swapchain to be acquired again.
const FRAMES: &str = "40";

/// Synchronization calls of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Barriers that release or acquire ownership.
    transfers: u64,
    /// Submissions, counted by call.
    submits: u64,
    /// Semaphores that submissions wait for.
    waits: u64,
    /// Images acquired from swapchains, each with a semaphore.
    images: u64,
}

impl Counts {
    /// Counts the calls in a log of the test layer.
    fn parse(log: &str) -> Result<Self> {
        let mut counts = Self::default();
        for entry in layer::entries(log) {
            let entry = entry?;
            let number = |key: &str| entry[key].as_u64().unwrap_or(0);
            counts.transfers += number("transfers");
            match entry["call"].as_str().unwrap_or_default() {
                "vkQueueSubmit" | "vkQueueSubmit2" => {
                    counts.submits += 1;
                    counts.waits += number("waits");
                }
                "vkAcquireNextImageKHR" => {
                    let result = entry["result"].as_str().unwrap_or_default();
                    counts.images += u64::from(["SUCCESS", "SUBOPTIMAL_KHR"].contains(&result));
                }
                _ => {}
            }
        }
        Ok(counts)
    }
}

/// Counts the calls of `life` on one queue, on several queues of one family, on two families, and on one queue in a
/// window.
///
/// # Errors
/// When there are unnecessary calls, or when two families show none, in which case the counts prove nothing.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let headless = |families: &str| {
        run(stack, program, (layer, families), |command| {
            command.arg("--headless");
        })
    };
    let one = headless("gct:1")?;
    ensure!(
        (one.transfers, one.waits) == (0, 0),
        "one queue needs no transfer and no wait: {one:?}"
    );
    let family = headless("gct:4")?;
    ensure!(
        family.transfers == 0,
        "one family needs no transfer: {family:?}"
    );
    let two = headless("gct:1,ct:1")?;
    ensure!(
        two.transfers > 0 && two.waits > 0,
        "two families need transfers and waits, or counting is blind: {two:?}"
    );
    let server = Xvfb::start()?;
    let window = run(stack, program, (layer, "gct:1"), |command| {
        command
            .env("DISPLAY", &server.display)
            .env_remove("WAYLAND_DISPLAY");
    })?;
    ensure!(
        window.images > 0 && window.transfers == 0 && window.waits <= window.images,
        "one queue waits for swapchain images alone: {window:?}"
    );
    Ok(format!(
        "0 transfers and 0 waits in {} submissions on one queue, {} waits for {} images in a \
         window; {} transfers and {} waits on two families",
        one.submits, window.waits, window.images, two.transfers, two.waits
    ))
}

/// Runs the program and counts its calls.
fn run(
    stack: &Stack,
    program: &Path,
    (layer, families): (&Layer, &str),
    set_up: impl FnOnce(&mut Command),
) -> Result<Counts> {
    let log = paths::target("verify").join("counts.calls.json");
    examples::forget(&log)?;
    let mut command = stack.command(program);
    command
        .current_dir(paths::root())
        .args(["--size", "128x128", "--frames", FRAMES])
        .env("QUADRILLE_LAYER_LOG", &log);
    layer.apply(&mut command, families);
    set_up(&mut command);
    validation::run("counts", &mut command, LIMIT)?;
    let text = fs::read_to_string(&log).with_context(|| format!("no log {}", log.display()))?;
    let counts = Counts::parse(&text)?;
    ensure!(counts.submits > 0, "the layer saw no submission");
    Ok(counts)
}

#[cfg(test)]
mod tests;
