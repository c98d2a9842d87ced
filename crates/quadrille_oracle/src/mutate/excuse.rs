//! Why a mutant may survive: [`Excuse`] is the whole list, each with its reason.
//!
//! Excuses are given by the shape of the frame and the plan, before anything is judged, and most
//! mutants that have one are noticed all the same; `tests/mutation.rs` prints how many are not, by
//! excuse. One, [`Excuse::History`], has to be shown for each mutant.

use quadrille_sync::{
    BarrierBatch, PassRef, Reason, ResourceIndex, Rung, Stages, Step, Submission, Use, Wait,
};

use super::barrier::{Barrier, Spot};
use super::maker::Maker;
use crate::area::Area;
use crate::stages::{accesses, single};

/// Why a mutant may survive though the plan is minimal and the judge is not blind. Most mutants
/// that have an excuse are noticed all the same; those that are not are counted by excuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Excuse {
    /// The release rests on a prediction, which need not come true: nobody may ever acquire.
    Prediction,
    /// Dependencies chain where their stages meet, and one stage is enough to meet in: which of
    /// several is left out does not matter, as long as one is left.
    Chain,
    /// The contents are not needed, so they can as well be thrown away, or stay with another
    /// family.
    Discard,
    /// Several uses of a pass, or several stages of one that reads in some and writes in others,
    /// or a use of another range than the barrier's (the two halves of a transfer name one range),
    /// share a second scope: not every part of it is for every part of the range.
    Shared,
    /// The mask says something twice: a group of stages beside one of them, or a stage that
    /// logical order implies beside the one that implies it. For order alone one is enough.
    Spelling,
    /// An earlier barrier of the resource has made the write available already, or visible to a
    /// part of what this one names: that part says again what is done.
    Already,
    /// What is waited for lies in an earlier frame, and barriers and waits of earlier frames have
    /// done it already, for another resource or over another queue.
    ///
    /// States do not remember which barriers a frame has issued, and of the waits for a queue only
    /// the last: what is not remembered is done again, which is harmless, and a plan that hung on
    /// it would fit once and not for the next frame. This excuse is never believed: a mutant under
    /// it must be missed by a judge who remembers all accesses of the frames before, and none of
    /// their dependencies ([`survivors`](super::survivors)). So what survives is what an earlier
    /// frame has done, and nothing else.
    History,
    /// A host pass before the submission, in this frame or an earlier one, has waited for the same
    /// signal, so that all before it is over when the submission is made: its own wait only shows
    /// it memory, as one for the signal before would.
    Over,
    /// Who takes over an image that was released, and discards, names all writes, because the release
    /// may have been a transition. By the specification a transition makes itself available;
    /// to name it as well does no harm.
    Released,
    /// A submission waits for several signals in one stage, and one of these has waited for what
    /// another is there for: which of the waits names the stage does not matter.
    TwoWaits,
    /// There is a global memory barrier: what it says for one resource holds for others too, and
    /// can make a part of another barrier needless that nobody would miss.
    Merged,
    /// The queue waits for a signal that has itself waited for this queue, so that the wait orders
    /// and shows what the barrier does.
    RoundTrip,
    /// The order leads through a culled pass: it holds without the pass, but what stands behind half
    /// of it may be what the pass alone would have read.
    Culled,
    /// Who is outside of the device signals nothing that a plan could wait for: what an acquire from
    /// there leads on from is for the caller to see to.
    Outside,
    /// What others wrote to shared memory is dead: it is made available, and visible to nobody.
    Dead,
    /// Where one resource has touched shared memory in part, what was done before it is kept for the
    /// next one, though that comes after this one, and this one has come after what was before.
    Turns,
    /// The barrier only orders (or shows nothing but what others wrote to shared memory, which is
    /// dead), and order is not bound to its range: it holds for all ranges, and barriers of other
    /// ranges order this one too.
    Order,
}

/// The excuses for a barrier's mutants.
#[derive(Clone, Copy, Default)]
pub(super) struct Excuses {
    /// For the barrier as a whole.
    pub(super) all: Option<Excuse>,
    /// For parts of the first scope.
    pub(super) src: Option<Excuse>,
    /// For parts of the second scope, and of the range.
    pub(super) dst: Option<Excuse>,
    /// What earlier frames may have done, for parts of the barrier where nothing else excuses them;
    /// it has to be shown ([`Excuse::History`]).
    pub(super) history: Option<Excuse>,
    /// The same for the barrier as a whole.
    pub(super) history_of_all: Option<Excuse>,
    /// What several others have done to shared memory makes one first scope: not each stage of it
    /// goes with each access, nor with each of the others.
    pub(super) is_aliased: bool,
}

impl Excuses {
    /// One excuse for everything.
    pub(super) fn all(excuse: Excuse) -> Self {
        let excuse = Some(excuse);
        Self {
            all: excuse,
            src: excuse,
            dst: excuse,
            ..Self::default()
        }
    }
}

impl Excuses {
    /// For taking the barrier out, or to a later place.
    pub(super) fn of_all(&self) -> Option<Excuse> {
        self.all.or(self.history_of_all)
    }

    /// For parts of the range, and of who sees it.
    pub(super) fn of_range(&self) -> Option<Excuse> {
        self.dst.or(self.history)
    }
}

impl Maker<'_> {
    /// What excuses the mutants of a barrier of a range.
    pub(super) fn excuses_of_barrier(
        &self,
        barrier: &Barrier,
        reason: &Reason,
        area: &Area,
    ) -> Excuses {
        let submission = &self.plan.submissions[barrier.spot.submission];
        let again = self
            .is_again(barrier.spot, reason.resource)
            .then_some(Excuse::Already);
        let history = matches!(reason.earlier, PassRef::Earlier(_)).then_some(Excuse::History);
        // What it is for only reads there, as it is, or reads before it writes.
        let writes = accesses(barrier.dst.access, true);
        let only_shows = reason.rung == Rung::Memory && writes.is_empty();
        // It makes nothing available, and what it shows is dead.
        let is_dead = reason.rung == Rung::Aliasing
            && barrier.src.access.is_empty()
            && !self.frame.resource(reason.resource).is_image();
        let all = if matches!(reason.later, PassRef::Next(_)) {
            Some(Excuse::Prediction)
        } else if barrier.is_transfer() && self.is_needless(reason) {
            Some(Excuse::Discard)
        } else if !barrier.is_acquire() && self.queue_waits(submission) {
            Some(Excuse::RoundTrip)
        } else if self.has_global_barrier() {
            Some(Excuse::Merged)
        } else if barrier.only_orders() || is_dead {
            Some(Excuse::Order)
        } else {
            // One barrier for two readers, who differ in stage and in access, shows more than
            // either asks for: perhaps just what a third one wants.
            again.filter(|_| only_shows)
        };
        // Of one queue alone, everything is known.
        let several = self.topology.queues.len() > 1;
        let plain = reason.rung != Rung::LayoutTransition && !barrier.is_transfer();
        let is_plain = several && plain || only_shows;
        let shared = (!self.is_for_one_use(reason, area)).then_some(Excuse::Shared);
        let is_outside = barrier.is_acquire() && reason.earlier == PassRef::Nobody;
        let outside = is_outside.then_some(Excuse::Outside);
        let is_aliased = reason.rung == Rung::Aliasing;
        let dead = is_aliased.then_some(Excuse::Dead);
        Excuses {
            all,
            src: all.or(again).or(outside),
            dst: all.or(shared).or(again).or(dead),
            history,
            history_of_all: history.filter(|_| is_plain),
            is_aliased,
        }
    }

    /// What excuses the mutants of a wait: order with earlier frames.
    pub(super) fn excuse_of_wait(&self, wait: &Wait) -> Option<Excuse> {
        let is_earlier = |reason: &Reason| matches!(reason.earlier, PassRef::Earlier(_));
        let is_history = wait.reasons.iter().all(is_earlier);
        is_history.then_some(Excuse::History)
    }

    /// Whether stages of a wait may have waited before: with maintenance8 one such stage is enough
    /// for an acquire to chain from, if its first scope names all.
    pub(super) fn is_wide(&self, wait: &Wait) -> bool {
        self.topology.maintenance8 && wait.stages == Stages::ALL_COMMANDS
    }

    /// What excuses a wait that lacks a stage: another wait has it too, or only some of its stages
    /// write, and what is waited for are reads.
    pub(super) fn excuse_of_wait_stage(
        &self,
        submission: &Submission,
        wait: &Wait,
        stage: Stages,
    ) -> Option<Excuse> {
        let others = submission.waits.iter().filter(|other| *other != wait);
        let mut stages = others.map(|other| single(other.stages));
        if stages.any(|stages| stages.contains(single(stage))) {
            return Some(Excuse::TwoWaits);
        }
        let mixed = |declared: &Use| {
            let access = declared.access;
            access.is_read() && access.is_write() && single(access.stages()).iter().count() > 1
        };
        let mut reasons = wait.reasons.iter();
        reasons
            .any(|reason| self.later_uses(reason).any(mixed))
            .then_some(Excuse::Shared)
    }

    /// Whether a host pass that a submission comes after has waited for what it waits for.
    pub(super) fn is_over(&self, submission: usize, wait: &Wait) -> bool {
        let is_before = |before: u32| before as usize <= submission;
        let mut earlier = self.plan.host.iter();
        earlier.any(|step| {
            let mut waits = step.waits.iter();
            let reaches = waits
                .any(|point| point.queue == wait.point.queue && point.offset >= wait.point.offset);
            step.before.is_some_and(is_before) && reaches
        })
    }

    pub(super) fn has_global_barrier(&self) -> bool {
        let mut steps = self
            .plan
            .submissions
            .iter()
            .flat_map(|submission| &submission.steps);
        steps.any(|step| matches!(step, Step::Barriers(batch) if batch.memory.is_some()))
    }

    /// Whether some use that a barrier is for needs no old contents.
    pub(super) fn is_needless(&self, reason: &Reason) -> bool {
        self.later_uses(reason)
            .any(|declared| !declared.access.is_read() || declared.discard)
    }

    /// Whether a barrier is for one use, of just its range.
    fn is_for_one_use(&self, reason: &Reason, area: &Area) -> bool {
        let kind = &self.frame.resource(reason.resource).kind;
        let mut uses = self.later_uses(reason);
        let of_area = |declared: &Use| Area::of(kind, &declared.range) == *area;
        uses.next().is_some_and(of_area) && uses.next().is_none()
    }

    /// The uses that a barrier is for.
    fn later_uses(&self, reason: &Reason) -> impl Iterator<Item = &Use> {
        let uses = match reason.later {
            PassRef::Pass(pass) => self.frame.uses_of(pass),
            _ => &[],
        };
        let resource = reason.resource;
        uses.iter()
            .filter(move |declared| declared.resource == resource)
    }

    /// Whether a submission waits, or one before it on its queue.
    fn queue_waits(&self, submission: &Submission) -> bool {
        let of_queue = |other: &&Submission| other.queue == submission.queue;
        let mut others = self.plan.submissions.iter().filter(of_queue);
        others.any(|other| other.signal <= submission.signal && !other.waits.is_empty())
    }

    /// Whether an earlier barrier of the plan is for the same resource.
    fn is_again(&self, spot: Spot, resource: ResourceIndex) -> bool {
        let submissions = self.plan.submissions.iter().enumerate();
        let steps = submissions.flat_map(|(at, submission)| {
            let steps = submission.steps.iter().enumerate();
            steps.map(move |(step_at, step)| ((at, step_at), step))
        });
        let mut until = steps.filter(|(place, _)| *place <= (spot.submission, spot.step));
        let is_for = |batch: &BarrierBatch, at: (usize, usize)| {
            let buffers = batch
                .buffers
                .iter()
                .filter(|barrier| barrier.resource == resource);
            let images = batch
                .images
                .iter()
                .filter(|barrier| barrier.resource == resource);
            // In its own call, the barrier itself does not count.
            let own = usize::from(at == (spot.submission, spot.step));
            buffers.count() + images.count() > own
        };
        until.any(|(at, step)| matches!(step, Step::Barriers(batch) if is_for(batch, at)))
    }
}
