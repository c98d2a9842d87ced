//! Barrier calls while a submission is put together, and how barriers get into them.

use std::ops::Range;

use super::Walk;
use crate::flags::Layout;
use crate::plan::{BarrierBatch, Reason, Scope, Step};
use crate::solve::barriers::record::Barrier;
use crate::solve::state::Mark;
use crate::topology::{BarrierStyle, QueueIndex};

/// The last barrier call of a queue. Later passes of its submission add to it what can stand there:
/// every call costs, and whatever depends on nothing behind it can be in it. In the end, so can
/// the next frame (see [`lookahead`](crate::solve::barriers::lookahead)).
#[derive(Clone, Copy, Debug)]
pub(in crate::solve) struct Call {
    submission: usize,
    /// Its place among the steps of the submission.
    at: usize,
    /// The pass that it stands before.
    step: u32,
}

/// A dependency on one access that changes neither layout nor owner.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Plain {
    /// The access.
    pub(in crate::solve) mark: Mark,
    pub(in crate::solve) interval: Range<u64>,
    pub(in crate::solve) src: Scope,
    pub(in crate::solve) dst: Scope,
    pub(in crate::solve) layout: Layout,
    pub(in crate::solve) reason: Reason,
}

impl Walk<'_> {
    /// Writes down the plain dependencies of the next pass, but for those that waits cover: for the
    /// access, or for another queue that has itself waited for it. Only now all waits are known.
    fn write_plain(&mut self, queue: QueueIndex) {
        let mut plain = std::mem::take(&mut self.plain);
        for plain in plain.drain(..) {
            self.past.consult(&plain.mark, queue);
            let waiting = self.timeline.ordered_by_waits(queue, plain.mark.point());
            if waiting.covers(plain.dst.stages) {
                continue;
            }
            match plain.mark.queue == queue {
                true => self.stand_behind(&plain.mark),
                false => self.stand_behind_wait(),
            }
            self.add_plain(plain);
        }
        // Emptied, for its memory.
        self.plain = plain;
    }

    /// Adds a plain dependency to the barriers that the next pass needs.
    fn add_plain(&mut self, plain: Plain) {
        let batch = &mut self.before_pass[0];
        let Plain {
            src, dst, reason, ..
        } = plain;
        if self.topology.barriers == BarrierStyle::Merged {
            batch.merge(src, dst, reason);
            return;
        }
        let only_orders = src.access.is_empty() && dst.access.is_empty();
        let resource = self.frame.resource(reason.resource);
        let count = batch.images.len();
        let barrier = Barrier::plain(src, dst, plain.layout, reason);
        batch.push(resource, plain.interval, barrier);
        if only_orders {
            // An execution dependency is not bound to a range: one part of it says everything.
            batch.images.truncate(count + 1);
        }
    }

    /// Says that the barriers of the next pass come after an access on the same queue.
    pub(in crate::solve) fn stand_behind(&mut self, mark: &Mark) {
        self.behind = self.behind.max(mark.step);
    }

    /// Says that the barriers of the next pass lead on from a wait.
    pub(in crate::solve) fn stand_behind_wait(&mut self) {
        self.is_behind_wait = true;
    }

    /// Puts what a pass needs into the submission: into the last barrier call there, if that
    /// stands behind all that the pass depends on, else into a call of its own.
    pub(in crate::solve) fn put_barriers(
        &mut self,
        submission: usize,
        queue: QueueIndex,
        step: u32,
    ) {
        self.write_plain(queue);
        let behind = std::mem::take(&mut self.behind);
        let is_of_frame = std::mem::take(&mut self.is_behind_wait) || behind > 0;
        if !self.before_pass[0].is_empty() {
            let joins = |call: &Call| call.submission == submission && call.step > behind;
            if !self.last_call(queue).is_some_and(|call| joins(&call)) {
                self.open_call(submission, queue, step);
            }
            self.add_to_call(queue, 0);
            if is_of_frame {
                self.note_first_call(queue);
            }
        }
        if !self.before_pass[1].is_empty() {
            self.open_call(submission, queue, step);
            self.add_to_call(queue, 1);
        }
    }

    /// Puts what the next frame needs into the last call of a queue.
    pub(in crate::solve) fn put_ahead(&mut self, queue: QueueIndex) {
        self.write_plain(queue);
        (self.behind, self.is_behind_wait) = (0, false);
        if !self.before_pass[0].is_empty() {
            self.add_to_call(queue, 0);
        }
    }

    /// The pass before which the first call of a queue stands that has to stand in this frame.
    pub(in crate::solve) fn first_call(&self, queue: QueueIndex) -> u32 {
        self.first_calls[usize::from(queue.0)]
    }

    /// The submission with the last call of a queue, and the pass that it stands before.
    pub(in crate::solve) fn last_call_place(&self, queue: QueueIndex) -> Option<(usize, u32)> {
        let call = self.last_call(queue)?;
        Some((call.submission, call.step))
    }

    fn last_call(&self, queue: QueueIndex) -> Option<Call> {
        self.last_calls[usize::from(queue.0)]
    }

    /// Notes that the last call of a queue has to stand in this frame.
    fn note_first_call(&mut self, queue: QueueIndex) {
        let step = self.last_call(queue).map_or(u32::MAX, |call| call.step);
        let first = &mut self.first_calls[usize::from(queue.0)];
        *first = (*first).min(step);
    }

    /// Begins a barrier call.
    fn open_call(&mut self, submission: usize, queue: QueueIndex, step: u32) {
        let steps = &mut self.records[submission].submission.steps;
        self.last_calls[usize::from(queue.0)] = Some(Call {
            submission,
            at: steps.len(),
            step,
        });
        steps.push(Step::Barriers(Box::default()));
    }

    /// Adds barriers that the next pass needs to the last call of a queue.
    fn add_to_call(&mut self, queue: QueueIndex, batch: usize) {
        let call = self.last_call(queue);
        let steps = call.map(|call| (&mut self.records[call.submission].submission.steps, call.at));
        let Some((steps, at)) = steps else {
            unreachable!("a call is opened before barriers are added to it");
        };
        let Step::Barriers(call) = &mut steps[at] else {
            unreachable!("a call is where it was opened");
        };
        BarrierBatch::append(call, &mut self.before_pass[batch]);
    }
}
