//! Errors of frames.
//!
//! Planning reports all errors of a frame at once, before anything is recorded. Messages name the
//! passes, their accesses, the resource and the range, and suggest a correction.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use crate::access::Access;
use crate::frame::PassDecl;

mod plan_error;
mod words;

pub use plan_error::PlanError;
pub(crate) use words::Words;

/// All errors of a frame; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanErrors(Vec<PlanError>);

impl PlanErrors {
    /// Returns `Ok` if there are no errors.
    pub(crate) fn check(errors: Vec<PlanError>) -> Result<(), Self> {
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Self(errors))
        }
    }

    /// The errors, in the order in which they were found.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &PlanError> {
        self.0.iter()
    }
}

impl Display for PlanErrors {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            let line_end = if at == 0 { "" } else { "\n" };
            write!(out, "{line_end}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanErrors {}

/// A pass, and its access to the resource of the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingAccess {
    /// The name of the pass.
    pub pass: Arc<str>,
    /// Its access.
    pub access: Access,
}

impl ConflictingAccess {
    pub(crate) fn new(pass: &PassDecl, access: Access) -> Self {
        Self {
            pass: pass.name.clone(),
            access,
        }
    }
}

impl Display for ConflictingAccess {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` ({})", self.pass, self.access.name())
    }
}

/// A pass of a cycle, with the reason why it follows the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleStep {
    /// The name of the pass.
    pub pass: Arc<str>,
    /// The resource that it reads and the previous pass writes; `None` if the order is declared.
    pub resource: Option<Arc<str>>,
}

#[cfg(test)]
mod tests;
