//! What a frame tells the driver, counted by the test layer below the program.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Bench;
use crate::{examples, place};

/// Runs of different length; what the longer one has more belongs to frames in the steady state.
const FRAMES: [&str; 2] = ["20", "30"];

/// Calls, and barriers in them.
pub(super) type Calls = BTreeMap<String, u64>;

/// Counts the calls of a frame at n = 100.
///
/// # Errors
/// When the program fails, or its log cannot be read.
pub(super) fn count(bench: &Bench, mode: &str) -> Result<String> {
    let mut runs = Vec::new();
    for frames in FRAMES {
        let log = place::made("bench").join("calls.json");
        examples::forget(&log)?;
        let arguments = ["--n", "100", "--alone", "--mode", mode, "--frames", frames];
        runs.push(parse(&bench.log(&arguments, &log)?)?);
    }
    let of = |run: usize, key: &str| runs[run].get(key).copied().unwrap_or(0) as f64;
    let a_frame = |key: &str| (of(1, key) - of(0, key)) / 10.0;
    Ok(format!(
        "{mode}, n = 100, by the layer's count: {} barrier calls with {} barriers, {} submissions, \
         {} command buffers a frame",
        a_frame("vkCmdPipelineBarrier2"),
        a_frame("barriers"),
        a_frame("vkQueueSubmit2"),
        a_frame("vkBeginCommandBuffer"),
    ))
}

/// How often each call is in a log.
pub(super) fn parse(log: &str) -> Result<Calls> {
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
            *calls.entry("barriers".to_owned()).or_default() +=
                number("memory") + number("buffers") + number("images");
        }
    }
    Ok(calls)
}
