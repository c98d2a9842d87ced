//! Timeout of acquiring a window's image, so that a window without available images does not delay the others. Pure.
//!
//! A compositor may hold all images of an invisible window indefinitely. The first frames wait, each for less time than
//! the one before. After that the window is only polled, with a short wait in every 16th frame, because a driver may
//! need time for the first image of a new swapchain.

use std::time::Duration;

/// Maximum wait for the only window.
const ALONE: Duration = Duration::from_millis(250);
/// Maximum wait for one of several windows.
const AMONG_OTHERS: Duration = Duration::from_millis(50);
/// Wait in every [`NOW_AND_THEN`]th polled frame.
const SHORT: Duration = Duration::from_millis(1);
/// Number of polled frames per short wait.
const NOW_AND_THEN: u32 = 16;
/// Number of misses after which the window is only polled.
const WAITING: u32 = 4;
/// Upper bound of misses, so that a window which becomes visible again is soon waited for.
const MAX_MISSES: u32 = 16;

/// Recent acquires of a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AcquireTimeout {
    /// Frames without an image minus later frames with one; never negative.
    misses: u32,
    asked: u32,
}

impl AcquireTimeout {
    /// Returns the timeout of the next acquire.
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

    /// Counts an acquired image.
    pub(super) fn hit(&mut self) {
        self.misses = self.misses.saturating_sub(1);
    }

    /// Counts a frame without an image.
    pub(super) fn missed(&mut self) {
        self.misses = (self.misses + 1).min(MAX_MISSES);
    }
}

#[cfg(test)]
mod tests;
