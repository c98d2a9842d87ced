//! Vulkan calls per frame, counted by the test layer below the program.

use std::collections::BTreeMap;

use crate::setup::layer;
use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Number of calls by command, including barriers.
pub(crate) type Calls = BTreeMap<String, u64>;

/// Names of counts in reports, with the names in the log.
const NAMES: [(&str, &str); 4] = [
    ("barrier_calls", "vkCmdPipelineBarrier2"),
    ("barriers", BARRIERS),
    ("submissions", "vkQueueSubmit2"),
    ("command_buffers", "vkBeginCommandBuffer"),
];

/// Key of barriers, which are not calls.
const BARRIERS: &str = "barriers";

/// Subtracts the calls of one log from those of another.
pub(crate) fn difference(more: &Calls, fewer: &Calls) -> Calls {
    let less = |name: &String| fewer.get(name).copied().unwrap_or(0);
    let calls = more.iter();
    calls
        .map(|(name, count)| (name.clone(), count.saturating_sub(less(name))))
        .collect()
}

/// Compares a program's numbers for one frame with the layer's counts for `frames` frames.
///
/// # Errors
/// When they differ, or the layer has counted nothing.
pub(crate) fn agree(line: &Value, calls: &Calls, frames: u64) -> Result<String> {
    let mut agreed = Vec::new();
    for (said, counted) in NAMES {
        let count = calls.get(counted).copied().unwrap_or(0);
        ensure!(count > 0, "the layer has counted no {counted}");
        let value = line[said]
            .as_u64()
            .with_context(|| format!("`{said}` is {}, and must be a number", line[said]))?;
        ensure!(
            value * frames == count,
            "`{said}` is {value}, but the layer has counted {count} in {frames} frames"
        );
        agreed.push(format!("{value} {}", said.replace('_', " ")));
    }
    let agreed = agreed.join(", ");
    Ok(format!("{agreed} a frame, also by the layer's count"))
}

/// Returns the number of calls by command in a log.
pub(crate) fn parse(log: &str) -> Result<Calls> {
    let mut calls = Calls::new();
    for entry in layer::entries(log) {
        let entry = entry?;
        let Some(call) = entry["call"].as_str() else {
            continue;
        };
        *calls.entry(call.to_owned()).or_default() += 1;
        if call == "vkCmdPipelineBarrier2" {
            let number = |key: &str| entry[key].as_u64().unwrap_or(0);
            *calls.entry(BARRIERS.to_owned()).or_default() +=
                number("memory") + number("buffers") + number("images");
        }
    }
    Ok(calls)
}
