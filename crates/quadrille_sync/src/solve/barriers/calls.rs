//! Barrier calls of a submission under construction, and how barriers are added to them.

use std::ops::Range;

use crate::flags::Layout;
use crate::plan::{BarrierBatch, DependencyKind, Reason, Scope, Step};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::inputs::Inputs;
use crate::solve::barriers::record::{Barrier, Record};
use crate::solve::barriers::waits::Waits;
use crate::solve::state::TrackedAccess;
use crate::topology::{BarrierStyle, QueueIndex};

/// The last barrier call of a queue. Each call costs time, so later passes of the submission add
/// their barriers to it if these depend on nothing after the call. Look-ahead adds the barriers of
/// the next frame likewise (see [`lookahead`](crate::solve::barriers::lookahead)).
#[derive(Clone, Copy, Debug)]
struct Call {
    submission: usize,
    /// Its index among the steps of the submission.
    at: usize,
    /// The step of the pass that follows it.
    step: u32,
}

/// A dependency on one access that changes neither layout nor owner.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) tracked: TrackedAccess,
    pub(crate) interval: Range<u64>,
    pub(crate) src: Scope,
    pub(crate) dst: Scope,
    pub(crate) layout: Layout,
    pub(crate) reason: Reason,
}

/// Builder of barrier calls: the barriers that the next pass needs, and the last call of each queue.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Barriers that the next pass needs, in up to two calls: barriers within one call do not form a
    /// dependency chain.
    needed: [BarrierBatch; 2],
    /// Dependencies without change of layout or owner that the next pass needs.
    plain: Vec<Plain>,
    /// The step of the last pass on the same queue that the barriers of the next pass depend on.
    follows: u32,
    /// The barriers of the next pass chain from a semaphore wait.
    follows_wait: bool,
    /// The last call of each queue.
    last: Vec<Option<Call>>,
    /// By queue: the step of the pass after the first call that this frame needs in any case, since the
    /// previous frame could not have predicted it.
    first: Vec<u32>,
}

impl Calls {
    pub(crate) fn new(queues: usize) -> Self {
        Self {
            needed: Default::default(),
            plain: Vec::new(),
            follows: 0,
            follows_wait: false,
            last: vec![None; queues],
            first: vec![u32::MAX; queues],
        }
    }

    /// The barriers that the next pass needs, in its first or its second call.
    pub(crate) fn needed(&mut self, call: usize) -> &mut BarrierBatch {
        &mut self.needed[call]
    }

    /// Adds a plain dependency of the next pass, which waits may yet cover.
    pub(crate) fn add_plain(&mut self, plain: Plain) {
        self.plain.push(plain);
    }

    /// Notes that the barriers of the next pass depend on an access on the same queue.
    pub(crate) fn follow(&mut self, tracked: &TrackedAccess) {
        self.follows = self.follows.max(tracked.step);
    }

    /// Notes that the barriers of the next pass chain from a wait.
    pub(crate) fn follow_wait(&mut self) {
        self.follows_wait = true;
    }

    /// Records the plain dependencies of the next pass, except those that waits cover: waits for the
    /// access, or for another queue that has itself waited for it. Runs late, when all waits of the
    /// pass are known.
    fn write_plain(&mut self, waits: &mut Waits<'_>, queue: QueueIndex) {
        let mut plain = std::mem::take(&mut self.plain);
        for plain in plain.drain(..) {
            waits.past.consult(&plain.tracked, queue);
            let waiting = waits
                .timeline
                .ordered_by_waits(queue, plain.tracked.point());
            if waiting.covers(plain.dst.stages) {
                continue;
            }
            if plain.tracked.queue == queue {
                self.follow(&plain.tracked)
            } else {
                self.follow_wait()
            }
            self.need(waits.inputs, plain);
        }
        // Empty now; put back to reuse its allocation.
        self.plain = plain;
    }

    /// Adds a plain dependency to the barriers that the next pass needs.
    fn need(&mut self, inputs: Inputs<'_>, plain: Plain) {
        let batch = &mut self.needed[0];
        let Plain {
            src, dst, reason, ..
        } = plain;
        // A barrier of one resource does not cover accesses through another one in the same memory.
        let is_aliased = reason.dependency_kind == DependencyKind::Aliasing;
        if is_aliased || inputs.topology.barriers == BarrierStyle::Merged {
            batch.merge(src, dst, reason);
            return;
        }
        let only_orders = src.access.is_empty() && dst.access.is_empty();
        let count = batch.images.len();
        let barrier = Barrier::plain(src, dst, plain.layout, reason);
        let resource = inputs.frame.resource(barrier.reason.resource);
        batch.push(resource, plain.interval, barrier);
        if only_orders {
            // An execution dependency applies to whole stages, not to a range: one barrier is enough.
            batch.images.truncate(count + 1);
        }
    }

    /// Puts the barriers of a pass into its submission: into the last barrier call there, if that
    /// call follows everything that the pass depends on, else into a call of their own.
    pub(crate) fn put(
        &mut self,
        builder: &mut Builder<'_>,
        (submission, queue): (usize, QueueIndex),
        step: u32,
    ) {
        self.write_plain(&mut builder.waits, queue);
        let records = &mut builder.records;
        let follows = std::mem::take(&mut self.follows);
        let is_of_frame = std::mem::take(&mut self.follows_wait) || follows > 0;
        if !self.needed[0].is_empty() {
            let joins = |call: &Call| call.submission == submission && call.step > follows;
            let call = match self.last(queue).filter(joins) {
                Some(call) => call,
                None => self.open(records, (submission, queue), step),
            };
            self.add(records, call, 0);
            if is_of_frame {
                let first = &mut self.first[usize::from(queue.0)];
                *first = (*first).min(call.step);
            }
        }
        if !self.needed[1].is_empty() {
            let call = self.open(records, (submission, queue), step);
            self.add(records, call, 1);
        }
    }

    /// Puts a barrier for the next frame into the last call of a queue.
    pub(crate) fn put_ahead(&mut self, builder: &mut Builder<'_>, queue: QueueIndex) {
        self.write_plain(&mut builder.waits, queue);
        (self.follows, self.follows_wait) = (0, false);
        if self.needed[0].is_empty() {
            return;
        }
        let Some(call) = self.last(queue) else {
            unreachable!("a prediction has a call");
        };
        self.add(&mut builder.records, call, 0);
    }

    /// The pass after the first call of a queue that this frame needs.
    pub(crate) fn first(&self, queue: QueueIndex) -> u32 {
        self.first[usize::from(queue.0)]
    }

    /// The submission with the last call of a queue, and the step of the pass after that call.
    pub(crate) fn last_call(&self, queue: QueueIndex) -> Option<(usize, u32)> {
        let call = self.last(queue)?;
        Some((call.submission, call.step))
    }

    fn last(&self, queue: QueueIndex) -> Option<Call> {
        self.last[usize::from(queue.0)]
    }

    /// Begins a barrier call.
    fn open(
        &mut self,
        records: &mut [Record],
        (submission, queue): (usize, QueueIndex),
        step: u32,
    ) -> Call {
        let steps = &mut records[submission].submission.steps;
        let at = steps.len();
        steps.push(Step::Barriers(Box::default()));
        let call = Call {
            submission,
            at,
            step,
        };
        self.last[usize::from(queue.0)] = Some(call);
        call
    }

    /// Adds the barriers that the next pass needs to a call.
    fn add(&mut self, records: &mut [Record], call: Call, needed: usize) {
        let steps = &mut records[call.submission].submission.steps;
        let Step::Barriers(batch) = &mut steps[call.at] else {
            unreachable!("a call is where it was opened");
        };
        batch.append(&mut self.needed[needed]);
    }
}
