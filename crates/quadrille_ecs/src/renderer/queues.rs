//! Passes whose queue follows from what frames cost ([`QueueWish::Auto`]): when frames are measured
//! and looked at.
//!
//! What is better is decided by [`QueueChoices`]. Two frames in a row are measured for each look, at
//! the price of a timestamp a pass: the time that a frame adds to the device begins where the frame
//! before it ends. Decisions take effect with the next frame that is collected.
//!
//! [`QueueWish::Auto`]: crate::QueueWish::Auto

use std::time::Instant;

use quadrille_sync::{Frame, PassIndex, QueueChoices, ResourceIndex, States, Topology};
use quadrille_vulkan::{DeviceTimes, Frames, Gpu, Handle};
use serde_json::{Map, Value, json};

use crate::renderer::advice;

/// Frames between looks while a decision is under way: about half a second.
const SHORT_GAP: u32 = 32;

/// Frames between looks at most: planning a frame a few times should cost next to nothing.
const LONG_GAP: u32 = 1024;

/// Chooses queues, while frames go on.
pub(crate) struct OpenQueues {
    is_on: bool,
    choices: QueueChoices,
    /// They have changed, and the collector does not know yet.
    is_changed: bool,
    /// Frames until the next ones are measured, and from then to those after them.
    frames_left: u32,
    gap: u32,
    /// Frames are being measured for a look.
    is_due: bool,
    /// The number of the frame that was measured last, and when the device was done with it.
    last: Option<(u64, Instant)>,
    measured: Option<Measured>,
}

/// A frame that was measured after the one before it.
struct Measured {
    times: DeviceTimes,
    took_us: u64,
}

impl OpenQueues {
    /// Nothing is chosen yet.
    pub(crate) fn new(gpu: &Gpu) -> Self {
        Self {
            is_on: gpu.has_auto_queues() && gpu.topology().queues.len() > 1,
            choices: QueueChoices::default(),
            is_changed: false,
            frames_left: SHORT_GAP,
            gap: SHORT_GAP,
            is_due: false,
            last: None,
            measured: None,
        }
    }

    /// Has frames measured when it is time to.
    pub(crate) fn measure(&mut self, frames: &mut Frames) {
        if !self.is_on || self.is_due {
            return;
        }
        if self.frames_left > 0 {
            self.frames_left -= 1;
            return;
        }
        self.is_due = true;
        frames.measure_next(2);
    }

    /// A frame was measured.
    pub(crate) fn measured(&mut self, times: &DeviceTimes) {
        if !self.is_due {
            return;
        }
        let Some(end) = times.submissions.iter().map(|it| it.end).max() else {
            return;
        };
        let last = self.last.replace((times.frame, end));
        let begin = times.submissions.iter().map(|it| it.begin).min();
        if let (Some((frame, before)), Some(begin)) = (last, begin)
            && frame + 1 == times.frame
        {
            let took = end.saturating_duration_since(begin.max(before));
            self.measured = Some(Measured {
                times: times.clone(),
                took_us: took.as_micros() as u64,
            });
        }
    }

    /// Looks at a frame that was submitted, if it was measured. `open` are its passes that may move,
    /// in order, and `handles` what its resources mean.
    pub(crate) fn look(
        &mut self,
        (frame, open, handles): (&Frame, &[PassIndex], &[Handle]),
        (topology, states): (&Topology, &States),
    ) {
        let Some(Measured { times, took_us }) = self.measured.take() else {
            return;
        };
        let costs = advice::measured(frame, &times);
        self.is_changed |= self.choices.look(
            frame,
            topology,
            states,
            (
                |pass| open.binary_search(&pass).is_ok(),
                |resource: ResourceIndex| handles[resource.0 as usize].has_open_sharing(),
            ),
            |pass| Some(costs[pass.0 as usize]? / 1000),
            Some(took_us),
        );
        let is_busy = self.is_changed || self.choices.are_under_way();
        self.gap = if is_busy {
            SHORT_GAP
        } else {
            (self.gap * 2).min(LONG_GAP)
        };
        self.frames_left = self.gap;
        self.is_due = false;
    }

    /// The choices, if they have changed since the last call.
    pub(crate) fn changed(&mut self) -> Option<QueueChoices> {
        std::mem::take(&mut self.is_changed).then(|| self.choices.clone())
    }

    /// The passes that were moved, by name.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let moves = self.choices.moves().map(|moved| {
            let value = json!({
                "queue": moved.queue.0,
                "takes_us": moved.cost_us,
                "saves_us": moved.saves_us,
                "tried": moved.is_tried,
            });
            (moved.pass.to_string(), value)
        });
        moves.collect()
    }
}
