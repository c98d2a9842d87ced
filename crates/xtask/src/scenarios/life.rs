//! Checks of `life` against published facts.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::host::paths;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::layer::Layer;
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(300);

/// A known result: number of live cells of a pattern on a torus of this size after this number of generations.
pub(crate) struct Fact {
    /// File name of the pattern, without extension.
    pub(crate) pattern: &'static str,
    size: &'static str,
    generation: u64,
    population: u64,
}

/// Known results to check `life` with.
pub(crate) const FACTS: [Fact; 2] = [
    Fact {
        pattern: "r_pentomino",
        size: "2048x2048",
        generation: 1103,
        population: 116,
    },
    Fact {
        pattern: "die_hard",
        size: "256x256",
        generation: 130,
        population: 0,
    },
];

/// Runs `life` to the generation of a fact, with further arguments, on virtual queues if a topology is given.
///
/// # Errors
/// When it fails or has another result.
pub(crate) fn check(
    stack: &Stack,
    program: &Path,
    fact: &Fact,
    more: &[&str],
    queues: Option<(&Layer, &str)>,
) -> Result<String> {
    let families = queues.map_or_else(String::new, |(_, families)| format!("-{families}"));
    let name = format!("life-{}{}{families}", fact.pattern, more.concat());
    let report = paths::target("verify").join(format!("{name}.report.json"));
    examples::forget(&report)?;
    let mut command = stack.command(program);
    command
        .current_dir(paths::root())
        .arg("--headless")
        .args(more)
        .args([
            "--pattern",
            &format!("assets/patterns/{}.rle", fact.pattern),
        ])
        .args([
            "--size",
            fact.size,
            "--generations",
            &fact.generation.to_string(),
            "--report",
        ])
        .arg(&report);
    if let Some((layer, families)) = queues {
        layer.apply(&mut command, families);
    }
    validation::run(&name, &mut command, LIMIT)?;
    let report = Report::read(&report)?;
    let generation = report.number("generation")?;
    let population = report.number("population")?;
    ensure!(
        (generation, population) == (fact.generation, fact.population),
        "population {population} at generation {generation}; known: {} at {}",
        fact.population,
        fact.generation
    );
    Ok(format!(
        "population {population} at generation {generation}"
    ))
}
