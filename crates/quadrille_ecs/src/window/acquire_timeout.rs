//! How long a frame waits for one window's image, so that a window that gives none holds up no
//! other. Pure.
//!
//! A compositor may keep all images of a window that nobody sees, for ever. The first frames wait
//! for it, each less than the one before; then the window is only polled, with a short wait every
//! now and then, since a driver may need some time to hand out the first image of a new swapchain.

use std::time::Duration;

/// How long the only window may hold up a frame.
const ALONE: Duration = Duration::from_millis(250);
/// How long a window may hold up a frame that others are drawn in.
const AMONG_OTHERS: Duration = Duration::from_millis(50);
/// The wait now and then.
const SHORT: Duration = Duration::from_millis(1);
/// How often.
const NOW_AND_THEN: u32 = 16;
/// Frames that wait before the window is only polled.
const WAITING: u32 = 4;
/// A window has to show this much more often than it is missed to be waited for again.
const MAX_MISSES: u32 = 16;

/// How a window has behaved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AcquireTimeout {
    /// Frames without an image, less those with one since.
    misses: u32,
    asked: u32,
}

impl AcquireTimeout {
    /// How long to wait for the image of the next frame.
    pub(super) fn next(&mut self, is_alone: bool) -> Duration {
        let most = if is_alone { ALONE } else { AMONG_OTHERS };
        if self.misses < WAITING {
            return most / 4_u32.pow(self.misses);
        }
        self.asked = (self.asked + 1) % NOW_AND_THEN;
        match self.asked {
            0 => SHORT,
            _ => Duration::ZERO,
        }
    }

    /// The window had an image.
    pub(super) fn hit(&mut self) {
        self.misses = self.misses.saturating_sub(1);
    }

    /// The window had no image in time.
    pub(super) fn missed(&mut self) {
        self.misses = (self.misses + 1).min(MAX_MISSES);
    }
}

#[cfg(test)]
mod tests;
