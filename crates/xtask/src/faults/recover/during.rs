//! Loss of the device, and of its replacement during creation, reported by one of the calls.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::game::{FRAMES, Game, LIMIT};
use crate::faults::sweep::Depth;
use crate::host::paths;
use crate::scenarios::examples;
use crate::setup::layer;
use crate::setup::validation;

const LOSS: &str = "lost nth=40";
/// Result of the failed call.
const RESULT: &str = "VK_ERROR_DEVICE_LOST";
/// Stride of a sample: every fifth call.
const SAMPLE: usize = 5;

/// Fails the first call of each kind in a recovery, each in a separate run. The program must recover anyway, or exit at
/// once with an error, without a panic, a hang or a leak.
pub(super) fn check(game: &Game<'_>, depth: Depth) -> Result<String> {
    let calls = calls(game)?;
    ensure!(calls.len() > 10, "the recovery makes only {calls:?}");
    let every = match depth {
        Depth::Sample => SAMPLE,
        Depth::Whole => 1,
    };
    let (mut runs, mut ends) = (0, 0);
    for (call, nth) in calls.iter().step_by(every) {
        runs += 1;
        ends += game.ends(&format!("{LOSS}\n{call} nth={nth} -> {RESULT}"), None)?;
    }
    Ok(format!("{runs} runs, {ends} of which end with an error"))
}

/// Returns the calls of a recovery that can report a loss: the first of each command between the creation of the second
/// device and its first submission. Excludes queries of the physical device, which cannot report a loss and some of
/// which the validation layer makes itself.
fn calls(game: &Game<'_>) -> Result<Vec<(String, u64)>> {
    let log = paths::target("verify").join("recover.calls.json");
    examples::forget(&log)?;
    let (mut command, _) = game.command(LOSS, FRAMES)?;
    command.arg("--headless").env("QUADRILLE_LAYER_LOG", &log);
    validation::run("recover-calls", &mut command, LIMIT)?;
    let text = fs::read_to_string(&log).with_context(|| format!("no {}", log.display()))?;
    let mut calls: Vec<(String, u64)> = Vec::new();
    let mut devices = 0;
    for entry in layer::entries(&text) {
        let entry = entry?;
        let (Some(call), Some(nth)) = (entry["call"].as_str(), entry["nth"].as_u64()) else {
            continue;
        };
        devices += usize::from(call == "vkCreateDevice");
        let is_known = calls.iter().any(|(known, _)| known == call);
        let can_tell = entry["result"].is_string() && !call.starts_with("vkGetPhysicalDevice");
        if devices == 2 && can_tell && !is_known {
            calls.push((call.to_owned(), nth));
        }
        if devices == 2 && call == "vkQueueSubmit2" {
            break;
        }
    }
    Ok(calls)
}
