//! `life` on many schedules: the cells and the image must be the same for every legal order of execution on the queues,
//! and for any contents of undefined memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

use crate::host::paths;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::layer::{Layer, TOPOLOGIES};
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(60);

/// Number of schedules, one per seed of the layer: ten per topology. A run takes about one second of one core.
pub(crate) const SEEDS: u64 = 10 * TOPOLOGIES.len() as u64;

/// Number of concurrent runs.
const WORKERS: u64 = 2;

/// A board that is drawn quickly, and a number of generations that needs frames of several generations and one of
/// fewer.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--pattern",
    "assets/patterns/r_pentomino.rle",
    "--size",
    "96x64",
    "--generations",
    "61",
    "--speed",
    "3",
];

/// Report and image of a run.
#[derive(PartialEq, Eq)]
struct Outcome {
    generation: u64,
    population: u64,
    cells: String,
    picture: Vec<u8>,
}

/// Runs `life` normally, then on all schedules, distributed over the topologies, with garbage in undefined memory and
/// under the validation layer, and compares.
///
/// # Errors
/// When a run fails or has another result; the error has seed and topology of the first such run.
pub(crate) fn check(stack: &Stack, program: &Path, layer: &Layer) -> Result<String> {
    let plain = run(stack, program, "schedules-plain", |_| {})?;
    ensure!(plain.population > 0, "nothing is alive that could differ");
    let failed = AtomicBool::new(false);
    let work = |worker: u64| {
        let name = format!("schedules-{worker}");
        for seed in (1..=SEEDS).filter(|seed| seed % WORKERS == worker) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            // Divided first, so that the seeds of a worker cover all topologies.
            let families = TOPOLOGIES[(seed / WORKERS) as usize % TOPOLOGIES.len()];
            compare(stack, program, &name, &plain, (layer, families, seed)).inspect_err(|_| {
                failed.store(true, Ordering::Relaxed);
            })?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a worker panicked")))
        })
    })?;
    Ok(format!(
        "population {} at generation {}, and one picture, {SEEDS} times",
        plain.population, plain.generation
    ))
}

/// Compares one schedule with the normal run.
fn compare(
    stack: &Stack,
    program: &Path,
    name: &str,
    plain: &Outcome,
    (layer, families, seed): (&Layer, &str, u64),
) -> Result<()> {
    let outcome = run(stack, program, name, |command| {
        layer.apply(command, families);
        command
            .env("QUADRILLE_LAYER_SEED", seed.to_string())
            .env("QUADRILLE_LAYER_POISON", "1");
    });
    let outcome = outcome.with_context(|| format!("seed {seed} on {families}"))?;
    let differs = if outcome.picture != plain.picture {
        "picture is another"
    } else if outcome != *plain {
        "board is another"
    } else {
        return Ok(());
    };
    Err(anyhow!(
        "seed {seed} on {families}: the {differs}; population {} at generation {}, plainly {} at {}",
        outcome.population,
        outcome.generation,
        plain.population,
        plain.generation
    ))
}

/// Runs the program to its end.
fn run(
    stack: &Stack,
    program: &Path,
    name: &str,
    set_up: impl FnOnce(&mut Command),
) -> Result<Outcome> {
    let made = |end: &str| -> Result<PathBuf> {
        let path = paths::target("verify").join(format!("{name}.{end}"));
        examples::forget(&path)?;
        Ok(path)
    };
    let (report, cells, picture) = (made("report.json")?, made("rle")?, made("png")?);
    let mut command = stack.command(program);
    command.current_dir(paths::root()).args(ARGUMENTS);
    for (option, path) in [
        ("--report", &report),
        ("--save", &cells),
        ("--screenshot", &picture),
    ] {
        command.arg(option).arg(path);
    }
    set_up(&mut command);
    validation::run(name, &mut command, LIMIT)?;
    let report = Report::read(&report)?;
    Ok(Outcome {
        generation: report.number("generation")?,
        population: report.number("population")?,
        cells: fs::read_to_string(&cells).with_context(|| format!("no {}", cells.display()))?,
        picture: fs::read(&picture).with_context(|| format!("no {}", picture.display()))?,
    })
}
