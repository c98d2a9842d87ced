//! Complaints of the rules.

use std::fmt;

/// A violation of a rule, with its location.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Complaint {
    pub(super) path: String,
    /// Line from 1; 0 for the file as a whole.
    pub(super) line: usize,
    pub(super) what: String,
}

impl Complaint {
    /// Creates a complaint about a line, or about a file if `line` is 0.
    pub(super) fn new(path: impl Into<String>, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// Complaints of all rules.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<Complaint>,
    /// Warnings, which do not fail the check.
    pub(super) warnings: Vec<Complaint>,
}
