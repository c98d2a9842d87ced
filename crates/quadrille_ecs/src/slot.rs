//! The memory that a pass system records into.
//!
//! The system and the renderer take turns at it, and bevy sees to the turns: see [`Slot`].

#![expect(
    unsafe_code,
    reason = "a recorder and the renderer share memory, each in its turn"
)]

use std::cell::UnsafeCell;
use std::sync::Arc;

use crate::outcome::{Outcome, OutcomeCell};
use crate::recording::{PassRecording, Recorded, Recordings};

/// How many recordings lie in one piece of memory. Systems run in about the order in which their
/// slots were made, so the processor foresees what comes next.
const BLOCK: usize = 32;

/// Some recordings. They are never moved, for recorders point to them.
struct Block([UnsafeCell<PassRecording>; BLOCK]);

// SAFETY: a recording can be sent, and who may touch it is settled as `Slot` says: never two at
// once if one of them writes.
unsafe impl Sync for Block {}

/// Where the recording of one pass system is.
///
/// - Its system writes it while it runs. It has the state of its parameter for itself then, and
///   reads the resource [`Recordings`], by what it registered in `init_access`.
/// - Everybody else needs that resource for himself, `&mut Recordings` or a [`Recorded`] made from
///   it, which bevy gives to nobody while a system runs that reads it.
///
/// What came of the run lies apart, where it can be read together with all others. Clones are the
/// same slot.
#[derive(Clone)]
pub(crate) struct Slot {
    block: Arc<Block>,
    at: usize,
    outcome: OutcomeCell,
}

impl Slot {
    /// An empty slot, behind the one made last if there is one.
    pub(crate) fn after(last: Option<&Self>, outcome: OutcomeCell) -> Self {
        match last.filter(|last| last.at + 1 < BLOCK) {
            Some(last) => Self {
                block: Arc::clone(&last.block),
                at: last.at + 1,
                outcome,
            },
            None => Self {
                block: Arc::new(Block(std::array::from_fn(|_| UnsafeCell::default()))),
                at: 0,
                outcome,
            },
        }
    }

    /// Leaves what came of the run.
    #[inline]
    pub(crate) fn note(&self, outcome: Outcome) {
        self.outcome.set(outcome);
    }

    /// The recording, for its system.
    ///
    /// # Safety
    /// The caller is the parameter of the one system that this slot was made for, holds its state
    /// exclusively for the life of the result, and may read the resource [`Recordings`] of the
    /// slot's world.
    #[expect(
        clippy::mut_from_ref,
        reason = "the caller has the only right to write, by contract"
    )]
    #[inline]
    pub(crate) unsafe fn write(&self) -> &mut PassRecording {
        // SAFETY: no other system has this slot, and nobody has `Recordings` for himself.
        unsafe { &mut *self.block.0[self.at].get() }
    }

    /// The recording, for who has all recordings for himself.
    pub(crate) fn with<'a>(&'a self, _: &'a mut Recordings) -> &'a mut PassRecording {
        // SAFETY: no system that could write reads `Recordings` now, and the borrow of it keeps
        // others out.
        unsafe { &mut *self.block.0[self.at].get() }
    }

    /// The recording, for who reads all recordings.
    pub(crate) fn read<'a>(&'a self, _: &Recorded<'a>) -> &'a PassRecording {
        // SAFETY: `Recorded` borrows all recordings exclusively for its life, so nobody writes.
        unsafe { &*self.block.0[self.at].get() }
    }
}
