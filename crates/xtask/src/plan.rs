//! `plan` and `check`: print, draw, count and verify plans of frames in text form.

mod advice;
mod case;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use quadrille_oracle::Judge;
use quadrille_sync::dot;
use quadrille_sync::plan::{Counts, Plan};
use quadrille_sync::planner::{Planned, Planner};
use quadrille_sync::states::States;
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::Topology;

use crate::host::EXIT_USAGE;
use crate::plan::case::Case;

/// Options of `plan`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Frames, in the form of crates/quadrille_sync/cases
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Queue families instead of those in the file, such as gct:1,ct:2,t:1
    #[arg(long, value_parser = parse_topology)]
    topology: Option<Topology>,
    /// Write the plans as a graph for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Say what moving passes to other queues could save, by their costs in the file, and what
    /// concurrent sharing of resources that change their family would
    #[arg(long)]
    advise: bool,
}

/// Prints the plan of each frame of a file.
///
/// Returns failure if the solver rejects a frame, and [`EXIT_USAGE`] for invalid input.
///
/// # Errors
/// When the graph cannot be written.
pub(crate) fn plan(options: &Options) -> Result<ExitCode> {
    let case = match read(&options.path, options.topology.clone()) {
        Ok(case) => case,
        Err(error) => return Ok(refuse(&error)),
    };
    print(&case, options)
}

/// Checks the plans of a file in sequence with the oracle: those in the file, or the solver's if it has none.
///
/// Returns failure on violations, and [`EXIT_USAGE`] for invalid input.
pub(crate) fn check(path: &Path) -> ExitCode {
    let judged = read(path, None).and_then(|case| {
        let whose = if case.has_plans() {
            "its"
        } else {
            "the solver's"
        };
        let plans = if case.has_plans() {
            case::plans(&case).map_err(|error| anyhow::anyhow!("{}:{error}", path.display()))?
        } else {
            solve(&case)?
        };
        let other = first_difference(&case, &plans)?;
        Ok((whose, violations(&case, &plans), other))
    });
    let (whose, violations, other) = match judged {
        Ok(judged) => judged,
        Err(error) => return refuse(&error),
    };
    if let Some(number) = other {
        println!("frame {number}: the solver makes another plan than the file has");
    }
    if violations.is_empty() {
        println!(
            "{}: the oracle has no objection to {whose} plans",
            path.display()
        );
        return ExitCode::SUCCESS;
    }
    for violation in violations {
        println!("{violation}");
    }
    ExitCode::FAILURE
}

/// Returns the solver's plans, frame by frame.
fn solve(case: &Case) -> Result<Vec<Plan>> {
    let (mut planner, mut states) = (Planner::default(), States::default());
    let topology = &case.topology;
    let plan = |(number, it): (u32, &case::FrameText)| {
        begin(it, &mut states);
        let planned = planner.plan(&it.frame, topology, &states);
        let planned = planned.map_err(|errors| anyhow::anyhow!("frame {number}: {errors}"))?;
        states.commit(&it.frame, topology, &planned.plan);
        Ok((*planned.plan).clone())
    };
    (1..).zip(&case.frames).map(plan).collect()
}

/// Sets the states at the beginning of a frame, if the file has them.
fn begin(it: &case::FrameText, states: &mut States) {
    if let Some(start) = &it.start {
        *states = start.restore(&it.frame);
    }
}

/// Replays captured frames of a running program. Checks that the solver reproduces the captured plans, and that the
/// oracle finds no violations. Returns the number of frames.
///
/// # Errors
/// Returns an error for the first frame whose plan differs or has a violation.
pub(crate) fn replay(path: &Path) -> Result<usize> {
    let case = read(path, None)?;
    let ran = case::plans(&case).map_err(|error| anyhow::anyhow!("{}:{error}", path.display()))?;
    if let Some(violation) = violations(&case, &ran).first() {
        bail!("{}: {violation}", path.display());
    }
    if let Some(number) = first_difference(&case, &ran)? {
        bail!(
            "{}: the solver makes another plan of frame {number} than the one that ran",
            path.display()
        );
    }
    Ok(ran.len())
}

/// Returns the number of the first frame whose plan the solver does not reproduce.
fn first_difference(case: &Case, plans: &[Plan]) -> Result<Option<u32>> {
    let text =
        |it: &case::FrameText, plan: &Plan| plan.display(&it.frame, &case.topology).to_string();
    let solved = solve(case)?;
    let both = case.frames.iter().zip(plans.iter().zip(&solved));
    let mut differs = (1..).zip(both.map(|(it, (one, other))| text(it, one) != text(it, other)));
    Ok(differs
        .find(|(_, differs)| *differs)
        .map(|(number, _)| number))
}

fn violations(case: &Case, plans: &[Plan]) -> Vec<String> {
    let mut judge = Judge::new(&case.topology);
    let judged = (1..).zip(case.frames.iter().zip(plans));
    judged
        .flat_map(|(number, (it, plan))| {
            if let Some(start) = &it.start {
                judge = Judge::restore(&case.topology, &it.frame, start);
            }
            let violations = judge.frame(&it.frame, plan).into_iter();
            violations.map(move |violation| format!("frame {number}: {violation}"))
        })
        .collect()
}

fn refuse(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::from(EXIT_USAGE)
}

fn read(path: &Path, topology: Option<Topology>) -> Result<Case> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| case::not_text(&bytes, &error));
    // Skip the byte order mark that some editors write.
    let text = text.map(|text| text.trim_start_matches('\u{feff}'));
    // Positions as in compilers: file:line:column.
    text.and_then(|text| case::parse(text, topology))
        .map_err(|error| anyhow::anyhow!("{}:{error}", path.display()))
}

/// Plans frame by frame, as an app would.
fn print(case: &Case, options: &Options) -> Result<ExitCode> {
    let (mut planner, mut states) = (Planner::default(), States::default());
    let mut diagram = String::new();
    let mut outcome = ExitCode::SUCCESS;
    for (number, it) in (1..).zip(&case.frames) {
        let (frame, topology) = (&it.frame, &case.topology);
        begin(it, &mut states);
        println!("=== frame {number}");
        let Planned { plan, reused } = match planner.plan(frame, topology, &states) {
            Ok(planned) => planned,
            Err(errors) => {
                println!("{errors}\n");
                outcome = ExitCode::FAILURE;
                continue;
            }
        };
        if reused {
            println!("// reused: an earlier plan fits");
        }
        println!("{}", plan.display(frame, topology));
        println!("{}", table(plan.counts()));
        if options.advise {
            println!("{}", advice::passes(frame, topology, &plan));
            println!("{}", advice::sharing(frame, topology, &states));
        }
        diagram += &dot(frame, topology, &plan);
        states.commit(frame, topology, &plan);
    }
    if let Some(path) = &options.dot {
        fs::write(path, diagram).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(outcome)
}

fn table(counts: Counts) -> String {
    let rows = [
        ("submissions", counts.submissions),
        ("barrier calls", counts.barrier_calls),
        ("barriers", counts.barriers),
        ("waits", counts.semaphore_waits),
        ("ownership transfers", counts.ownership_transfers),
    ];
    rows.map(|(name, count)| format!("{name:<20}{count:>6}\n"))
        .concat()
}

#[cfg(test)]
mod tests;
