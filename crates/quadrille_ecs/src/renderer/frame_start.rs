//! When frames begin: at once, or as late as their cost allows.
//!
//! A frame that begins as soon as the one before is submitted reads its input, and then waits: for
//! the device, or for an image of its window. That wait is time by which the input gets old. Here
//! it is spent before the frame begins instead. How long it was, and so how long it will be, is
//! known from the frames before: what they waited, and what they began late.

use std::collections::VecDeque;
use std::time::Duration;

use bevy_ecs::prelude::*;

/// When the next frame begins after the one before. Insert it as a resource, or change it at any
/// time.
///
/// ```
/// # use bevy_app::App;
/// # use quadrille_ecs::FrameStart;
/// App::new().insert_resource(FrameStart::late());
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameStart {
    /// At once: nothing is lost if a frame takes longer than those before it.
    #[default]
    NoDelay,
    /// As late as the measured cost of frames allows, less a margin for those that take longer:
    /// what is shown is that much fresher, and a frame now and then may come late. It is for
    /// windows that are paced by the display: FIFO, or
    /// [`PresentSettings::pace_by_display`](crate::PresentSettings::pace_by_display).
    Late {
        /// How much longer than any of the frames before it a frame may take without being late.
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

/// Over how many frames the least time to spare is looked for.
const FRAMES: usize = 32;
/// Frames never begin later than this: a window that nobody sees makes frames wait for long, and
/// the program must stay awake.
const LATEST: Duration = Duration::from_millis(30);

/// Time that previous frames had to spare. Pure.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// Per recent frame, the sum of its delay and of the time it still waited.
    spare: VecDeque<Duration>,
    /// How late the frame that is on has begun.
    late: Duration,
}

impl Spare {
    /// How late the frame that is on has begun.
    pub(crate) fn late(&self) -> Duration {
        self.late
    }

    /// How late the next frame is to begin, after one that has waited so long.
    pub(crate) fn next(&mut self, waited: Duration, start: FrameStart) -> Duration {
        let FrameStart::Late { margin } = start else {
            *self = Self::default();
            return Duration::ZERO;
        };
        if self.spare.len() == FRAMES {
            self.spare.pop_front();
        }
        self.spare.push_back(self.late + waited);
        // Nothing is known of the first frames.
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
