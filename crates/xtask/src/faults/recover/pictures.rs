//! Loss of the device in each example: the last image equals that of a run without the loss.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::game::Game;
use crate::setup::layer::Layer;
use crate::setup::validation::Stack;

/// Loses the device some frames after the start.
const SCRIPT: &str = "lost nth=30";

/// Number of frames within which the image has to be equal again.
const FRAMES: u64 = 60;

/// Behavior of an example after a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Continues: its image depends only on CPU data, or is recomputed.
    GoesOn,
    /// Restarts: its data was only on the device.
    BeginsAgain,
}

/// The examples with an image, with their arguments.
const RUNS: [(&str, &[&str], Then); 17] = [
    ("triangle", &[], Then::GoesOn),
    ("turns", &[], Then::GoesOn),
    ("compositor", &[], Then::GoesOn),
    ("windows", &[], Then::GoesOn),
    ("life", &[], Then::GoesOn),
    ("life", &["--worker"], Then::GoesOn),
    ("post_process", &[], Then::GoesOn),
    ("post_process", &["--runtime"], Then::GoesOn),
    ("overlap", &["--steps", "20"], Then::GoesOn),
    ("accesses", &[], Then::GoesOn),
    ("many_cubes", &["--cubes", "4000"], Then::GoesOn),
    ("scene3d", &["--shadow-map", "64"], Then::GoesOn),
    ("materials", &["--shadow-map", "64"], Then::GoesOn),
    ("shaders", &[], Then::GoesOn),
    ("viewer", &[], Then::GoesOn),
    ("breakout", &["--autoplay"], Then::GoesOn),
    ("swarm", &["--enemies", "5000"], Then::BeginsAgain),
];

/// The examples without a comparable image: one measures, one is random, and the device of one's second process would be
/// lost as well.
const WITHOUT: [&str; 3] = ["frame_bench", "soak", "shared"];

/// Compares all examples; `programs` are their paths by name.
///
/// # Errors
/// When one does not recover, or shows another image; when an example is not listed here.
pub(crate) fn check(
    stack: &Stack,
    programs: &[(String, PathBuf)],
    layer: &Layer,
) -> Result<String> {
    for (name, _) in programs {
        let is_listed = RUNS.iter().any(|(run, ..)| run == name);
        ensure!(
            is_listed || WITHOUT.contains(&name.as_str()),
            "the example `{name}` is not among those whose device is lost"
        );
    }
    for (name, arguments, then) in RUNS {
        let program = programs.iter().find(|(known, _)| known == name);
        let (_, program) = program.with_context(|| format!("there is no example `{name}`"))?;
        let game = Game {
            stack,
            program,
            layer,
            arguments,
        };
        compare(&game, then).with_context(|| format!("{name} {}", arguments.join(" ")))?;
    }
    Ok(format!("{} runs show the picture again", RUNS.len()))
}

fn compare(game: &Game<'_>, then: Then) -> Result<()> {
    let (picture, report) = game.picture(SCRIPT, FRAMES)?;
    let rebuilt_at = report.number("rebuilt_at_frame")?;
    ensure!(
        rebuilt_at < FRAMES,
        "the device was lost in frame {rebuilt_at}"
    );
    let frames = match then {
        Then::GoesOn => FRAMES,
        Then::BeginsAgain => FRAMES - rebuilt_at,
    };
    let (plain, _) = game.picture("", frames)?;
    ensure!(
        picture == plain,
        "lost in frame {rebuilt_at}, another picture {} frames later",
        FRAMES - rebuilt_at
    );
    Ok(())
}
