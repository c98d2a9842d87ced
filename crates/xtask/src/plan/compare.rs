//! `plan --compare`: what the solver saves, file by file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use quadrille_sync::{Frame, OrderPolicy, Plan, Planned, Planner, States, Topology};

use super::case::Case;
use super::naive::{Naive, queue_switches};
use super::{Options, read, refuse};

/// What is compared if no file is named.
const CASES: &str = "crates/quadrille_sync/cases";

/// What is counted, by column.
const COLUMNS: [&str; 6] = [
    "submissions",
    "switches",
    "waits",
    "calls",
    "barriers",
    "critical path",
];

/// One value for each of [`COLUMNS`].
type Row = [u64; COLUMNS.len()];

/// One line for each file, summed over its frames: in the order that the solver chooses, in
/// declared order, and for a naive plan.
///
/// # Errors
/// When a folder cannot be read.
pub(super) fn compare(options: &Options) -> Result<ExitCode> {
    println!(
        "Each triple is: in the order that the solver chooses / in declared order / naive.\n\
         Switches are changes of queue from a pass to the next one submitted. Critical paths are\n\
         in microseconds, 100 a pass where none declares a cost.\n"
    );
    print!("{:<34}", "case");
    COLUMNS.iter().for_each(|column| print!("{column:>22}"));
    println!();
    let mut total = [Row::default(); 3];
    for path in files(&options.paths)? {
        let case = match read(&path, options.topology.clone()) {
            Ok(case) => case,
            Err(error) => return Ok(refuse(&error)),
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let (rows, refused) = rows(&case);
        let note = match refused {
            0 => String::new(),
            count => format!("  ({count} frames refused)"),
        };
        println!("{}{note}", line(&name, &rows));
        for (total, row) in total.iter_mut().zip(rows) {
            add(total, row);
        }
    }
    println!("{}", line("all", &total));
    Ok(ExitCode::SUCCESS)
}

/// The files that paths stand for: themselves, or for folders the text files there, sorted.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let default = [PathBuf::from(CASES)];
    let paths = if paths.is_empty() { &default } else { paths };
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(text_files(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn text_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "txt"));
    files.sort();
    Ok(files)
}

/// The sums of a case in free order, in declared order and done the naive way, and how many frames
/// the solver refuses.
pub(super) fn rows(case: &Case) -> ([Row; 3], usize) {
    let order = |order| Topology {
        order,
        ..case.topology.clone()
    };
    let (mut rows, mut refused) = ([Row::default(); 3], 0);
    let mut naive = Naive::default();
    for (at, policy) in [OrderPolicy::Free, OrderPolicy::Declared]
        .into_iter()
        .enumerate()
    {
        let topology = order(policy);
        let (mut planner, mut states) = (Planner::default(), States::default());
        for it in &case.frames {
            let Ok(Planned { plan, .. }) = planner.plan(&it.frame, &topology, &states) else {
                refused += 1;
                continue;
            };
            add(&mut rows[at], row(&it.frame, &plan));
            if policy == OrderPolicy::Declared {
                add(
                    &mut rows[2],
                    naive_row(&mut naive, &it.frame, &topology, &plan),
                );
            }
            states.commit(&it.frame, &topology, &plan);
        }
    }
    (rows, refused / 2)
}

fn row(frame: &Frame, plan: &Plan) -> Row {
    let counts = plan.counts();
    [
        counts.submissions.into(),
        queue_switches(plan) as u64,
        counts.semaphore_waits.into(),
        counts.barrier_calls.into(),
        counts.barriers.into(),
        plan.critical_path_us(frame),
    ]
}

/// Done the naive way, each switch waits for the queue before, so nothing overlaps.
fn naive_row(naive: &mut Naive, frame: &Frame, topology: &Topology, plan: &Plan) -> Row {
    let counts = naive.frame(frame, topology, plan);
    let mut one_by_one = plan.clone();
    one_by_one.submissions.iter_mut().for_each(|it| {
        it.queue = Default::default();
        it.waits.clear();
    });
    (1..)
        .zip(&mut one_by_one.submissions)
        .for_each(|(value, it)| it.signal = value);
    [
        counts.submissions.into(),
        super::naive::declared_switches(plan) as u64,
        counts.semaphore_waits.into(),
        counts.barrier_calls.into(),
        counts.barriers.into(),
        one_by_one.critical_path_us(frame),
    ]
}

fn add(sum: &mut Row, row: Row) {
    sum.iter_mut().zip(row).for_each(|(sum, it)| *sum += it);
}

fn line(name: &str, [free, declared, naive]: &[Row; 3]) -> String {
    let mut line = format!("{name:<34}");
    for at in 0..COLUMNS.len() {
        let triple = format!("{} / {} / {}", free[at], declared[at], naive[at]);
        line += &format!("{triple:>22}");
    }
    line
}
