//! Loss of the device in examples: each recovers with the same image, or exits cleanly.

mod during;
mod game;
mod pictures;

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::faults::recover::game::{FRAMES, Game, check_frames};
use crate::faults::sweep::Depth;
use crate::host::xvfb::Xvfb;
use crate::setup::layer::Layer;
use crate::setup::validation::Stack;

pub(crate) use pictures::check as pictures;

/// Ways to lose the device once, in calls of frames without a window.
const HEADLESS: [&str; 4] = [
    "lost nth=40",
    "vkQueueSubmit2 nth=40 -> VK_ERROR_DEVICE_LOST",
    "vkWaitSemaphores nth=20 -> VK_ERROR_DEVICE_LOST",
    "vkGetSemaphoreCounterValue nth=30 -> VK_ERROR_DEVICE_LOST",
];

/// Three losses, with more frames in between than a recovered device needs to count as stable.
const THRICE: &str = "lost nth=40\nlost nth=110\nlost nth=180";
/// Number of frames: all three losses, and enough after the last one to recover.
const THRICE_FRAMES: u64 = 250;

/// Ways to lose the device in calls that are made only or mostly with windows.
const WINDOWED: [&str; 6] = [
    "lost nth=40",
    "vkQueuePresentKHR nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkAcquireNextImageKHR nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkGetFenceStatus nth=50 -> VK_ERROR_DEVICE_LOST",
    "vkCreateSwapchainKHR nth=2 -> VK_ERROR_DEVICE_LOST",
    TROUBLE,
];

/// Problems of windows besides the loss: each third image is suboptimal, a surface is lost, and after the recovery
/// three windows have no area for ten frames.
const TROUBLE: &str = "lost nth=40\n\
    vkAcquireNextImageKHR every=3 -> VK_SUBOPTIMAL_KHR\n\
    vkQueuePresentKHR nth=20 -> VK_ERROR_SURFACE_LOST_KHR\n\
    extent from=60 to=89 0x0";

/// Additions to [`TROUBLE`] that lose the device again while it is created.
const TROUBLE_AT_ONCE: [&str; 2] = [
    "vkCreateDevice nth=2 -> VK_ERROR_DEVICE_LOST",
    "vkCreateSwapchainKHR from=12 -> VK_ERROR_DEVICE_LOST",
];

/// Ways to lose the device permanently: again soon after, and during the recovery.
const FINAL: [&str; 6] = [
    "lost nth=40\nlost nth=60",
    "lost nth=40\nlost nth=41",
    "lost nth=40\nvkCreateDevice nth=2 -> VK_ERROR_INITIALIZATION_FAILED",
    "lost nth=40\nvkCreateShaderModule from=2 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "lost nth=40\nlost nth=105\nvkCreateDevice nth=3 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "lost nth=40\nlost nth=105\nvkAllocateMemory nth=3 -> VK_ERROR_OUT_OF_DEVICE_MEMORY",
];

/// Loses the device in all these ways, in the example `windows`.
///
/// # Errors
/// When the program fails, shows another image, or does not end; the error has the script.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let game = Game {
        stack,
        program,
        layer,
        arguments: &[],
    };
    let (plain, _) = game.picture("", FRAMES)?;
    for script in HEADLESS {
        let (picture, report) = game
            .picture(script, FRAMES)
            .with_context(|| format!("script {script:?}"))?;
        ensure!(picture == plain, "script {script:?}: another picture");
        check_frames(&report).with_context(|| format!("script {script:?}"))?;
    }
    let (plain, _) = game.picture("", THRICE_FRAMES)?;
    let (picture, _) = game.picture(THRICE, THRICE_FRAMES)?;
    ensure!(picture == plain, "script {THRICE:?}: another picture");
    let server = Xvfb::start()?;
    for script in WINDOWED {
        game.windowed(script, &server)
            .with_context(|| format!("script {script:?} in windows"))?;
    }
    for script in FINAL {
        let code = game.ends(script, None)?;
        ensure!(code == 1, "script {script:?}: it ended with {code}");
    }
    for script in TROUBLE_AT_ONCE {
        let script = format!("{TROUBLE}\n{script}");
        let code = game.ends(&script, Some(&server))?;
        ensure!(code == 1, "script {script:?}: it ended with {code}");
    }
    Ok(format!(
        "{} ways to come back from, {} to end by",
        HEADLESS.len() + 1 + WINDOWED.len(),
        FINAL.len() + TROUBLE_AT_ONCE.len()
    ))
}

/// Fails each kind of call once while the device is recreated.
///
/// # Errors
/// As [`check`].
pub(crate) fn during(stack: &Stack, program: &Path, layer: &Layer, depth: Depth) -> Result<String> {
    let game = Game {
        stack,
        program,
        layer,
        arguments: &[],
    };
    during::check(&game, depth)
}
