//! Numbers of Vulkan buffers and images: handles are used again, numbers are not. An unchanged number
//! means the same object, of the same device.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of what a buffer or image is at the moment.
#[derive(Debug)]
pub(crate) struct Generation(AtomicU32);

impl Generation {
    /// A number that nothing has had, and not 0.
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(next()))
    }

    /// Takes another number: something else has taken over.
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
