//! Loss of the device in each example: the last image equals that of a run without the loss.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::game::Game;
use crate::setup::layer::Layer;
use crate::setup::validation::Stack;

/// Loses the device some frames after the start.
const SCRIPT: &str = "lost nth=30";
/// Loses it at a submission of the other owner of the queue, where two submit to it in turns.
const OTHER_SCRIPT: &str = "lost nth=31";

/// Number of frames within which the image has to be equal again.
const FRAMES: u64 = 60;

/// Behavior of an example after a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterLoss {
    /// Continues: its image depends only on CPU data, or is recomputed.
    Continues,
    /// Restarts: its data was only on the device.
    Restarts,
}

/// The examples with an image, with their arguments.
const RUNS: [(&str, &[&str], AfterLoss); 20] = [
    ("triangle", &[], AfterLoss::Continues),
    ("turns", &[], AfterLoss::Continues),
    ("compositor", &[], AfterLoss::Continues),
    ("windows", &[], AfterLoss::Continues),
    ("life", &[], AfterLoss::Continues),
    ("life", &["--worker"], AfterLoss::Continues),
    ("post_process", &[], AfterLoss::Continues),
    ("post_process", &["--runtime"], AfterLoss::Continues),
    ("overlap", &["--steps", "20"], AfterLoss::Continues),
    ("accesses", &[], AfterLoss::Continues),
    ("many_cubes", &["--cubes", "4000"], AfterLoss::Continues),
    ("scene3d", &["--shadow-map", "64"], AfterLoss::Continues),
    ("materials", &["--shadow-map", "64"], AfterLoss::Continues),
    ("shaders", &[], AfterLoss::Continues),
    (
        "courier",
        &["--autoplay", "--blocks", "6", "--size", "160x90"],
        AfterLoss::Continues,
    ),
    ("viewer", &[], AfterLoss::Continues),
    ("cinema", &[], AfterLoss::Continues),
    ("breakout", &["--autoplay"], AfterLoss::Continues),
    ("launcher", &[], AfterLoss::Continues),
    ("swarm", &["--enemies", "5000"], AfterLoss::Restarts),
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
    for (name, arguments, after) in RUNS {
        let program = programs.iter().find(|(known, _)| known == name);
        let (_, program) = program.with_context(|| format!("there is no example `{name}`"))?;
        let game = Game {
            stack,
            program,
            layer,
            arguments,
        };
        let scripts: &[&str] = match name {
            "compositor" => &[SCRIPT, OTHER_SCRIPT],
            _ => &[SCRIPT],
        };
        for script in scripts {
            let case = || format!("{name} {}, {script}", arguments.join(" "));
            compare(&game, script, after).with_context(case)?;
        }
    }
    Ok(format!("{} runs show the picture again", RUNS.len()))
}

fn compare(game: &Game<'_>, script: &str, after: AfterLoss) -> Result<()> {
    let (picture, report) = game.picture(script, FRAMES)?;
    let rebuilt_at = report.number("rebuilt_at_frame")?;
    ensure!(
        rebuilt_at < FRAMES,
        "the device was lost in frame {rebuilt_at}"
    );
    let frames = match after {
        AfterLoss::Continues => FRAMES,
        AfterLoss::Restarts => FRAMES - rebuilt_at,
    };
    let (plain, _) = game.picture("", frames)?;
    ensure!(
        picture == plain,
        "lost in frame {rebuilt_at}, another picture {} frames later",
        FRAMES - rebuilt_at
    );
    Ok(())
}
