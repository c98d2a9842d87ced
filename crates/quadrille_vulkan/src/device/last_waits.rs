//! Timeouts of tear-down, shared by all its waits.
//!
//! At exit a program waits for the presents of each window, for each stream, and for the device. A stuck device would
//! use up the full timeout of each of these waits, so the first timeout shortens the later ones.
//!
//! Vulkan forbids destroying an object in use, or a parent with children: a fence of a present that is never
//! signalled (VUID-vkDestroyFence-fence-01120), and therefore its device
//! (VUID-vkDestroyDevice-device-05137). Such an object is leaked, with device and instance;
//! everything else is destroyed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Timeout of a present's fence after its queue is idle.
const FENCE_TIMEOUT: Duration = Duration::from_millis(500);
/// The timeout after one fence has timed out.
const SHORT_FENCE_TIMEOUT: Duration = Duration::from_millis(20);

/// Findings of the waits of a tear-down.
#[derive(Debug, Default)]
pub(crate) struct LastWaits {
    /// Whether a wait for the device has timed out.
    stuck: AtomicBool,
    /// Whether a wait for the fences of presents has timed out.
    forgets_fences: AtomicBool,
    /// Whether an object is in use forever, and was leaked.
    leaked: AtomicBool,
}

impl LastWaits {
    /// Returns the timeout of the next wait for the device.
    pub(crate) fn timeout(&self, timeout: Duration) -> Duration {
        if self.stuck.load(Ordering::Relaxed) {
            Duration::ZERO
        } else {
            timeout
        }
    }

    /// Records whether a wait for the device succeeded.
    pub(crate) fn note(&self, came: bool) {
        self.stuck.store(!came, Ordering::Relaxed);
    }

    /// Returns the timeout of the next wait for fences of presents.
    pub(crate) fn fence_timeout(&self) -> Duration {
        if self.forgets_fences.load(Ordering::Relaxed) {
            SHORT_FENCE_TIMEOUT
        } else {
            FENCE_TIMEOUT
        }
    }

    /// Records whether the fences of presents were signalled.
    pub(crate) fn note_fences(&self, came: bool) {
        self.forgets_fences.store(!came, Ordering::Relaxed);
    }

    /// Records that an object of the device was leaked.
    pub(crate) fn hold(&self) {
        self.leaked.store(true, Ordering::Relaxed);
    }

    /// Whether an object of the device was leaked.
    pub(crate) fn has_leaked(&self) -> bool {
        self.leaked.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
