//! The steps of a run: each is named, timed, judged; the table comes at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process;

/// The steps so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: String,
    passed: bool,
    took: Duration,
    /// One line about what was seen, or about what went wrong.
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
        let start = Instant::now();
        let outcome = step();
        let took = start.elapsed();
        let (value, passed, remark) = match outcome {
            Ok((value, remark)) => (Some(value), true, remark),
            Err(error) => {
                let text = format!("{error:#}");
                println!("{text}");
                (
                    None,
                    false,
                    text.lines().next().unwrap_or_default().to_owned(),
                )
            }
        };
        let verdict = if passed { "passed" } else { "FAILED" };
        println!(
            "    {verdict} in {}{}{remark}",
            seconds(took),
            if remark.is_empty() { "" } else { ": " }
        );
        self.done.push(Step {
            name: name.to_owned(),
            passed,
            took,
            remark,
        });
        value
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

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
