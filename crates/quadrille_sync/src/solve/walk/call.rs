//! Barrier calls: what they are while a submission is put together, and how barriers get into them.

use std::ops::Range;

use smallvec::SmallVec;

use super::{Request, Walk};
use crate::flags::{Layout, Stages};
use crate::plan::{BarrierBatch, ImageBarrier, Reason, Scope, Step};
use crate::solve::after::left_by_wait;
use crate::solve::issued::{Issued, remember, remembered};
use crate::solve::show;
use crate::solve::timeline::Point;
use crate::solve::track::Mark;
use crate::topology::{BarrierStyle, QueueIndex};

/// The last barrier call of a queue. Later passes of its submission add to it what can stand there:
/// every call costs, and whatever depends on nothing behind it can be in it. In the end, so can
/// the next frame (see [`prepare`](crate::solve::prepare)).
#[derive(Debug)]
pub(in crate::solve) struct Call {
    pub(in crate::solve) submission: usize,
    /// The place of the call among the steps of the submission.
    pub(super) at: usize,
    /// The pass that it stands before.
    pub(in crate::solve) step: u32,
    pub(in crate::solve) number: u32,
    pub(in crate::solve) batch: BarrierBatch,
    pub(super) plain: Vec<Plain>,
}

/// Memory for the next barrier call.
#[derive(Debug, Default)]
pub(super) struct Spare {
    pub(super) images: Vec<ImageBarrier>,
    pub(super) plain: Vec<Plain>,
}

/// A dependency on one access that changes neither layout nor owner.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Plain {
    /// The access.
    pub(in crate::solve) mark: Mark,
    /// Whoever waits for it sees the write that an execution dependency on a read also shows.
    pub(in crate::solve) shown: Option<Point>,
    pub(in crate::solve) interval: Range<u64>,
    pub(in crate::solve) src: Scope,
    /// The first scope is what has waited: to lead on from one of its stages is enough.
    pub(in crate::solve) is_behind_wait: bool,
    pub(in crate::solve) dst: Scope,
    pub(in crate::solve) layout: Layout,
    pub(in crate::solve) reason: Reason,
}

impl Walk<'_> {
    /// Adds a dependency without change of layout or owner to what the next pass needs.
    pub(in crate::solve) fn add_plain(&mut self, plain: Plain) {
        self.plain.push(plain);
    }

    /// Whether a barrier since an access already orders a scope after it; with accesses in
    /// `dst`, also makes it visible there.
    #[inline]
    pub(in crate::solve) fn is_ordered(&self, mark: &Mark, src: Scope, dst: Scope) -> bool {
        let issued = remembered(&self.issued[usize::from(mark.queue.0)]);
        // Those remembered last stand behind the others.
        for issued in issued.iter().rev() {
            if issued.step <= mark.step {
                return false;
            }
            if issued.src.contains(src) && issued.dst.contains(dst) {
                return true;
            }
        }
        false
    }

    /// Whether the last call of a submission leads on to a scope from one of the stages that wait
    /// there. What an earlier submission has issued may have come before the wait.
    pub(in crate::solve) fn is_led_on(
        &self,
        request: &Request,
        waiting: Stages,
        dst: Scope,
    ) -> bool {
        let call = self.last_call(request.queue);
        let Some(call) = call.filter(|call| call.submission == request.submission) else {
            return false;
        };
        let issued = remembered(&self.issued[usize::from(request.queue.0)]).iter();
        let waiting = waiting.expanded();
        let leads = |it: &Issued| it.src.stages.intersects(waiting) && it.dst.contains(dst);
        issued.filter(|it| it.call == call.number).any(leads)
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
        if self.plain.is_empty() && self.before_pass.iter().all(BarrierBatch::is_empty) {
            self.behind = 0;
            self.is_behind_wait = false;
            return;
        }
        let mut plain = std::mem::take(&mut self.plain);
        self.leave_to_waits(&mut plain, queue);
        let behind = std::mem::take(&mut self.behind);
        let is_of_frame = std::mem::take(&mut self.is_behind_wait) || behind > 0;
        if !self.before_pass[0].is_empty() || !plain.is_empty() {
            let joins = |call: &Call| call.submission == submission && call.step > behind;
            if !self.last_call(queue).is_some_and(joins) {
                self.open_call(submission, queue, step);
            }
            self.add_to_call(queue, 0, &mut plain);
            if is_of_frame {
                self.note_first_call(queue);
            }
        }
        if !self.before_pass[1].is_empty() {
            self.open_call(submission, queue, step);
            self.add_to_call(queue, 1, &mut plain);
        }
        // Emptied, for its memory.
        self.plain = plain;
    }

    fn last_call(&self, queue: QueueIndex) -> Option<&Call> {
        self.last_calls[usize::from(queue.0)].as_ref()
    }

    /// Notes that the last call of a queue has to stand in this frame.
    fn note_first_call(&mut self, queue: QueueIndex) {
        let step = self.last_call(queue).map_or(u32::MAX, |call| call.step);
        let first = &mut self.first_calls[usize::from(queue.0)];
        *first = (*first).min(step);
    }

    /// The pass before which the first call of a queue stands that has to stand in this frame.
    pub(in crate::solve) fn first_call(&self, queue: QueueIndex) -> u32 {
        self.first_calls[usize::from(queue.0)]
    }

    /// The submission with the last call of a queue, and the pass that it stands before.
    pub(in crate::solve) fn last_call_place(&self, queue: QueueIndex) -> Option<(usize, u32)> {
        self.last_call(queue)
            .map(|call| (call.submission, call.step))
    }

    /// Puts what the next frame needs into the last call of a queue.
    pub(in crate::solve) fn put_ahead(&mut self, queue: QueueIndex) {
        if self.plain.is_empty() && self.before_pass[0].is_empty() {
            return;
        }
        let mut plain = std::mem::take(&mut self.plain);
        self.leave_to_waits(&mut plain, queue);
        self.behind = 0;
        self.is_behind_wait = false;
        if !plain.is_empty() || !self.before_pass[0].is_empty() {
            self.add_to_call(queue, 0, &mut plain);
        }
        self.plain = plain;
    }

    /// Begins a barrier call.
    fn open_call(&mut self, submission: usize, queue: QueueIndex, step: u32) {
        self.close_call(queue);
        let steps = &mut self.records[submission].submission.steps;
        self.calls += 1;
        self.last_calls[usize::from(queue.0)] = Some(Call {
            submission,
            at: steps.len(),
            step,
            number: self.calls,
            batch: BarrierBatch {
                images: std::mem::take(&mut self.spare.images),
                ..BarrierBatch::default()
            },
            plain: std::mem::take(&mut self.spare.plain),
        });
        // Written when the call is closed.
        steps.push(Step::Barriers(Box::default()));
    }

    /// Adds barriers to the call, some of those that the next pass needs, and remembers them for those
    /// who come later.
    fn add_to_call(&mut self, queue: QueueIndex, batch: usize, plain: &mut Vec<Plain>) {
        let batch = &mut self.before_pass[batch];
        let Some(call) = &mut self.last_calls[usize::from(queue.0)] else {
            unreachable!("a call is opened before barriers are added to it");
        };
        let issued = &mut self.issued[usize::from(queue.0)];
        let style = self.topology.barriers;
        let barrier = |is_global: bool, src: Scope, dst: Scope| {
            Issued::new(call.step, call.number, is_global, (src, dst))
        };
        for (src, dst) in batch.orders() {
            remember(issued, barrier(false, src, dst));
        }
        for Plain { src, dst, .. } in plain.iter() {
            // Mere order may be left out of the global barrier, and with it its stages.
            let only_orders = src.access.is_empty() && dst.access.is_empty();
            match style {
                BarrierStyle::Merged if !only_orders => {
                    remember(issued, barrier(true, *src, *dst));
                }
                _ => remember(issued, barrier(false, src.stages_only(), dst.stages_only())),
            }
        }
        call.plain.append(plain);
        let (images, buffers) = (batch.images.len(), batch.buffers.len());
        call.batch.append(batch);
        show::note(&mut self.standing, call, images, buffers);
    }

    /// Leaves to waits what they cover of dependencies, and to other barriers of the same call what these
    /// lead on to from a wait.
    fn leave_to_waits(&mut self, plain: &mut Vec<Plain>, queue: QueueIndex) {
        plain.retain_mut(|plain| self.is_left_by_waits(plain, queue));
        let only_orders =
            |it: &Plain| it.is_behind_wait && it.src.access.is_empty() && it.dst.access.is_empty();
        if !plain.iter().any(only_orders) {
            return;
        }
        let others = plain.iter().filter(|it| !it.is_behind_wait);
        let others: SmallVec<[(Scope, Scope); 4]> = others
            .map(|it| (it.src, it.dst))
            .chain(self.before_pass[0].orders())
            .collect();
        let leads_on = |it: &Plain| {
            let waiting = it.src.stages.expanded();
            let mut others = others.iter();
            others.any(|(src, dst)| src.stages.intersects(waiting) && dst.contains(it.dst))
        };
        plain.retain(|it| !only_orders(it) || !leads_on(it));
    }

    /// Leaves to waits what they cover of a dependency, and says whether anything is left: waits for
    /// another queue that has itself waited for the access, or those that were added, for another
    /// range, after the dependency was found. What is left leads on from them.
    fn is_left_by_waits(&mut self, plain: &mut Plain, queue: QueueIndex) -> bool {
        self.past.consult(&plain.mark, queue);
        if let Some(shown) = plain.shown {
            let waiting = self.timeline.ordered_by_waits(queue, shown);
            if waiting.covers(plain.dst.stages) {
                plain.dst = plain.dst.stages_only();
            }
        }
        let stages = self.timeline.ordered_by_waits(queue, plain.mark.point());
        let left = left_by_wait(plain.dst, stages);
        // A call for the next frame may stand before the wait.
        if left != plain.dst && self.next_use.is_none() {
            plain.src = Scope {
                stages,
                ..Scope::default()
            };
            plain.is_behind_wait = true;
        }
        plain.dst = left;
        !plain.dst.stages.is_empty()
    }
}
