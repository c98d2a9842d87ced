//! Examples without a window: they must end by themselves, successfully and with output.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::host::paths;
use crate::plan;
use crate::scenarios::calls::{self, Calls};
use crate::scenarios::picture;
use crate::scenarios::report::Report;
use crate::setup::layer::Layer;
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(180);

/// Enough for every frame in flight to be reused several times.
const FRAMES: &str = "60";

/// Frames that an example captures with `--case`: the first five and the last five.
const CAPTURED: usize = 10;

/// Arguments that make an example light enough for all virtual topologies, on which only synchronization is checked.
/// The plain driver runs the full load.
const LIGHTER: [(&str, &[&str]); 5] = [
    ("many_cubes", &["--cubes", "4000"]),
    ("scene3d", &["--shadow-map", "256"]),
    ("materials", &["--shadow-map", "256"]),
    ("overlap", &["--steps", "5"]),
    (
        "courier",
        &["--autoplay", "--blocks", "6", "--size", "240x135"],
    ),
];

/// The example that measures and draws nothing, which is run and checked differently.
const MEASURING: &str = "frame_bench";
const MEASURED: [&str; 8] = [
    "--n", "100", "--warmup", "5", "--mode", "systems", "--alone", "--verify",
];

/// Numbers of frames of a short and a long run; their difference is from frames in the steady state.
const LENGTHS: [u64; 2] = [20, 30];

/// Runs one example headless under validation, on virtual queues if a topology is given.
///
/// # Errors
/// When it fails, its report is incomplete, or its image is empty.
pub(crate) fn run(
    stack: &Stack,
    name: &str,
    program: &Path,
    queues: Option<(&Layer, &str)>,
) -> Result<String> {
    let run = queues.map_or_else(
        || name.to_owned(),
        |(_, families)| format!("{name}-{families}"),
    );
    if name == MEASURING {
        return measure(stack, &run, program, queues);
    }
    let folder = paths::target("verify");
    let report = folder.join(format!("{run}.report.json"));
    let screenshot = folder.join(format!("{run}.png"));
    let case = folder.join(format!("{run}.case.txt"));
    for left in [&report, &screenshot, &case] {
        forget(left)?;
    }
    let mut command = stack.command(program);
    command
        .current_dir(paths::root())
        .args(["--headless", "--frames", FRAMES, "--report"])
        .arg(&report)
        .arg("--screenshot")
        .arg(&screenshot)
        .arg("--case")
        .arg(&case);
    if let Some((layer, families)) = queues {
        layer.apply(&mut command, families);
        for (_, lighter) in LIGHTER.iter().filter(|(heavy, _)| *heavy == name) {
            command.args(*lighter);
        }
    }
    validation::run(&run, &mut command, LIMIT)?;
    let report = Report::read(&report)?;
    ensure!(
        report.number("plans_reused")? > 0,
        "no plan was reused in {FRAMES} frames"
    );
    let size = picture::check(&screenshot)?;
    let replayed = plan::replay(&case)?;
    ensure!(
        replayed == CAPTURED,
        "it captured {replayed} frames, not {CAPTURED}"
    );
    let summary = report.summary();
    Ok(format!(
        "{summary}, picture {size}, {replayed} frames replayed"
    ))
}

/// Runs the measuring example. Its passes must compute the right results, and its own counts per frame must equal those
/// of the layer.
fn measure(
    stack: &Stack,
    run: &str,
    program: &Path,
    queues: Option<(&Layer, &str)>,
) -> Result<String> {
    let Some((layer, families)) = queues else {
        measured(stack, run, program, LENGTHS[0], |_| {})?;
        return Ok("contents verified".to_owned());
    };
    let log = paths::target("verify").join(format!("{run}.calls.json"));
    let counted = |frames: u64| -> Result<(Value, Calls)> {
        forget(&log)?;
        let line = measured(stack, run, program, frames, |command| {
            layer.apply(command, families);
            command.env("QUADRILLE_LAYER_LOG", &log);
        })?;
        let text = fs::read_to_string(&log).with_context(|| format!("no log {}", log.display()))?;
        Ok((line, calls::parse(&text)?))
    };
    let [short, long] = LENGTHS;
    let ((_, fewer), (line, more)) = (counted(short)?, counted(long)?);
    calls::agree(&line, &calls::difference(&more, &fewer), long - short)
        .map(|agreed| format!("contents verified; {agreed}"))
}

/// Runs the measuring example; returns its line of JSON.
fn measured(
    stack: &Stack,
    run: &str,
    program: &Path,
    frames: u64,
    set_up: impl FnOnce(&mut Command),
) -> Result<Value> {
    let mut command = stack.command(program);
    command
        .current_dir(paths::root())
        .args(MEASURED)
        .args(["--frames", &frames.to_string()]);
    set_up(&mut command);
    let output = validation::run(run, &mut command, LIMIT)?;
    let line = output.lines().find(|line| line.starts_with('{'));
    let line = line.context("it printed no line of JSON")?;
    let value: Value = serde_json::from_str(line).context("its line is not JSON")?;
    ensure!(
        value["verified"] == true,
        "`verified` is {}, and must be true",
        value["verified"]
    );
    Ok(value)
}

/// Removes output of an earlier run, so that it is not mistaken for new output.
pub(crate) fn forget(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
