//! Frames that wait for the display to show earlier ones, with a display that is slow, silent or failing.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::program::{Fault, Program};
use crate::host::paths;
use crate::scenarios::examples;
use crate::setup::layer;

/// Number of frames of a run. The program resizes its window every ten frames.
const FRAMES: u32 = 40;
/// Swapchains of such a run: the first, and one per size.
const CHAINS: usize = 5;
/// Number of timeouts after which a swapchain is no longer waited for.
const MOST_MISSES: usize = 3;

/// Scripts of displays: late, silent, failing.
const DISPLAYS: [&str; 10] = [
    "# shows everything at once",
    "shown late=5 every=1",
    "shown never from=8",
    "shown never every=3",
    "vkWaitForPresentKHR every=3 -> VK_TIMEOUT",
    "vkWaitForPresentKHR every=2 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "vkWaitForPresentKHR nth=5 -> VK_ERROR_OUT_OF_DATE_KHR",
    "vkWaitForPresentKHR nth=5 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkWaitForPresentKHR nth=5 -> VK_ERROR_DEVICE_LOST",
    "vkQueuePresentKHR every=4 -> VK_ERROR_OUT_OF_DATE_KHR\nshown late=5 every=2",
];

impl Program<'_> {
    /// Runs all displays.
    ///
    /// # Errors
    /// When the program fails, never waits, or times out too often.
    pub(crate) fn paced_by_display(&self) -> Result<String> {
        let mut waits = 0;
        for display in DISPLAYS {
            let fault = Fault {
                script: display.to_owned(),
                frames: FRAMES,
                families: "gct:1,ct:1,t:1",
                fences: true,
                environment: vec![
                    ("QUADRILLE_LAYER_PRESENT_WAIT", "1"),
                    ("QUADRILLE_FAULT_PACE_BY_DISPLAY", "1"),
                ],
            };
            let log = paths::target("verify").join("faults.display.json");
            examples::forget(&log)?;
            self.run("faults-display", &fault, Some(&log))
                .with_context(|| format!("{display:?}"))?;
            let text = fs::read_to_string(&log).context("no log")?;
            let results = results(&text)?;
            ensure!(!results.is_empty(), "{display:?}: nothing is waited for");
            let vain = results.iter().filter(|result| *result == "TIMEOUT").count();
            // A displayed present in between makes up for timeouts.
            let most = if display.contains("every=") {
                results.len()
            } else {
                CHAINS * MOST_MISSES
            };
            ensure!(vain <= most, "{display:?}: {vain} waits in vain");
            waits += results.len();
        }
        Ok(format!("{} displays, {waits} waits", DISPLAYS.len()))
    }
}

/// Reads the results of the waits from a log.
fn results(log: &str) -> Result<Vec<String>> {
    let mut results = Vec::new();
    for entry in layer::entries(log) {
        let entry = entry?;
        if entry["call"] == "vkWaitForPresentKHR" {
            results.push(entry["result"].as_str().unwrap_or_default().to_owned());
        }
    }
    Ok(results)
}
