//! Steps of a run: each is named and timed, with a result; a table follows at the end.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::host::process;

/// Maximum number of concurrent steps.
const WORKERS: usize = 4;

/// Maximum number of lines of an error in the summary.
const ERROR_LINES: usize = 30;

/// A step whose only result is a remark, and which may run concurrently.
pub(crate) struct Check<'a> {
    pub(crate) name: String,
    pub(crate) run: Box<dyn Fn() -> Result<String> + Sync + 'a>,
}

impl<'a> Check<'a> {
    /// Creates a step with a name.
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
    /// Result or error in one line.
    remark: String,
    /// Last lines of the error of a failed step.
    error: String,
}

impl Steps {
    /// Runs a step and stores its result; a failure does not end the run.
    ///
    /// Returns the step's value besides its remark, for later steps.
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

    /// Runs independent steps concurrently: one more than there are cores (at most [`WORKERS`]), because a program on a
    /// software driver uses 0.7 of a core. The table has them in the given order.
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

    /// Runs a step whose only result is a remark.
    pub(crate) fn check(&mut self, name: &str, step: impl FnOnce() -> Result<String>) {
        self.run(name, || Ok(((), step()?)));
    }

    /// Counts a step that could not run because an earlier one failed.
    pub(crate) fn skip(&mut self, name: &str, reason: &str) {
        println!("==> {name}\n    FAILED: {reason}");
        self.done.push(Step {
            name: name.to_owned(),
            passed: false,
            took: Duration::ZERO,
            remark: reason.to_owned(),
            error: reason.to_owned(),
        });
    }

    /// Prints the table, the errors and a summary.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\n{}{}", self.table(), self.errors());
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

    /// Returns the end of the error of each failed step: the log's own copy may be thousands of lines above.
    fn errors(&self) -> String {
        let failed = self.done.iter().filter(|step| !step.passed);
        let errors = failed.map(|step| format!("\n==> {} FAILED\n{}\n", step.name, step.error));
        errors.collect()
    }
}

/// Returns the next check that no worker has taken, unless the run is interrupted.
fn take<'a, 'b>(checks: &'a [Check<'b>], next: &AtomicUsize) -> Option<(usize, &'a Check<'b>)> {
    if process::interrupted() {
        return None;
    }
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, checks.get(index)?))
}

/// Runs a step, and prints its result in one piece, because other steps may print concurrently.
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
        error: end_of(&text),
    };
    (value, step)
}

/// Returns the last [`ERROR_LINES`] lines.
fn end_of(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(ERROR_LINES)..].join("\n")
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
