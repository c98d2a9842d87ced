//! The memory that a pass system records into.
//!
//! The system and the renderer take turns at it, and bevy sees to the turns: see [`Slot`].

#![expect(
    unsafe_code,
    reason = "a recorder and the renderer share memory, each in its turn"
)]

use std::cell::UnsafeCell;
use std::sync::Arc;

use crate::record::ahead::Ahead;
use crate::record::outcome::{Outcome, OutcomeCell};
use crate::record::recording::{PassRecording, Recorded, Recordings};

/// How many recordings lie in one piece of memory.
pub(crate) const BLOCK: usize = 32;

/// Some recordings. They are never moved, for recorders point to them.
#[derive(Default)]
pub(crate) struct Block {
    /// Outcomes of the runs, apart from the recordings, so that they are read together.
    outcomes: [OutcomeCell; BLOCK],
    ahead: [Ahead; BLOCK],
    recordings: [UnsafeCell<PassRecording>; BLOCK],
}

// SAFETY: a recording can be sent, and what may touch it is settled as `Slot` says: never two at
// once if one of them writes.
unsafe impl Sync for Block {}

impl Block {
    /// No system ran yet.
    pub(crate) fn begin(&self) {
        self.outcomes
            .iter()
            .for_each(|cell| cell.set(Outcome::NONE));
    }

    /// Returns the outcome of a run.
    #[inline]
    pub(crate) fn outcome(&self, at: usize) -> Outcome {
        self.outcomes[at].get()
    }

    /// The memory that a system touches first: its recording, and the state of its recorder.
    pub(crate) fn memory(&self, at: usize) -> [*const u8; 2] {
        let recording: *const PassRecording = self.recordings[at].get();
        [recording.cast(), self.ahead[at].state()]
    }

    /// Takes in which memory the system touches that runs after another.
    pub(crate) fn set_next(&self, at: usize, next: [*const u8; 2]) {
        self.ahead[at].set_next(next);
    }

    /// Addresses that are fetched while a system runs.
    #[cfg(test)]
    pub(crate) fn next(&self, at: usize) -> [*const u8; 2] {
        self.ahead[at].next()
    }

    /// A recording, for a caller with exclusive access to all recordings.
    pub(crate) fn with<'a>(&'a self, at: usize, _: &'a mut Recordings) -> &'a mut PassRecording {
        // SAFETY: no system that could write reads `Recordings` now, and the borrow of it keeps
        // others out.
        unsafe { &mut *self.recordings[at].get() }
    }

    /// A recording, for a caller that reads all recordings.
    #[inline]
    pub(crate) fn read<'a>(&'a self, at: usize, _: &Recorded<'a>) -> &'a PassRecording {
        // SAFETY: `Recorded` borrows all recordings exclusively for its life, so nothing writes.
        unsafe { &*self.recordings[at].get() }
    }
}

/// Where the recording of one pass system is.
///
/// - Its system writes it while it runs. It has the state of its parameter for itself then, and
///   reads the resource [`Recordings`], by what it registered in `init_access`.
/// - Everybody else needs that resource for himself, `&mut Recordings` or a [`Recorded`] made from
///   it, which bevy does not give while a system runs that reads it.
pub(crate) struct Slot {
    block: Arc<Block>,
    at: u32,
}

impl Slot {
    /// A place in a block.
    pub(crate) fn new(block: &Arc<Block>, at: usize) -> Self {
        Self {
            block: Arc::clone(block),
            at: at as u32,
        }
    }

    /// Leaves the outcome of the run.
    #[inline]
    pub(crate) fn note(&self, outcome: Outcome) {
        self.block.outcomes[self.at as usize].set(outcome);
    }

    /// Has the processor fetch what the next system will touch first. The slot is part of the
    /// state of its recorder.
    #[inline]
    pub(crate) fn fetch_ahead(&self) {
        let ahead = &self.block.ahead[self.at as usize];
        ahead.note(std::ptr::from_ref(self).cast());
        ahead.fetch();
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
        // SAFETY: no other system has this slot, and no system has exclusive access to `Recordings`.
        unsafe { &mut *self.block.recordings[self.at as usize].get() }
    }
}
