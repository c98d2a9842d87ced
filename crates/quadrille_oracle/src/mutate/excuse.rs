//! Why a mutant may survive: [`Excuse`] is the whole list, each with its reason.
//!
//! Some are arguments: Vulkan's rules, or the frame, say that nobody can notice, and the shape of the
//! mutant tells. The others are shown for each mutant ([`proof`](super::proof)): something else that
//! stands in the plans does what the changed element is there for, and where it is taken out of
//! both, the judge notices. `tests/mutation.rs` prints how many mutants have which excuse;
//! one that has none is a fault of the solver, or of the judge.
//!
//! Known faults of that kind, by the `QUADRILLE_ORACLE_SEED` that showed them (up to 930004006966 with
//! other weights in `generate`, so that these seeds make other frames now); they hold back
//! nobody, and are there, or name a stage or an access, though nobody needs it:
//!
//! - 701000008624: a change of layout is shown to a later reader in stages that a global barrier of
//!   another call, for another range of the same reader, leads on to from those that it is shown in
//!   anyway (the solver's `show.rs` looks at barriers of one call).
//! - 705000003429: a change of layout is shown in a stage that sees it by a wait as well, which is
//!   there for another pass of the submission, behind a submission of another queue.
//! - 900001000423: a pass comes after a reader on another queue by a barrier of its own. So it would
//!   without: the submission before has waited for that reader, a barrier leads on from the wait to
//!   a pass there, and one leads on from that pass to this one, for another use of the same bytes.
//! - 910003013411: a barrier names a write of its own queue, which has come back to the queue in a
//!   wait for another one since, with all that this one knows.
//! - 930004006966: a pass waits for a reader on another queue for which its own queue has waited in other
//!   stages; a barrier that it needs for somebody else leads on from that wait to its own stage.
//! - 972000006077: what comes from outside of the device is acquired in boxes that stand for two uses of
//!   a pass, and a change of layout behind them leads on from the stages of both, in all its cells.
//! - 975000011267: a first layout is shown to two uses of a pass in the stages of both, one of them of a part
//!   only; the next change of layout, for the host, comes after the stages of both in all parts.
//! - 976100005449: a layout that several read in is shown in the stages of all of them, one of which,
//!   of the last reader, sees it by a wait for another queue that the reader needs in any case.
//! - 976300016269: what was released for a use that did not come is acquired, and a part of it changes its
//!   layout in a call behind that. A barrier that leads on from the acquire to a pass that uses another
//!   part has a call of its own, though it could stand in that second one.
//! - 978200006542: what was released in vain is taken over, with maintenance8, by the queue that has released
//!   it: the barrier leads on from all stages that the release came after, and each one would do.
//! - 980000026308 (if all sequences have 3D images): what brings a mip level here names a pass that writes
//!   all slices. One of these has been read in between; the barrier after that reader leads on to the
//!   writer from there, for the others too.

use quadrille_sync::{
    AccessMask, PassRef, Plan, Reason, ResourceIndex, Rung, Scope, Stages, Use, Wait,
};

use super::barrier::Barrier;
use super::maker::Maker;
use crate::area::Area;
use crate::stages::single;

/// Why a mutant may survive though the plan is minimal and the judge is not blind. Most mutants
/// that an argument excuses are noticed all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Excuse {
    /// An argument: the release, or the part of a barrier in the last call of a queue, rests on a
    /// prediction, which need not come true: nobody may ever acquire, or use the range like that. A
    /// part is of that kind if the pass of the barrier does nothing of the sort with the range, and
    /// somebody in an earlier frame did. Or it is a wait, and an earlier submission of the queue waits
    /// for the same only because of such a release.
    Prediction,
    /// An argument: the contents are not needed, so they can as well be thrown away, or stay with
    /// another family.
    Discard,
    /// An argument: the mask says something twice, in words of those whom it is for. That is a stage
    /// that logical order implies beside the one that implies it, where nothing is written or shown in
    /// it that anybody asks for, or two accesses of the host, of which either brings what the device
    /// wrote to the host's memory domain. Shown in two cases: a group has stages that the queue has
    /// not, and with these it is needed; or a second scope leads on to a first scope of
    /// `ALL_COMMANDS`, which has what barriers do themselves in it already, and with that spelled out,
    /// as validation layers read it, it is needed. Masks are unions of what uses name, by names that
    /// people know from the uses.
    Spelling,
    /// An argument: who takes over an image that was released, and discards, names all writes, in all
    /// stages, because the release may have been a transition. By the specification a transition makes
    /// itself available; to name it as well does no harm.
    Released,
    /// An argument: who is outside of the device signals nothing that a plan could wait for. What an
    /// acquire from there leads on from is for the caller to see to.
    Outside,
    /// An argument: what others wrote to shared memory is dead, so it need be visible to nobody.
    /// Validation layers know nothing of that: to them a write after a write has to see it, so the
    /// second one is named.
    Dead,
    /// An argument: where one resource has touched shared memory in part, what was done before it is
    /// kept for the next one, though that comes after this one, and this one has come after what was
    /// before. Blocks remember for each byte who was there, not who came after whom.
    Turns,
    /// An argument: the barrier only orders, and order is not bound to its range. Which range it
    /// names makes no difference, but it has to name one.
    Order,
    /// An argument: the order leads through a culled pass. It holds without the pass, but what stands
    /// behind half of it may be what the pass alone would have read.
    Culled,
    /// An argument: the part is for another use of the pass, of another range of the resource or
    /// in other stages. A transition names what all uses of its pass do that meet, so that
    /// neighbours with another past can be one barrier with it; and a use that reads in some stages
    /// and writes in others waits for readers in all of them.
    Shared,
    /// An argument: a host pass before the submission, in this frame or an earlier one, has waited for
    /// the same signal, so that it has come when the submission is made, whichever is waited for; or
    /// it has waited for what lies in earlier frames, and overwrites it, while a release that rested
    /// on a prediction is still on its way. A wait that could be left out altogether is shown to be
    /// needed by two users if nobody else is there: what the host sees counts as written when it was
    /// shown to the host, and that is later.
    Over,
    /// Shown: what makes the element needless is there for another resource or another range. In
    /// frames in which one cell of the resource is all that is used, and in whose plans nothing is
    /// left that is there for anything else, it is needed.
    ///
    /// Plans are made in submission order, each dependency for itself, and what will be needed later
    /// is not known. To leave an earlier element out because a later one will happen to do its work
    /// would also move that work: who waits or flushes later holds back more.
    Chance,
    /// Shown: what makes the element needless is there for a pass that comes later. If the pass that
    /// it is for were the last one, it would be needed; for the rest see [`Excuse::Chance`].
    Later,
    /// Shown: what is waited for lies in an earlier frame, and barriers and waits of earlier frames
    /// have done it already, for somebody else. That is looked for only of waits of the host and of
    /// the place of a call, of barriers that only order, and where a submission waits for a signal before the last one that its
    /// queue gave in the frame before: what that queue had waited for by then is forgotten. For the
    /// pair of an earlier use and this one alone the element is needed.
    ///
    /// States do not remember which barriers a frame has issued, and of the waits for a queue only
    /// the last. What is not remembered is done again, which is harmless, and a plan that hung on
    /// it would fit once and not for the next frame.
    History,
    /// Shown: dependencies chain where their stages meet, and one stage is enough to meet in. For the
    /// one cell, the stage that is left out would be enough without the others of its mask, and
    /// without all of them there is no chain. The stage has to be one that somebody works in, or that
    /// another link on the queue names.
    ///
    /// A pass's waits and barriers name all of the stages that it works in, though one would lead on
    /// to the next link: the barrier behind it holds back the others in any case, and a later pass
    /// that works in one of them finds that it has waited already.
    Chain,
    /// Found: nobody who comes before, on the same queue and since the last write, does in the cell
    /// what the part shows to its pass, in that stage, and nothing else is there to show it to this
    /// pass. Barriers that are one for several uses or readers show all of their accesses in all of
    /// their stages, and of all their ranges; what that shows by chance is not remembered.
    Product,
    /// Shown: another user of the same cell has had the write made available, or has been ordered
    /// after it, and what was done for that leads on to here. For the pair of an earlier use and this
    /// one alone, the stage, the access, or the stage of the wait is needed; whole barriers and waits
    /// are not excused like that, because solvers know them.
    ///
    /// Each barrier names the write in full, and all stages in which there was a read: others who come
    /// later rest on a barrier only if it says all that they need, and to make available what is so
    /// already, or to wait for what is over, costs nothing.
    Reader,
}

impl Excuse {
    /// Whether there is no need to look for a proof first: an argument by what stages and uses are
    /// called is only the last resort.
    pub(super) fn is_enough(self) -> bool {
        let last = [
            Excuse::Spelling,
            Excuse::Shared,
            Excuse::Over,
            Excuse::Turns,
        ];
        !last.contains(&self)
    }
}

/// The arguments for a barrier's mutants.
#[derive(Clone, Copy, Default)]
pub(super) struct Excuses {
    /// For all that it says.
    pub(super) all: Option<Excuse>,
    /// For the barrier as a whole.
    pub(super) whole: Option<Excuse>,
    /// For parts of the first scope.
    pub(super) src: Option<Excuse>,
    /// For accesses of the second scope.
    pub(super) dst: Option<Excuse>,
    /// For parts of the range.
    pub(super) range: Option<Excuse>,
}

impl Maker<'_> {
    /// The arguments for the mutants of a barrier that is there for these reasons.
    pub(super) fn excuses(&self, barrier: &Barrier, reasons: &[Reason]) -> Excuses {
        let is_next = |it: &Reason| matches!(it.later, PassRef::Next(_));
        let all = if reasons.iter().any(is_next) {
            Some(Excuse::Prediction)
        } else if barrier.is_transfer() && reasons.iter().any(|it| self.is_needless(it)) {
            Some(Excuse::Discard)
        } else {
            None
        };
        let is_outside =
            barrier.is_acquire() && reasons.iter().any(|it| it.earlier == PassRef::Nobody);
        let outside = is_outside.then_some(Excuse::Outside);
        let is_aliased = reasons.iter().any(|it| it.rung == Rung::Aliasing);
        let order = barrier.only_orders().then_some(Excuse::Order);
        let turns = is_aliased.then_some(Excuse::Turns);
        Excuses {
            all,
            whole: all.or(turns),
            src: all.or(outside).or(turns),
            dst: all.or(is_aliased.then_some(Excuse::Dead)),
            range: all.or(order).or(turns),
        }
    }

    /// Whether some use that a barrier is for needs no old contents.
    pub(super) fn is_needless(&self, reason: &Reason) -> bool {
        self.later_uses(reason)
            .any(|declared| !declared.access.is_read() || declared.discard)
    }

    /// The uses that a barrier is for.
    fn later_uses(&self, reason: &Reason) -> impl Iterator<Item = &Use> {
        self.uses_of(reason.resource, &reason.later)
    }

    /// The uses of a resource by a pass.
    fn uses_of(
        &self,
        resource: ResourceIndex,
        pass: &PassRef,
    ) -> impl Iterator<Item = &Use> + use<'_> {
        let uses = match pass {
            PassRef::Pass(pass) => self.frame.uses_of(*pass),
            _ => &[],
        };
        uses.iter().filter(move |one| one.resource == resource)
    }
}

impl Maker<'_> {
    /// Whether a part of the second scope of a transition is for uses of the pass alone that do not
    /// meet its range.
    pub(super) fn is_for_others(&self, barrier: &Barrier, part: Scope) -> Option<Excuse> {
        let [purpose] = &self.purposes[..] else {
            return None;
        };
        let area = purpose.area.as_ref()?;
        let kind = &self.frame.resource(purpose.resource).kind;
        let queue = self.plan.submissions[barrier.spot.submission].queue;
        let capabilities = self.topology.queue(queue).capabilities;
        let meets = |one: &&Use| Area::of(kind, &one.range).intersection(area).is_some();
        let names = |one: &Use| {
            let scope = one.access.scope(capabilities);
            let stages = single(scope.stages).intersects(single(part.stages));
            stages && scope.access.intersects(part.access)
        };
        let uses = || self.uses_of(purpose.resource, &purpose.later);
        let is_own = uses().filter(meets).any(names);
        (uses().any(names) && !is_own).then_some(Excuse::Shared)
    }

    /// Whether a use that the element at hand is for reads in some stages and writes in others.
    pub(super) fn is_mixed(&self) -> Option<Excuse> {
        let mixed = |one: &Use| {
            let access = one.access;
            access.is_read() && access.is_write() && single(access.stages()).iter().count() > 1
        };
        let purposes = self.purposes.iter();
        let mut uses = purposes.flat_map(|it| self.uses_of(it.resource, &it.later));
        uses.any(mixed).then_some(Excuse::Shared)
    }
}

/// Whether a host pass that a submission comes after has waited for what it waits for.
pub(super) fn is_over(plan: &Plan, submission: usize, wait: &Wait) -> bool {
    let is_before = |before: u32| before as usize <= submission;
    plan.host.iter().any(|step| {
        let mut waits = step.waits.iter();
        let reaches =
            waits.any(|point| point.queue == wait.point.queue && point.offset >= wait.point.offset);
        step.before.is_some_and(is_before) && reaches
    })
}

/// Whether the host is left another access beside one that is gone.
pub(super) fn either(left: Scope) -> Option<Excuse> {
    let host = AccessMask::HOST_READ | AccessMask::HOST_WRITE;
    let is_left = left.stages.contains(Stages::HOST) && left.access.intersects(host);
    is_left.then_some(Excuse::Spelling)
}
