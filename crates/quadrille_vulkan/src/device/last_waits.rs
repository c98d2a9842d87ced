//! How long tear-down waits, over all that it waits for.
//!
//! At its end a program waits for several things in turn: for the presents of each window, for
//! each stream, for the device. Whatever does not come to its end would hold up each of them for
//! its full limit, so what one of them has found out counts for the others.
//!
//! Vulkan allows nothing to be destroyed while it is in use, and no parent while there are
//! children: not a fence that a present has and that is never signalled
//! (VUID-vkDestroyFence-fence-01120), and then not its device either
//! (VUID-vkDestroyDevice-device-05137). Such an object is left behind, with device and instance;
//! everything else is destroyed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a fence may take whose queue is idle.
const FENCE_TIMEOUT: Duration = Duration::from_millis(500);
/// The same once a fence took longer.
const SHORT_FENCE_TIMEOUT: Duration = Duration::from_millis(20);

/// Findings of the waits of a tear-down.
#[derive(Debug, Default)]
pub(crate) struct LastWaits {
    /// The device did not get on within a wait's limit.
    stuck: AtomicBool,
    /// The driver does not signal the fences of presents.
    forgets_fences: AtomicBool,
    /// Something is in use for good.
    held: AtomicBool,
}

impl LastWaits {
    /// How long to wait for the device now.
    pub(crate) fn timeout(&self, timeout: Duration) -> Duration {
        if self.stuck.load(Ordering::Relaxed) {
            Duration::ZERO
        } else {
            timeout
        }
    }

    /// Notes whether the device came to rest.
    pub(crate) fn note(&self, came: bool) {
        self.stuck.store(!came, Ordering::Relaxed);
    }

    /// How long to wait for the fences of presents.
    pub(crate) fn fence_timeout(&self) -> Duration {
        if self.forgets_fences.load(Ordering::Relaxed) {
            SHORT_FENCE_TIMEOUT
        } else {
            FENCE_TIMEOUT
        }
    }

    /// Notes whether the fences of presents were signalled.
    pub(crate) fn note_fences(&self, came: bool) {
        self.forgets_fences.store(!came, Ordering::Relaxed);
    }

    /// Notes that something made from the device is never destroyed.
    pub(crate) fn hold(&self) {
        self.held.store(true, Ordering::Relaxed);
    }

    /// Whether there is such a thing.
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
