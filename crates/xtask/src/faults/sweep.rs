//! The sweep: every call fails once, from instance creation to exit, each in a separate run.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};

use super::program::{Fault, Program};
use crate::host::paths;
use crate::scenarios::examples;
use crate::setup::layer;

/// Number of failing calls per command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The first and the last call.
    Sample,
    /// All calls.
    Whole,
}

/// Result with which any call fails.
const OUT_OF_MEMORY: &str = "VK_ERROR_OUT_OF_HOST_MEMORY";

/// Result with which calls of [`MAY_LOSE`] fail as well.
const LOST: &str = "VK_ERROR_DEVICE_LOST";

/// Commands that may return [`LOST`], by the return codes in the specification.
const MAY_LOSE: [&str; 14] = [
    "vkAcquireNextImageKHR",
    "vkCreateDevice",
    "vkCreateSwapchainKHR",
    "vkDeviceWaitIdle",
    "vkGetFenceStatus",
    "vkGetQueryPoolResults",
    "vkGetSemaphoreCounterValue",
    "vkQueuePresentKHR",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueWaitIdle",
    "vkWaitForFences",
    "vkWaitForPresentKHR",
    "vkWaitSemaphores",
];

/// The wait for timelines.
const WAIT: &str = "vkWaitSemaphores";

/// Number of consecutive waits that return early.
const LATE: u64 = 5;

/// Number of frames of a run.
const FRAMES: u32 = 3;
const FAMILIES: &str = "gct:1,ct:1,t:1";

impl Program<'_> {
    /// Fails calls one by one.
    ///
    /// # Errors
    /// When the program does not survive a failed call; the error names the call.
    pub(crate) fn sweep(&self, depth: Depth) -> Result<String> {
        let fault = |script| Fault {
            script,
            frames: FRAMES,
            families: FAMILIES,
            fences: true,
            environment: Vec::new(),
        };
        let log = paths::target("verify").join("faults.calls.json");
        examples::forget(&log)?;
        self.run("faults-calls", &fault(String::new()), Some(&log))?;
        let text = fs::read_to_string(&log).with_context(|| format!("no {}", log.display()))?;
        let counts = count(&text)?;
        ensure!(counts.len() > 20, "the layer saw only {counts:?}");
        let faults: Vec<_> = scripts(&counts, depth).into_iter().map(fault).collect();
        let outputs = self.run_all(&faults)?;
        for (fault, output) in faults.iter().zip(&outputs) {
            check_named(&fault.script, output)?;
        }
        Ok(format!(
            "{} runs, in each of which one call fails; {} commands",
            faults.len(),
            counts.len()
        ))
    }
}

impl Program<'_> {
    /// Returns impossible counter values from each wait in turn on, as some drivers do when the device is lost. This
    /// device is not lost, and continues: nothing may be destroyed before a wait has proven that its work is complete.
    /// The validation layer trusts counters, so these runs are checked by the log instead.
    ///
    /// # Errors
    /// When the program does not survive a run, or destroys command pools without proof.
    pub(crate) fn wrong_counters(&self) -> Result<String> {
        let log = paths::target("verify").join("faults.counters.json");
        let logged = |script: String| -> Result<(String, String)> {
            let fault = Fault {
                script,
                frames: 2 * FRAMES,
                families: "gct:1",
                fences: true,
                environment: Vec::new(),
            };
            examples::forget(&log)?;
            let output = self.run("faults-counters", &fault, Some(&log))?;
            let text = fs::read_to_string(&log).with_context(|| format!("no {}", log.display()))?;
            Ok((output, text))
        };
        let (_, text) = logged(String::new())?;
        let waits = count(&text)?.get(WAIT).copied().unwrap_or_default();
        ensure!(waits > 1, "the program waits {waits} times for a timeline");
        for script in (1..=waits).map(wrong_counter) {
            let run = logged(script.clone()).and_then(|(output, text)| {
                check_named(&script, &output)?;
                check_proof(&text)
            });
            run.context(script)?;
        }
        Ok(format!("{waits} runs, one for each wait"))
    }
}

/// Checks that the program names the call that lost the device, if there was one: the call that failed, not the one
/// that detected it.
fn check_named(script: &str, output: &str) -> Result<()> {
    let call = match script.split_whitespace().next().unwrap_or_default() {
        "counter" => "vkGetSemaphoreCounterValue",
        call => call,
    };
    let named = output
        .lines()
        .filter_map(|line| line.split_once("the device is lost: "));
    for (_, name) in named {
        ensure!(
            name.starts_with(&format!("{call} ")),
            "{script}: the program says {name}"
        );
    }
    Ok(())
}

/// Returns the commands that return a result, with their number of calls.
fn count(log: &str) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for entry in layer::entries(log) {
        let entry = entry?;
        let (Some(call), Some(nth)) = (entry["call"].as_str(), entry["nth"].as_u64()) else {
            continue;
        };
        if entry["result"].is_string() {
            let count: &mut u64 = counts.entry(call.to_owned()).or_default();
            *count = nth.max(*count);
        }
    }
    Ok(counts)
}

/// Script: from a wait on, counters are too high, and waits return early for a while.
fn wrong_counter(nth: u64) -> String {
    let last = nth + LATE;
    format!("counter max waits={nth}\n{WAIT} from={nth} to={last} -> VK_TIMEOUT\n")
}

/// Checks that an unmodified wait has returned between the last submission to the only queue of a run and the
/// destruction of its command buffers.
fn check_proof(log: &str) -> Result<()> {
    let mut is_proven = true;
    for entry in layer::entries(log) {
        let entry = entry?;
        let is_done = entry["result"] == "SUCCESS" && entry["injected"].is_null();
        match entry["call"].as_str().unwrap_or_default() {
            "vkQueueSubmit2" => is_proven = false,
            WAIT | "vkQueueWaitIdle" => is_proven |= is_done,
            "vkDestroyCommandPool" => ensure!(is_proven, "a command pool in use is destroyed"),
            _ => {}
        }
    }
    Ok(())
}

fn scripts(counts: &BTreeMap<String, u64>, depth: Depth) -> Vec<String> {
    let mut scripts = Vec::new();
    for (call, &count) in counts {
        let mut fail =
            |nth: u64, result: &str| scripts.push(format!("{call} nth={nth} -> {result}\n"));
        let may_lose = MAY_LOSE.contains(&call.as_str());
        match depth {
            Depth::Sample => {
                fail(1, OUT_OF_MEMORY);
                if may_lose {
                    fail(count, LOST);
                } else if count > 1 {
                    fail(count, OUT_OF_MEMORY);
                }
            }
            Depth::Whole => {
                for nth in 1..=count {
                    fail(nth, OUT_OF_MEMORY);
                    if may_lose {
                        fail(nth, LOST);
                    }
                }
            }
        }
    }
    scripts
}

#[cfg(test)]
mod tests;
