//! Memory of recordings, shared by pass systems and the renderer.
//!
//! bevy's access rules ensure that they never access it at the same time: see [`Slot`].

#![expect(
    unsafe_code,
    reason = "a recorder and the renderer share memory, each in its turn"
)]

use std::cell::UnsafeCell;
use std::sync::Arc;

use crate::record::ahead::Ahead;
use crate::record::outcome::{Outcome, OutcomeCell};
use crate::record::recording::{PassRecording, Recorded, Recordings};

/// Number of recordings per allocation.
pub(crate) const BLOCK: usize = 32;

/// An allocation of several recordings. Never moved, because recorders point to them.
#[derive(Default)]
pub(crate) struct Block {
    /// Outcomes of the runs, stored contiguously because they are read together.
    outcomes: [OutcomeCell; BLOCK],
    ahead: [Ahead; BLOCK],
    recordings: [UnsafeCell<PassRecording>; BLOCK],
}

// SAFETY: a recording is `Send`. Access is exclusive to one writer, or shared by readers, as `Slot` explains.
unsafe impl Sync for Block {}

impl Block {
    /// Resets the outcomes: no system ran yet in this frame.
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

    /// Returns the addresses that a system accesses first: its recording and its recorder's state.
    pub(crate) fn memory(&self, at: usize) -> [*const u8; 2] {
        let recording: *const PassRecording = self.recordings[at].get();
        [recording.cast(), self.ahead[at].state()]
    }

    /// Sets the addresses that the following system accesses first.
    pub(crate) fn set_next(&self, at: usize, next: [*const u8; 2]) {
        self.ahead[at].set_next(next);
    }

    /// Returns the addresses that a system prefetches.
    #[cfg(test)]
    pub(crate) fn next(&self, at: usize) -> [*const u8; 2] {
        self.ahead[at].next()
    }

    /// Returns a recording to a caller with exclusive access to all recordings.
    pub(crate) fn with<'a>(&'a self, at: usize, _: &'a mut Recordings) -> &'a mut PassRecording {
        // SAFETY: only systems that read `Recordings` write recordings, and the exclusive borrow of it excludes them.
        unsafe { &mut *self.recordings[at].get() }
    }

    /// Returns a recording to a caller with read access to all recordings.
    #[inline]
    pub(crate) fn read<'a>(&'a self, at: usize, _: &Recorded<'a>) -> &'a PassRecording {
        // SAFETY: `Recorded` borrows all recordings exclusively for its lifetime, so no system writes.
        unsafe { &*self.recordings[at].get() }
    }
}

/// Index of one pass system's recording. Access is synchronized by bevy:
///
/// - The system writes the recording while it runs. It then holds the state of its parameter exclusively, and reads the
///   resource [`Recordings`], as registered in `init_access`.
/// - All other code needs that resource exclusively, by `&mut Recordings` or a [`Recorded`] made from it. bevy grants
///   that only while no system runs that reads it.
pub(crate) struct Slot {
    block: Arc<Block>,
    at: u32,
}

impl Slot {
    /// Creates the slot of an index in a block.
    pub(crate) fn new(block: &Arc<Block>, at: usize) -> Self {
        Self {
            block: Arc::clone(block),
            at: at as u32,
        }
    }

    /// Sets the outcome of the run.
    #[inline]
    pub(crate) fn note(&self, outcome: Outcome) {
        self.block.outcomes[self.at as usize].set(outcome);
    }

    /// Prefetches the memory that the next system accesses first. The slot is part of the state of its system's
    /// recorder, so its address is that of the state.
    #[inline]
    pub(crate) fn fetch_ahead(&self) {
        let ahead = &self.block.ahead[self.at as usize];
        ahead.note(std::ptr::from_ref(self).cast());
        ahead.fetch();
    }

    /// Returns the recording to its system.
    ///
    /// # Safety
    /// The caller must be the parameter of the one system that this slot was created for, hold its state exclusively
    /// for the lifetime of the result, and have registered a read of the resource [`Recordings`] of the slot's world.
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
