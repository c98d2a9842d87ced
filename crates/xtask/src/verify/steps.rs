//! The steps of a run: each is named, timed, judged; the table comes at the end.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::host::process;

/// How many steps run side by side at most.
const WORKERS: usize = 4;

/// A step that leaves nothing but a remark, and does not mind what runs beside it.
pub(crate) struct Check<'a> {
    pub(crate) name: String,
    pub(crate) run: Box<dyn Fn() -> Result<String> + Sync + 'a>,
}

impl<'a> Check<'a> {
    /// A step of a name.
    pub(crate) fn new(name: String, run: impl Fn() -> Result<String> + Sync + 'a) -> Self {
        let run = Box::new(run);
        Self { name, run }
    }
}

/// The steps so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: String,
    passed: bool,
    took: Duration,
    /// Finding or failure in one line.
    remark: String,
}

impl Steps {
    /// Runs a step and keeps its verdict; a failure does not end the run.
    ///
    /// Returns what the step returns beside its remark, so that later steps can build on it.
    pub(crate) fn run<T>(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<(T, String)>,
    ) -> Option<T> {
        if process::interrupted() {
            return None;
        }
        println!("==> {name}");
        let (value, step) = judged(name, step);
        self.done.push(step);
        value
    }

    /// Runs steps that do not mind each other, one more at once than there are cores (at most
    /// [`WORKERS`]), as a program on a software driver keeps 0.7 of a core busy; the table has them
    /// in the order given.
    pub(crate) fn side_by_side(&mut self, checks: &[Check]) {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Some((index, check)) = take(checks, &next) {
                println!("==> {}", check.name);
                let (_, step) = judged(&check.name, || Ok(((), (check.run)()?)));
                done.lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
                    .push((index, step));
            }
        };
        thread::scope(|scope| {
            for _ in 0..(cores + 1).min(WORKERS) {
                scope.spawn(work);
            }
        });
        let mut done = done
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        done.sort_by_key(|(index, _)| *index);
        self.done.extend(done.into_iter().map(|(_, step)| step));
    }

    /// Runs a step that leaves nothing but a remark.
    pub(crate) fn check(&mut self, name: &str, step: impl FnOnce() -> Result<String>) {
        self.run(name, || Ok(((), step()?)));
    }

    /// Counts a step that could not run because of one before it.
    pub(crate) fn skip(&mut self, name: &str, reason: &str) {
        println!("==> {name}\n    FAILED: {reason}");
        self.done.push(Step {
            name: name.to_owned(),
            passed: false,
            took: Duration::ZERO,
            remark: reason.to_owned(),
        });
    }

    /// Prints the table and the closing line.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\n{}", self.table());
        let failed = self.done.iter().filter(|step| !step.passed).count();
        let passed = self.done.len() - failed;
        if process::interrupted() {
            println!("interrupted");
        }
        println!("{passed} passed, {failed} failed");
        if failed == 0 && !process::interrupted() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn table(&self) -> String {
        let width = self
            .done
            .iter()
            .map(|step| step.name.chars().count())
            .max()
            .unwrap_or(0);
        let rows = self.done.iter().map(|step| {
            let verdict = if step.passed { "passed" } else { "FAILED" };
            let row = format!(
                "{:width$}  {verdict}  {:>8}  {}",
                step.name,
                seconds(step.took),
                step.remark
            );
            row.trim_end().to_owned() + "\n"
        });
        rows.collect()
    }
}

/// The next check that nobody has taken, unless the user asked the run to end.
fn take<'a, 'b>(checks: &'a [Check<'b>], next: &AtomicUsize) -> Option<(usize, &'a Check<'b>)> {
    if process::interrupted() {
        return None;
    }
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, checks.get(index)?))
}

/// Runs a step, and says how it ended in one piece: others may print beside it.
fn judged<T>(name: &str, step: impl FnOnce() -> Result<(T, String)>) -> (Option<T>, Step) {
    let start = Instant::now();
    let outcome = step();
    let took = start.elapsed();
    let (value, text) = match outcome {
        Ok((value, remark)) => (Some(value), remark),
        Err(error) => (None, format!("{error:#}")),
    };
    let passed = value.is_some();
    let remark = text.lines().next().unwrap_or_default().to_owned();
    let (verdict, time) = (if passed { "passed" } else { "FAILED" }, seconds(took));
    let shown = if passed { &remark } else { &text };
    let colon = if shown.is_empty() { "" } else { ": " };
    println!("    {name} {verdict} in {time}{colon}{shown}");
    let name = name.to_owned();
    let step = Step {
        name,
        passed,
        took,
        remark,
    };
    (value, step)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
