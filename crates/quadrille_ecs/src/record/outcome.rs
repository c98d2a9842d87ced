//! Outcomes of pass systems in a frame: as long as passes do what they did before, their recordings
//! need not be read.

use std::sync::atomic::{AtomicU32, Ordering};

/// Outcome of a run of a pass system, as far as the frame is concerned.
///
/// The commands are not part of it: they are encoded again, or replayed from the cache, whatever frame they
/// are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome(u32);

impl Outcome {
    /// The system did not run to its end.
    pub(crate) const NONE: Self = Self(0);
    /// The recording has to be read: it has errors, values of timelines, or several passes.
    pub(crate) const LOOK: Self = Self(1);

    /// One pass, or none, which means to the frame what it meant whenever it had this outcome: the
    /// next one after another.
    pub(crate) fn after(self) -> Self {
        Self(self.0.wrapping_add(1).max(2))
    }
}

/// Where one system leaves its outcome. It is read after the schedule that the system
/// is in, which orders the two.
#[derive(Debug, Default)]
pub(crate) struct OutcomeCell(AtomicU32);

impl OutcomeCell {
    /// Leaves the outcome of a run.
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
