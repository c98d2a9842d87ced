//! Every call fails once: from the making of the instance to the end, one run for each.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Fault, Program};
use crate::{examples, place};

/// How many calls of each command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The first and the last.
    Sample,
    /// All.
    Whole,
}

/// What any call fails with.
const OUT_OF_MEMORY: &str = "VK_ERROR_OUT_OF_HOST_MEMORY";

/// What calls of [`MAY_LOSE`] fail with as well.
const LOST: &str = "VK_ERROR_DEVICE_LOST";

/// The commands that may return [`LOST`], as the specification lists their return codes.
const MAY_LOSE: [&str; 16] = [
    "vkAcquireNextImage2KHR",
    "vkAcquireNextImageKHR",
    "vkCreateDevice",
    "vkCreateSwapchainKHR",
    "vkDeviceWaitIdle",
    "vkGetEventStatus",
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

/// Frames of a run.
const FRAMES: u32 = 3;
const FAMILIES: &str = "gct:1,ct:1,t:1";

impl Program<'_> {
    /// Fails calls one after the other.
    ///
    /// # Errors
    /// When the program does not survive one; the call is named.
    pub(crate) fn sweep(&self, depth: Depth) -> Result<String> {
        let fault = |script| Fault {
            script,
            frames: FRAMES,
            families: FAMILIES,
            fences: true,
            environment: Vec::new(),
        };
        let log = place::made("verify").join("faults.calls.json");
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

/// Whether the program names the call that has lost the device, if one has: the one that failed, not
/// the one that noticed.
fn check_named(script: &str, output: &str) -> Result<()> {
    let call = script.split_whitespace().next().unwrap_or_default();
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

/// The commands that return a result, and how often they were called.
fn count(log: &str) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for line in log.lines() {
        let entry: Value =
            serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
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
