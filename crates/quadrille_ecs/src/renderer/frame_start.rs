//! Start time of frames: at once, or as late as their cost allows, to reduce input latency.
//!
//! A frame that begins as soon as the previous one is submitted samples its input, and then waits for
//! the device or for an image of its window. That wait adds latency to the input. With
//! [`FrameStart::Late`] it is moved before the start of the frame. The wait to expect is the idle time
//! of previous frames: their delay plus the time they still waited.

use std::collections::VecDeque;
use std::time::Duration;

use bevy_ecs::prelude::*;

/// Start time of each frame after the previous one. Insert it as a resource; it may change at any time.
///
/// ```
/// # use bevy_app::App;
/// # use quadrille_ecs::FrameStart;
/// App::new().insert_resource(FrameStart::late());
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameStart {
    /// At once. A frame that takes longer than previous ones is least likely to be late.
    #[default]
    NoDelay,
    /// As late as the measured cost of frames allows, less a margin for frames that take longer. Reduces
    /// input latency, but an occasional frame may be late. Meant for windows that are paced by the
    /// display: present mode FIFO, or
    /// [`PresentSettings::pace_by_display`](crate::PresentSettings::pace_by_display).
    Late {
        /// The time that a frame may take longer than the longest of recent frames without being late.
        margin: Duration,
    },
}

impl FrameStart {
    /// Late, with a margin of two milliseconds.
    pub const fn late() -> Self {
        Self::Late {
            margin: Duration::from_millis(2),
        }
    }
}

/// The number of recent frames of which the shortest idle time counts.
const FRAMES: usize = 32;
/// The longest delay. A hidden window may block frames for long, and the program must stay responsive.
const LATEST: Duration = Duration::from_millis(30);

/// Idle time of previous frames. Has no clock of its own.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// Idle time by recent frame: the sum of its delay and of the time it still waited.
    spare: VecDeque<Duration>,
    /// The delay of the current frame.
    late: Duration,
}

impl Spare {
    /// The delay of the current frame.
    pub(crate) fn late(&self) -> Duration {
        self.late
    }

    /// Returns the delay of the next frame, after a frame that waited for `waited`.
    pub(crate) fn next(&mut self, waited: Duration, start: FrameStart) -> Duration {
        let FrameStart::Late { margin } = start else {
            *self = Self::default();
            return Duration::ZERO;
        };
        if self.spare.len() == FRAMES {
            self.spare.pop_front();
        }
        self.spare.push_back(self.late + waited);
        // No delay until enough frames are known.
        let least = match self.spare.len() {
            FRAMES => self.spare.iter().min().copied().unwrap_or_default(),
            _ => Duration::ZERO,
        };
        self.late = least.saturating_sub(margin).min(LATEST);
        self.late
    }
}

#[cfg(test)]
mod tests;
