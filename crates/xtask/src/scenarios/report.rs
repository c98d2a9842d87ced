//! Reports of examples, and their checks.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Numbers in every report.
const NUMBERS: [&str; 9] = [
    "frames",
    "plans_reused",
    "submissions",
    "command_buffers",
    "barrier_calls",
    "barriers",
    "semaphore_waits",
    "ownership_transfers",
    "validation_messages",
];

/// Entries of every report below `cpu_us`: median microseconds per frame.
const TIMES: [&str; 5] = ["collect", "plan", "record", "submit", "wait"];

/// A valid report.
#[derive(Debug)]
pub(crate) struct Report(Value);

impl Report {
    /// Reads a report, and checks the conditions of every validated run: all keys exist, frames were drawn, and the
    /// layer was active and reported nothing.
    ///
    /// # Errors
    /// When it cannot be read, or a condition is not met.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        Self::read_as(path, Self::parse)
    }

    /// Checks the report of a run without the layer.
    ///
    /// # Errors
    /// As [`Report::read`].
    pub(crate) fn read_unvalidated(path: &Path) -> Result<Self> {
        Self::read_as(path, Self::parse_unvalidated)
    }

    fn read_as(path: &Path, parse: impl FnOnce(&str) -> Result<Self>) -> Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("no report {}", path.display()))?;
        parse(&text).with_context(|| format!("{}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let report = Self::parse_unvalidated(text)?;
        report.text("validation")?;
        match report.number("validation_messages")? {
            0 => Ok(report),
            count => bail!("{count} validation messages"),
        }
    }

    fn parse_unvalidated(text: &str) -> Result<Self> {
        let report = Self(serde_json::from_str(text).context("not JSON")?);
        for key in NUMBERS {
            report.number(key)?;
        }
        for key in TIMES {
            if report.0["cpu_us"][key].as_f64().is_none() {
                bail!("`cpu_us.{key}` is not a number");
            }
        }
        for key in ["device", "topology"] {
            report.text(key)?;
        }
        if report.number("frames")? == 0 {
            bail!("no frame was drawn");
        }
        Ok(report)
    }

    /// Checks that a text exists.
    fn text(&self, key: &str) -> Result<()> {
        match self.0[key].as_str() {
            None | Some("") => bail!("`{key}` is {}, and must be a text", self.0[key]),
            Some(_) => Ok(()),
        }
    }

    /// Returns a count.
    ///
    /// # Errors
    /// When the report does not have it.
    pub(crate) fn number(&self, key: &str) -> Result<u64> {
        let value = &self.0[key];
        // Counts per frame are means, so they may be fractional.
        value
            .as_f64()
            .filter(|number| *number >= 0.0)
            .map(|number| number as u64)
            .with_context(|| {
                format!("`{key}` is {value}, and must be a number that is not negative")
            })
    }

    /// Returns a list of counts in order.
    ///
    /// # Errors
    /// When the report does not have them.
    pub(crate) fn numbers(&self, key: &str) -> Result<Vec<u64>> {
        let value = &self.0[key];
        value
            .as_array()
            .and_then(|list| list.iter().map(Value::as_u64).collect())
            .with_context(|| format!("`{key}` is {value}, and must be a list of numbers"))
    }

    /// Creates an unchecked report for tests.
    #[cfg(test)]
    pub(crate) fn unchecked(value: Value) -> Self {
        Self(value)
    }

    /// Summarizes the report in a line for the table.
    pub(crate) fn summary(&self) -> String {
        let value = &self.0;
        format!(
            "{} frames, {} plans reused, {} submissions and {} barriers a frame on {}",
            value["frames"],
            value["plans_reused"],
            value["submissions"],
            value["barriers"],
            value["topology"]
        )
    }
}

#[cfg(test)]
mod tests;
