//! Unique numbers of Vulkan buffers and images. Handles may be reused by drivers, numbers are not: an equal number
//! means the same object of the same device.

use std::sync::atomic::{AtomicU32, Ordering};

/// Number of the current Vulkan object of a buffer or image.
#[derive(Debug)]
pub(crate) struct Generation(AtomicU32);

impl Generation {
    /// Takes an unused number; never 0.
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(next()))
    }

    /// Takes a new number, after the Vulkan object was replaced.
    pub(crate) fn change(&self) {
        self.0.store(next(), Ordering::Relaxed);
    }

    /// The number. It changes only between frames, as handles do, so relaxed access is enough.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

fn next() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1)
}
