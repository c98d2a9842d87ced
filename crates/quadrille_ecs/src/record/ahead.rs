//! Prefetching for the next pass system. Each system has its own memory, which the processor's prefetcher cannot
//! predict.
//!
//! A frame of many small passes is memory-bound, and bevy's order of systems differs from that of their memory. The
//! order is known once the schedule is built. So while a system runs, it prefetches the memory that the next system
//! accesses first: its recording and the state of its recorder, next to which bevy stores the rest of the system. If
//! systems run in another order, on several threads or because one is skipped, the prefetch is wasted.

use std::sync::atomic::{AtomicPtr, Ordering};

use quadrille_vulkan::prefetch::{self, LINE};

use crate::record::recording::PassRecording;

/// Number of cache lines of a recording.
const RECORDING: usize = size_of::<PassRecording>().div_ceil(LINE);

/// Number of cache lines to prefetch on either side of a recorder's state. The compiler places the states of other
/// parameters, and bevy the rest of the system, before and behind it.
const PREFETCH_COUNT: usize = 2;

/// Addresses that one system prefetches for the next one. They are never dereferenced, because the other system may no
/// longer exist.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Address of the state of this system's recorder.
    state: AtomicPtr<u8>,
    /// Addresses of the next system's recording and recorder state.
    next: [AtomicPtr<u8>; 2],
}

impl Ahead {
    /// Sets the address of the recorder's state.
    #[inline]
    pub(crate) fn note(&self, state: *const u8) {
        // Written only on change, which is rare: an unmodified cache line can be shared by several cores.
        if self.state() != state {
            self.state.store(state.cast_mut(), Ordering::Relaxed);
        }
    }

    /// Returns the address of the recorder's state in its last run; null before the first.
    #[inline]
    pub(crate) fn state(&self) -> *const u8 {
        self.state.load(Ordering::Relaxed)
    }

    /// Sets the recording and the recorder state of the next system.
    pub(crate) fn set_next(&self, next: [*const u8; 2]) {
        for (place, memory) in self.next.iter().zip(next) {
            place.store(memory.cast_mut(), Ordering::Relaxed);
        }
    }

    /// Returns the prefetched addresses.
    #[cfg(test)]
    pub(crate) fn next(&self) -> [*const u8; 2] {
        let [recording, state] = &self.next;
        [recording, state].map(|place| place.load(Ordering::Relaxed).cast_const())
    }

    /// Prefetches the memory that the next system accesses first.
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
