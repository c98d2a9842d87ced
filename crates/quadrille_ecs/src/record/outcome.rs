//! Outcomes of pass systems in a frame. While outcomes are unchanged, recordings need not be read again.

use std::sync::atomic::{AtomicU32, Ordering};

/// Outcome of a run of a pass system, as far as frame collection depends on it.
///
/// Commands are not part of it: the backend encodes or replays them independently of collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome(u32);

impl Outcome {
    /// The system did not run to its end.
    pub(crate) const NONE: Self = Self(0);
    /// The recording has to be read: it has errors, timeline values, or several passes.
    pub(crate) const LOOK: Self = Self(1);

    /// Returns a new outcome, for a recording whose meaning for the frame has changed. Equal outcomes of one system
    /// mean equal recordings, as far as the frame depends on them.
    pub(crate) fn after(self) -> Self {
        Self(self.0.wrapping_add(1).max(2))
    }
}

/// Outcome of one system's last run. Relaxed ordering suffices: it is read after the schedule of the system has ended.
#[derive(Debug, Default)]
pub(crate) struct OutcomeCell(AtomicU32);

impl OutcomeCell {
    /// Sets the outcome of a run.
    #[inline]
    pub(crate) fn set(&self, outcome: Outcome) {
        self.0.store(outcome.0, Ordering::Relaxed);
    }

    /// Returns the outcome of the last run.
    #[inline]
    pub(crate) fn get(&self) -> Outcome {
        Outcome(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
