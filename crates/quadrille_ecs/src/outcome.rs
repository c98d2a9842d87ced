//! What came of each pass system in a frame, in one place: as long as passes do what they did
//! before, nobody has to look into their recordings.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What came of a run of a pass system, as far as the frame is concerned.
///
/// Not of interest are the commands: they are translated anew, or said again, whatever frame they
/// are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome(u32);

impl Outcome {
    /// The system did not run to its end.
    pub(crate) const NONE: Self = Self(0);
    /// The recording has to be looked at: it has errors, or several passes.
    pub(crate) const LOOK: Self = Self(1);

    /// One pass, or none, which means to the frame what it meant whenever it had this outcome: the
    /// next one after another.
    pub(crate) fn after(self) -> Self {
        Self(self.0.wrapping_add(1).max(2))
    }
}

/// Outcomes in one piece of memory, which is never moved: recorders point to it.
const BLOCK: usize = 64;

/// Some outcomes.
type Block = [AtomicU32; BLOCK];

/// The outcomes of all pass systems, by slot.
#[derive(Default)]
pub(crate) struct Outcomes {
    blocks: Vec<Arc<Block>>,
    count: usize,
}

/// Where one system leaves its outcome.
#[derive(Clone)]
pub(crate) struct OutcomeCell {
    block: Arc<Block>,
    at: usize,
}

impl Outcomes {
    /// A place for one more.
    pub(crate) fn add(&mut self) -> OutcomeCell {
        let at = self.count % BLOCK;
        if at == 0 {
            let block = std::array::from_fn(|_| AtomicU32::new(Outcome::NONE.0));
            self.blocks.push(Arc::new(block));
        }
        let block = &self.blocks[self.count / BLOCK];
        self.count += 1;
        OutcomeCell {
            block: Arc::clone(block),
            at,
        }
    }

    /// No system ran yet.
    pub(crate) fn begin(&mut self) {
        for cell in self.blocks.iter().flat_map(|block| block.iter()) {
            cell.store(Outcome::NONE.0, Ordering::Relaxed);
        }
    }

    /// The outcome of a slot.
    #[inline]
    pub(crate) fn of(&self, slot: u32) -> Outcome {
        let block = self.blocks.get(slot as usize / BLOCK);
        block.map_or(Outcome::NONE, |block| {
            Outcome(block[slot as usize % BLOCK].load(Ordering::Relaxed))
        })
    }
}

impl OutcomeCell {
    /// Leaves the outcome of a run. Whoever reads it comes after the schedule that the system is
    /// in, which orders the two.
    #[inline]
    pub(crate) fn set(&self, outcome: Outcome) {
        self.block[self.at].store(outcome.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
