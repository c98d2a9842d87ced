//! What a frame tells the driver, counted by the test layer below the program.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Bench;
use crate::{examples, place};

/// Runs of different length; what the longer one has more belongs to frames in the steady state.
const FRAMES: [u64; 2] = [20, 30];

/// Calls, and barriers in them.
pub(crate) type Calls = BTreeMap<String, u64>;

/// What a report calls it, and what the log does.
const NAMES: [(&str, &str); 4] = [
    ("barrier_calls", "vkCmdPipelineBarrier2"),
    ("barriers", BARRIERS),
    ("submissions", "vkQueueSubmit2"),
    ("command_buffers", "vkBeginCommandBuffer"),
];

/// Barriers, which are no calls.
const BARRIERS: &str = "barriers";

/// Counts the calls of a frame at n = 100, and compares them with what the program says.
///
/// # Errors
/// When the program fails, its log cannot be read, or the two disagree.
pub(super) fn count(bench: &Bench, mode: &str) -> Result<String> {
    let run = |frames: u64| -> Result<(Value, Calls)> {
        let folder = place::made("bench");
        let make = || format!("cannot make {}", folder.display());
        std::fs::create_dir_all(&folder).with_context(make)?;
        let log = folder.join("calls.json");
        examples::forget(&log)?;
        let frames = frames.to_string();
        let arguments = ["--n", "100", "--alone", "--mode", mode, "--frames", &frames];
        let (line, log) = bench.log(&arguments, &log)?;
        let line = serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
        Ok((line, parse(&log)?))
    };
    let [short, long] = FRAMES;
    let ((_, fewer), (line, more)) = (run(short)?, run(long)?);
    let agreed = agree(&line, &difference(&more, &fewer), long - short)?;
    Ok(format!("{mode}, n = 100, {agreed}"))
}

/// What one log has more than another.
pub(crate) fn difference(more: &Calls, fewer: &Calls) -> Calls {
    let less = |name: &String| fewer.get(name).copied().unwrap_or(0);
    let calls = more.iter();
    calls
        .map(|(name, count)| (name.clone(), count.saturating_sub(less(name))))
        .collect()
}

/// Compares what a program says of a frame with what the layer has counted in so many.
///
/// # Errors
/// When they disagree, or the layer has counted nothing.
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

/// How often each call is in a log.
pub(crate) fn parse(log: &str) -> Result<Calls> {
    let mut calls = Calls::new();
    for line in log.lines() {
        let entry: Value =
            serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
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
