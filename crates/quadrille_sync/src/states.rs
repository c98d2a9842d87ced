//! States: everything about resources that outlives a frame.
//!
//! For every range of every resource: who owns it, its layout, the last write, the reads since,
//! to which stages and accesses of which queue that write is visible already, and a release that
//! waits for its acquire. For every pair of queues: how far the one is already ordered after the
//! other (a vector clock).
//!
//! [`plan`](crate::plan) reads states and never writes them; [`States::commit`] moves them on
//! once a plan has been submitted. How far the GPU has got is [`Progress`], and it is no input of
//! `plan`: a plan that left out waits because the GPU happened to be quick could neither be used
//! again nor replayed, and a wait that is satisfied already costs next to nothing. Progress
//! serves whoever retires resources.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::flags::{Layout, Stages};
use crate::frame::{Frame, PassIndex};
use crate::plan::{Plan, Scope};
use crate::range::RangeMap;
use crate::resource::{Resource, ResourceId, ResourceIndex, ResourceKind};
use crate::topology::{FamilyIndex, QueueIndex, Topology};

mod block;
mod handover;
mod steady;

pub(crate) use block::EndBlock;
pub use handover::Handover;
pub(crate) use handover::Tenure;
pub(crate) use steady::Stamp;
use steady::Steady;

/// A value of a queue's timeline semaphore, counted from the creation of the semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimelinePoint {
    /// The queue whose timeline it is.
    pub queue: QueueIndex,
    /// The value; the first submission ever signals 1.
    pub value: u64,
}

/// How far each queue has got: the highest timeline value that has completed.
///
/// ```
/// use quadrille_sync::{Progress, QueueIndex, TimelinePoint};
/// let progress = Progress { values: vec![4] };
/// assert!(progress.reached(TimelinePoint { queue: QueueIndex(0), value: 4 }));
/// assert!(!progress.reached(TimelinePoint { queue: QueueIndex(0), value: 5 }));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// The values, by queue index.
    pub values: Vec<u64>,
}

impl Progress {
    /// Whether a point has completed. Points of queues that `values` does not have never are.
    pub fn reached(&self, point: TimelinePoint) -> bool {
        self.values
            .get(usize::from(point.queue.0))
            .is_some_and(|value| *value >= point.value)
    }
}

/// An access in the past: the submission it was in, its scope, and the pass.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PastMark {
    pub(crate) point: TimelinePoint,
    pub(crate) scope: Scope,
    pub(crate) pass: Arc<str>,
}

/// The first use of a range in a frame: what cyclic prediction needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FirstUse {
    pub(crate) family: FamilyIndex,
    pub(crate) layout: Layout,
    /// The old contents were not needed, so no ownership moved.
    pub(crate) discard: bool,
    pub(crate) pass: Arc<str>,
}

/// A release whose acquire has not happened yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pending<M> {
    pub(crate) from: FamilyIndex,
    pub(crate) to: FamilyIndex,
    pub(crate) old_layout: Layout,
    pub(crate) new_layout: Layout,
    /// What was released by one barrier, and has to be acquired by one.
    pub(crate) interval: Range<u64>,
    /// The submission that released, and the pass before it.
    pub(crate) mark: M,
}

/// The state of a range. `M` is how accesses are remembered: [`PastMark`] between frames, and
/// something smaller while a frame is planned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RangeState<M> {
    /// The family that owns the range; none if it is concurrent or nobody has used it yet.
    pub(crate) owner: Option<FamilyIndex>,
    pub(crate) layout: Layout,
    /// Somebody has written the contents.
    pub(crate) defined: bool,
    /// The last write; layout transitions and acquires of ownership are writes.
    pub(crate) write: Option<M>,
    /// The reads since, at most one for each queue.
    pub(crate) reads: SmallVec<[M; 1]>,
    /// A read by another stream that has promised to be done then. It may not happen at all, so
    /// it says nothing about the last write.
    pub(crate) promised: Option<M>,
    /// To whom the last write is visible, besides those who waited for it on another queue.
    pub(crate) visible: SmallVec<[(QueueIndex, Scope); 1]>,
    /// What was done to the memory while others had it. Only while a frame is planned, and
    /// until the range is written: then that comes after all this.
    pub(crate) aliased: Vec<M>,
    /// The range has been released and not acquired yet.
    pub(crate) pending: Option<Pending<M>>,
    /// The first use in the frame that used the range last.
    pub(crate) first: Option<FirstUse>,
    /// While a frame is planned: `first` as it was when the frame began.
    pub(crate) previous_first: Option<FirstUse>,
}

impl<M> RangeState<M> {
    /// A range that nobody has touched.
    pub(crate) fn fresh() -> Self {
        Self {
            owner: None,
            layout: Layout::Undefined,
            defined: false,
            write: None,
            reads: SmallVec::new(),
            promised: None,
            aliased: Vec::new(),
            visible: SmallVec::new(),
            pending: None,
            first: None,
            previous_first: None,
        }
    }

    /// The same state with every mark, in the order of [`Marked::marks`], replaced.
    pub(crate) fn map<N>(&self, mut mark: impl FnMut(&M) -> N) -> RangeState<N> {
        RangeState {
            owner: self.owner,
            layout: self.layout,
            defined: self.defined,
            write: self.write.as_ref().map(&mut mark),
            reads: self.reads.iter().map(&mut mark).collect(),
            promised: self.promised.as_ref().map(&mut mark),
            // Of no use after the frame: blocks remember it.
            aliased: Vec::new(),
            visible: self.visible.clone(),
            pending: self.pending.as_ref().map(|pending| Pending {
                from: pending.from,
                to: pending.to,
                old_layout: pending.old_layout,
                new_layout: pending.new_layout,
                interval: pending.interval.clone(),
                mark: mark(&pending.mark),
            }),
            first: self.first.clone(),
            previous_first: self.previous_first.clone(),
        }
    }
}

/// What remembers accesses.
pub(crate) trait Marked<M>: Clone + Eq {
    /// The accesses, in a fixed order.
    fn marks<'a>(&'a self) -> impl Iterator<Item = &'a M>
    where
        M: 'a;

    /// The same to be changed.
    fn marks_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut M>
    where
        M: 'a;
}

impl<M: Clone + Eq> Marked<M> for RangeState<M> {
    fn marks<'a>(&'a self) -> impl Iterator<Item = &'a M>
    where
        M: 'a,
    {
        let pending = self.pending.as_ref().map(|pending| &pending.mark);
        let others = self.promised.iter().chain(pending);
        self.write.iter().chain(&self.reads).chain(others)
    }

    fn marks_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut M>
    where
        M: 'a,
    {
        let pending = self.pending.as_mut().map(|pending| &mut pending.mark);
        let others = self.promised.iter_mut().chain(pending);
        self.write.iter_mut().chain(&mut self.reads).chain(others)
    }
}

/// What one queue knows of another's timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Known {
    /// Everything up to this value happens before ...
    pub(crate) value: u64,
    /// ... these stages of whatever is submitted from now on.
    pub(crate) stages: Stages,
}

/// An access in an end state: of this frame (value above 0), or kept from the frame's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndMark {
    pub(crate) queue: QueueIndex,
    /// Relative to the queue's base; 0 and below: the mark with index `pass` among the marks
    /// that the resource's state had at the start of the frame.
    pub(crate) value: i64,
    pub(crate) scope: Scope,
    pub(crate) pass: EndPass,
}

/// The pass of an [`EndMark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EndPass {
    /// A pass of the frame.
    Pass(PassIndex),
    /// The pass of a mark of the resource's state at the start of the frame.
    Start(u32),
    /// The presentation engine.
    Presentation,
}

/// The state of one resource at the end of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndResource {
    pub(crate) resource: ResourceIndex,
    /// None for images of swapchains and resources in blocks, whose state never outlives the
    /// frame.
    pub(crate) map: Option<RangeMap<RangeState<EndMark>>>,
    /// The last value on each queue that used it in the frame.
    pub(crate) last_uses: SmallVec<[(QueueIndex, i64); 2]>,
}

/// What a plan does to [`States`], relative like the plan itself.
///
/// Opaque: [`States::commit`] applies it. It follows from frame and plan, so it is no part of the
/// plan's text form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EndStates {
    pub(crate) resources: Vec<EndResource>,
    /// The blocks that resources of the frame lie in.
    pub(crate) blocks: Vec<EndBlock>,
    /// A queue is ordered after a value of another queue's timeline.
    pub(crate) learned: Vec<Learned>,
    /// A queue is ordered after all that another queue was ordered after when the frame began.
    pub(crate) joined: Vec<Joined>,
    /// How many values each queue signals.
    pub(crate) signals: Vec<u64>,
    /// Which solution this is.
    pub(crate) stamp: Stamp,
}

/// See [`EndStates::learned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Learned {
    pub(crate) queue: QueueIndex,
    pub(crate) of: QueueIndex,
    pub(crate) value: i64,
    pub(crate) stages: Stages,
}

/// See [`EndStates::joined`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Joined {
    pub(crate) queue: QueueIndex,
    pub(crate) of: QueueIndex,
    pub(crate) stages: Stages,
}

/// What is stored of a resource.
#[derive(Clone, Debug)]
struct Entry {
    map: RangeMap<RangeState<PastMark>>,
    last_uses: SmallVec<[TimelinePoint; 2]>,
    tenure: Tenure,
    /// What frames have declared it to be; none before one has.
    kind: Option<ResourceKind>,
}

/// Everything that outlives a frame: owners, layouts, last writes, reads since, visibility, and
/// how far each queue is ordered after each other one.
///
/// States belong to one topology. Whoever makes queues anew begins with new states.
#[derive(Clone, Debug, Default)]
pub struct States {
    resources: Vec<Option<Entry>>,
    /// By block, the last accesses to each byte.
    blocks: Vec<Option<RangeMap<Vec<PastMark>>>>,
    /// The last value signalled, by queue.
    base: Vec<u64>,
    /// `knows[q][r]`: what queue q knows of queue r.
    knows: Vec<Vec<Known>>,
    /// Whether frames repeat.
    steady: Steady,
}

impl States {
    /// The value that a queue has signalled last, or 0.
    pub fn base(&self, queue: QueueIndex) -> u64 {
        self.base.get(usize::from(queue.0)).copied().unwrap_or(0)
    }

    /// The absolute value of an offset from a queue's base.
    ///
    /// Submitters turn [`RelativePoint`](crate::RelativePoint)s into semaphore values with it,
    /// before the plan is committed.
    pub fn absolute(&self, queue: QueueIndex, offset: i64) -> u64 {
        self.base(queue).saturating_add_signed(offset)
    }

    /// Moves on to the states after a plan. To be called once the plan has been submitted as a
    /// whole, with the frame and topology it was made for; a frame that failed is not committed
    /// and leaves no trace.
    pub fn commit(&mut self, frame: &Frame, topology: &Topology, plan: &Plan) {
        let again = self.steady.commit(&plan.end.stamp);
        self.grow(topology.queues.len());
        for end in &plan.end.resources {
            if !(again && self.commit_again(frame, end)) {
                self.commit_resource(frame, end);
            }
        }
        for end in &plan.end.blocks {
            if !(again && self.commit_block_again(end)) {
                self.commit_block(frame, end);
            }
        }
        self.commit_knowledge(&plan.end);
        for (base, signals) in self.base.iter_mut().zip(&plan.end.signals) {
            *base += signals;
        }
    }

    /// Whether a plan has moved the states on twice without anything between. Where it fitted both
    /// times it will for ever: what it hangs on has come back to itself.
    pub(crate) fn repeat(&self, plan: &Plan) -> bool {
        self.steady.repeats(&plan.end.stamp)
    }

    /// Forgets a resource, so that its id can be given to another one. To use an id again for
    /// something of another kind or size without that is an error of the frame.
    pub fn remove(&mut self, id: ResourceId) {
        self.steady.disturb();
        if let Some(entry) = self.resources.get_mut(id.0 as usize) {
            *entry = None;
        }
    }

    /// Says that a resource has contents that no pass wrote: written by the host while no queue
    /// used it, or made outside of frames. `layout` is the images' present layout (buffers:
    /// anything) and `owner` the family that owns it, if it is exclusive and a family has used it.
    ///
    /// An owner outside of the device ([`FamilyIndex::EXTERNAL`], [`FamilyIndex::FOREIGN`]) has
    /// released the resource to this device in just this layout; the first pass that needs the
    /// contents acquires it. To let it go again, name it in
    /// [`Frame::gives`](crate::Frame::gives); when it is back, import it again.
    ///
    /// Whatever wrote the contents must have finished, and be visible to the device, before the
    /// next frame is submitted (which submission does for host writes: section "Host Write
    /// Ordering Guarantees"). Earlier state is forgotten, points for retiring are kept.
    pub fn import(&mut self, id: ResourceId, layout: Layout, owner: Option<FamilyIndex>) {
        self.steady.disturb();
        let state = RangeState {
            layout,
            owner,
            defined: true,
            ..RangeState::fresh()
        };
        let slot = self.slot(id);
        let last_uses = slot.take().map(|entry| entry.last_uses).unwrap_or_default();
        *slot = Some(Entry {
            map: RangeMap::new(state),
            last_uses,
            tenure: Tenure::Own,
            kind: None,
        });
    }

    /// The last use of a resource on every queue that has used it: once [`Progress`] has reached
    /// all of these points, the resource can be destroyed.
    pub fn last_uses(&self, id: ResourceId) -> impl Iterator<Item = TimelinePoint> + '_ {
        let entry = self.resources.get(id.0 as usize).and_then(Option::as_ref);
        entry
            .into_iter()
            .flat_map(|entry| entry.last_uses.iter().copied())
    }

    /// Whether any part of a resource has been written by a pass, or imported.
    pub fn ever_written(&self, id: ResourceId) -> bool {
        self.map(id)
            .is_some_and(|map| map.iter().any(|(_, state)| state.defined))
    }

    /// Bases and clocks alone, with room for `queues` queues.
    pub(crate) fn clocks(&self, queues: usize) -> Self {
        let mut clocks = Self {
            resources: Vec::new(),
            blocks: Vec::new(),
            steady: Steady::default(),
            base: self.base.clone(),
            knows: self.knows.clone(),
        };
        clocks.grow(queues);
        clocks
    }

    /// How many queues there are values for.
    pub(crate) fn queue_count(&self) -> usize {
        self.base.len()
    }

    /// The state of a resource, if there is any.
    pub(crate) fn map(&self, id: ResourceId) -> Option<&RangeMap<RangeState<PastMark>>> {
        Some(&self.resources.get(id.0 as usize)?.as_ref()?.map)
    }

    /// What frames have declared a resource to be, if any has.
    pub(crate) fn kind(&self, id: ResourceId) -> Option<ResourceKind> {
        self.resources.get(id.0 as usize)?.as_ref()?.kind
    }

    /// What one queue knows of another.
    pub(crate) fn known(&self, queue: QueueIndex, of: QueueIndex) -> Known {
        let row = self.knows.get(usize::from(queue.0));
        row.and_then(|row| row.get(usize::from(of.0)))
            .copied()
            .unwrap_or_default()
    }

    /// Makes room for queues.
    fn grow(&mut self, queues: usize) {
        if self.base.len() < queues {
            self.base.resize(queues, 0);
            self.knows.resize(queues, Vec::new());
            for row in &mut self.knows {
                row.resize(queues, Known::default());
            }
        }
    }

    /// Where a resource's state is stored.
    fn slot(&mut self, id: ResourceId) -> &mut Option<Entry> {
        let index = id.0 as usize;
        if self.resources.len() <= index {
            self.resources.resize(index + 1, None);
        }
        &mut self.resources[index]
    }

    /// Moves the state of a resource on in place, without an allocation, where the last commit was
    /// of the same plan, so that nothing changes but when things happened. False, and nothing is
    /// done, where that does not hold.
    fn commit_again(&mut self, frame: &Frame, end: &EndResource) -> bool {
        let Self {
            resources, base, ..
        } = self;
        let id = frame.resource(end.resource).id;
        let Some(Some(entry)) = resources.get_mut(id.0 as usize) else {
            return false;
        };
        if let Some(end) = &end.map
            && !move_marks(base, &mut entry.map, end)
        {
            return false;
        }
        note_uses(base, &mut entry.last_uses, &end.last_uses);
        true
    }

    /// Replaces the state of a resource.
    fn commit_resource(&mut self, frame: &Frame, end: &EndResource) {
        let Resource { id, kind, .. } = *frame.resource(end.resource);
        let entry = self.slot(id).take();
        let Entry {
            map,
            mut last_uses,
            tenure,
            ..
        } = entry.unwrap_or_else(Entry::fresh);
        note_uses(&self.base, &mut last_uses, &end.last_uses);
        let map = match &end.map {
            Some(end) => self.past(frame, &map, end),
            None => map,
        };
        *self.slot(id) = Some(Entry {
            map,
            last_uses,
            tenure,
            kind: Some(kind),
        });
    }

    /// Turns an end state into a past one. Marks from before the frame are taken from `start`.
    fn past(
        &self,
        frame: &Frame,
        start: &RangeMap<RangeState<PastMark>>,
        end: &RangeMap<RangeState<EndMark>>,
    ) -> RangeMap<RangeState<PastMark>> {
        let old: Vec<&PastMark> = start.iter().flat_map(|(_, state)| state.marks()).collect();
        let past = |mark: &EndMark| self.past_mark(frame, &old, mark);
        let runs = end
            .iter()
            .map(|(range, state)| (range.start, state.map(past)));
        RangeMap::from_runs(runs).unwrap_or_else(|| start.clone())
    }

    /// Turns a mark of an end state into one of the past; `old` are those before the frame.
    fn past_mark(&self, frame: &Frame, old: &[&PastMark], mark: &EndMark) -> PastMark {
        let pass = match mark.pass {
            EndPass::Pass(pass) => frame.pass(pass).name.clone(),
            EndPass::Start(at) => match old.get(at as usize) {
                Some(old) if mark.value <= 0 => return (*old).clone(),
                Some(old) => old.pass.clone(),
                None => "unknown".into(),
            },
            EndPass::Presentation => "presentation".into(),
        };
        let value = self.absolute(mark.queue, mark.value);
        let point = TimelinePoint {
            queue: mark.queue,
            value,
        };
        PastMark {
            point,
            scope: mark.scope,
            pass,
        }
    }

    /// Moves the vector clocks on.
    fn commit_knowledge(&mut self, end: &EndStates) {
        if end.learned.is_empty() && end.joined.is_empty() {
            return;
        }
        let start = self.knows.clone();
        let mut learn = |queue: QueueIndex, of: QueueIndex, value: u64, stages: Stages| {
            let row = self.knows.get_mut(usize::from(queue.0));
            let known = row.and_then(|row| row.get_mut(usize::from(of.0)));
            if let Some(known) = known.filter(|known| known.value < value) {
                *known = Known { value, stages };
            }
        };
        for joined in &end.joined {
            for (of, known) in start[usize::from(joined.of.0)].iter().enumerate() {
                learn(
                    joined.queue,
                    QueueIndex(of as u8),
                    known.value,
                    joined.stages,
                );
            }
        }
        for learned in &end.learned {
            let base = self
                .base
                .get(usize::from(learned.of.0))
                .copied()
                .unwrap_or(0);
            let value = base.saturating_add_signed(learned.value);
            learn(learned.queue, learned.of, value, learned.stages);
        }
    }
}

#[cfg(test)]
#[path = "states/handover_tests.rs"]
mod handover_tests;
/// Gives marks of this frame their new points, after the last values that queues have signalled.
/// False, and nothing is done, where the states are not in the same order as the plan left them, or
/// a mark of an earlier frame moves.
fn move_marks<P: Marked<PastMark>, E: Marked<EndMark>>(
    base: &[u64],
    map: &mut RangeMap<P>,
    end: &RangeMap<E>,
) -> bool {
    if map.iter().len() != end.iter().len() || !stay_in_place(map, end) {
        return false;
    }
    let mut ends = end.iter().flat_map(|(_, state)| state.marks());
    for mark in map.values_mut().flat_map(Marked::marks_mut) {
        if let Some(end) = ends.next().filter(|end| end.value > 0) {
            mark.point.value = absolute(base, end.queue, end.value);
        }
    }
    true
}

/// Notes the last use of a resource on each queue.
fn note_uses(
    base: &[u64],
    last_uses: &mut SmallVec<[TimelinePoint; 2]>,
    uses: &[(QueueIndex, i64)],
) {
    for (queue, offset) in uses {
        let value = absolute(base, *queue, *offset);
        match last_uses.iter_mut().find(|last| last.queue == *queue) {
            Some(last) => last.value = value,
            None => last_uses.push(TimelinePoint {
                queue: *queue,
                value,
            }),
        }
    }
}

/// The absolute value of an offset from the last value that a queue has signalled.
fn absolute(base: &[u64], queue: QueueIndex, offset: i64) -> u64 {
    let base = base.get(usize::from(queue.0)).copied().unwrap_or(0);
    base.saturating_add_signed(offset)
}

/// Whether every mark comes to lie where it, or one of the same pass a frame ago, lies already.
fn stay_in_place<P: Marked<PastMark>, E: Marked<EndMark>>(
    map: &RangeMap<P>,
    end: &RangeMap<E>,
) -> bool {
    let mut past = map.iter().flat_map(|(_, state)| state.marks());
    let mut ends = end.iter().flat_map(|(_, state)| state.marks());
    for at in 0.. {
        let (past, end) = match (past.next(), ends.next()) {
            (None, None) => return true,
            (Some(past), Some(end)) => (past, end),
            _ => return false,
        };
        let stays = match end.pass {
            EndPass::Start(of) => of == at,
            EndPass::Pass(_) | EndPass::Presentation => end.value > 0,
        };
        if !stays || past.point.queue != end.queue {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests;
