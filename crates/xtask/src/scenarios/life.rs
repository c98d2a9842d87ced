//! `life` against facts that everybody can look up.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::host::place;
use crate::scenarios::examples;
use crate::scenarios::report::Report;
use crate::setup::layer::Layer;
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(300);

/// A known pattern: on a torus of this size, after so many generations, so many live.
pub(crate) struct Fact {
    /// The pattern's file name without its end.
    pub(crate) pattern: &'static str,
    size: &'static str,
    generation: u64,
    population: u64,
}

/// The facts to hold `life` against.
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

/// Runs `life` to a fact's generation, with these arguments besides, on virtual queues if a
/// topology is given.
///
/// # Errors
/// When it fails or comes to another result.
pub(crate) fn check(
    stack: &Stack,
    program: &Path,
    fact: &Fact,
    more: &[&str],
    queues: Option<(&Layer, &str)>,
) -> Result<String> {
    let families = queues.map_or_else(String::new, |(_, families)| format!("-{families}"));
    let name = format!("life-{}{}{families}", fact.pattern, more.concat());
    let report = place::made("verify").join(format!("{name}.report.json"));
    examples::forget(&report)?;
    let mut command = stack.command(program);
    command
        .current_dir(place::root())
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
