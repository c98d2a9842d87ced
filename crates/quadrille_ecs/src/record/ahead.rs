//! Fetching what comes next: pass systems run one after another, each in memory of its own, which
//! the processor cannot predict.
//!
//! A frame of many small passes waits for memory more than it computes, and bevy's order is not
//! that of memory. But it is known once the schedule is built. So while a system runs, the memory
//! that the next one touches first is fetched: its recording, and the state of its recorder, beside
//! which bevy has the rest of the system. Where systems run otherwise, on several threads or because
//! one is skipped, something is fetched for nothing.

use std::sync::atomic::{AtomicPtr, Ordering};

use quadrille_vulkan::prefetch::{self, LINE};

use crate::record::recording::PassRecording;

/// How many lines a recording has.
const RECORDING: usize = size_of::<PassRecording>().div_ceil(LINE);

/// How many lines of a system are fetched on either side of the place where the state of its
/// recorder begins: the compiler puts the states of other parameters before and behind it, and bevy
/// what it keeps of the system.
const PREFETCH_COUNT: usize = 2;

/// Addresses that one system prefetches for the one after it. They are only fetched, never read: the
/// other system may be gone.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Where the state of its own recorder is.
    state: AtomicPtr<u8>,
    /// The recording and the state of the next.
    next: [AtomicPtr<u8>; 2],
}

impl Ahead {
    /// Notes where the state of the system is.
    #[inline]
    pub(crate) fn note(&self, state: *const u8) {
        // Systems hardly ever move, and what is not written can be read by many cores.
        if self.state() != state {
            self.state.store(state.cast_mut(), Ordering::Relaxed);
        }
    }

    /// Where the state of the system was when it ran last; null if it never did.
    #[inline]
    pub(crate) fn state(&self) -> *const u8 {
        self.state.load(Ordering::Relaxed)
    }

    /// Takes in the recording and the state of the next system.
    pub(crate) fn set_next(&self, next: [*const u8; 2]) {
        for (place, memory) in self.next.iter().zip(next) {
            place.store(memory.cast_mut(), Ordering::Relaxed);
        }
    }

    /// Returns the addresses that are fetched.
    #[cfg(test)]
    pub(crate) fn next(&self) -> [*const u8; 2] {
        let [recording, state] = &self.next;
        [recording, state].map(|place| place.load(Ordering::Relaxed).cast_const())
    }

    /// Has the processor fetch what the next system touches first.
    #[inline]
    pub(crate) fn fetch(&self) {
        let [recording, state] = &self.next;
        let recording = recording.load(Ordering::Relaxed).cast_const();
        prefetch::lines(recording, RECORDING);
        let state = state.load(Ordering::Relaxed).cast_const();
        prefetch::lines(
            state.wrapping_sub(PREFETCH_COUNT * LINE),
            2 * PREFETCH_COUNT,
        );
    }
}
