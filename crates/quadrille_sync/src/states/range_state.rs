//! The state of a range, between frames and while one is planned.

use std::sync::Arc;

use smallvec::SmallVec;

use super::TimelinePoint;
use super::rare::RareParts;
use crate::flags::Layout;
use crate::plan::Scope;
use crate::range::SubRange;
use crate::topology::{FamilyIndex, QueueIndex};

/// An access by an earlier frame: its submission, its scope, and the pass.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PastAccess {
    /// The value that its submission signals.
    pub point: TimelinePoint,
    /// Stages and accesses of the pass.
    pub scope: Scope,
    /// The name of the pass.
    pub pass: Arc<str>,
}

/// A scope on a queue to which the last write of a range is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VisibleScope {
    /// The queue.
    pub queue: QueueIndex,
    /// The stages and accesses.
    pub scope: Scope,
    /// All reads since the write precede the scope too, so even a write in the scope needs no barrier.
    pub is_ready: bool,
}

/// The first use of a range in a frame, for the prediction of the next frames.
///
/// A small change of a frame changes the steps of most passes, but hardly any uses. So the use is
/// reference-counted and shared from frame to frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct First {
    /// The position of the pass in submission order, from 1.
    pub(crate) step: u32,
    /// While a frame is planned: the step in the previous frame if an equal use was the first there,
    /// else 0.
    pub(crate) again: u32,
    pub(crate) used: Arc<FirstUse>,
}

/// The first use of a range in the previous frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Previous<'a> {
    /// The position of the pass in that frame.
    pub(crate) step: u32,
    pub(crate) used: &'a Arc<FirstUse>,
}

/// The use of a [`First`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FirstUse {
    pub(crate) queue: QueueIndex,
    pub(crate) family: FamilyIndex,
    /// The scopes of all uses of the pass that overlap the range.
    pub(crate) scope: Scope,
    pub(crate) layout: Layout,
    pub(crate) writes: bool,
    /// The old contents were not needed, so there was no ownership transfer.
    pub(crate) discard: bool,
    pub(crate) pass: Arc<str>,
}

/// A release without its acquire so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pending<M> {
    /// The family that released.
    pub from: FamilyIndex,
    /// The family that has to acquire.
    pub to: FamilyIndex,
    /// The layout before.
    pub old_layout: Layout,
    /// The layout after.
    pub new_layout: Layout,
    /// The range that one barrier released, and that one barrier has to acquire.
    pub range: SubRange,
    /// The submission that released, and the pass before it.
    pub tracked: M,
}

impl<M> Pending<M> {
    /// The same release with its access replaced.
    pub(super) fn map<'a, N>(&'a self, tracked: impl FnOnce(&'a M) -> N) -> Pending<N> {
        Pending {
            from: self.from,
            to: self.to,
            old_layout: self.old_layout,
            new_layout: self.new_layout,
            range: self.range,
            tracked: tracked(&self.tracked),
        }
    }
}

/// Visibility of the last write of a range to the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostVisibility<M> {
    /// The submission that made it visible to the host, and the host pass that needed it.
    pub tracked: M,
    /// Whether a host pass has waited for that submission.
    pub wait: HostWait,
}

impl<M> HostVisibility<M> {
    /// The same view with its access replaced.
    pub(super) fn map<'a, N>(&'a self, tracked: impl FnOnce(&'a M) -> N) -> HostVisibility<N> {
        HostVisibility {
            tracked: tracked(&self.tracked),
            wait: self.wait,
        }
    }
}

/// Whether a host pass has waited for the submission of a [`HostVisibility`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostWait {
    /// No host pass has.
    None,
    /// A host pass of this frame has. Others of the same frame must wait too, since host passes of a frame
    /// may run in any order.
    Now,
    /// A host pass of an earlier frame has, and runs before this frame is submitted.
    Before,
}

/// The state of a range. `M` is the type of accesses: [`PastAccess`] between frames, and the smaller
/// [`TrackedAccess`](super::TrackedAccess) while a frame is planned.
///
/// There is one for each resource of a frame, and planning copies them, so rare parts are stored
/// separately.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RangeState<M> {
    /// The family that owns the range; `None` if it is concurrent or unused so far.
    pub(crate) owner: Option<FamilyIndex>,
    pub(crate) layout: Layout,
    /// The contents have been written.
    pub(crate) defined: bool,
    /// The last write; layout transitions and acquires of ownership are writes.
    pub(crate) write: Option<M>,
    /// The reads since, at most one for each queue.
    pub(crate) reads: SmallVec<[M; 1]>,
    /// The scopes to which the last write is visible, in addition to those on other queues that waited
    /// for it.
    pub(crate) visible: SmallVec<[VisibleScope; 1]>,
    /// The parts of the state that few ranges have.
    pub(crate) rare: RareParts<M>,
    /// The first use of the range in the last frame that used it.
    pub(crate) first: Option<First>,
    /// While a frame is planned: the value of `first` at the start of the frame, unless this frame's
    /// first use is equal. See [`RangeState::previous`].
    pub(crate) previous_first: Option<First>,
}

impl<M> RangeState<M> {
    /// A range that was never used.
    pub(crate) fn fresh() -> Self {
        Self {
            owner: None,
            layout: Layout::Undefined,
            defined: false,
            write: None,
            reads: SmallVec::new(),
            visible: SmallVec::new(),
            rare: RareParts::NOTHING,
            first: None,
            previous_first: None,
        }
    }

    /// While a frame is planned: the first use in the last earlier frame that used the range.
    #[inline]
    pub(crate) fn previous(&self) -> Option<Previous<'_>> {
        let same = || self.first.as_ref().filter(|first| first.again > 0);
        match &self.previous_first {
            Some(First { step, used, .. }) => Some(Previous { step: *step, used }),
            None => same().map(|First { again, used, .. }| Previous { step: *again, used }),
        }
    }

    /// Drops the first use in the previous frame.
    pub(crate) fn forget_previous(&mut self) {
        self.previous_first = None;
        self.first.iter_mut().for_each(|first| first.again = 0);
    }

    /// Returns the state with every access, in the order of [`HasAccesses::accesses`], replaced.
    #[inline]
    pub(crate) fn map<'a, N>(&'a self, mut tracked: impl FnMut(&'a M) -> N) -> RangeState<N> {
        RangeState {
            owner: self.owner,
            layout: self.layout,
            defined: self.defined,
            write: self.write.as_ref().map(&mut tracked),
            reads: map_few(&self.reads, &mut tracked),
            rare: self.rare.map(&mut tracked),
            visible: map_few(&self.visible, |visible| *visible),
            first: self.first.clone(),
            previous_first: self.previous_first.clone(),
        }
    }
}

impl<M> RangeState<M> {
    /// Calls `each` with all accesses of [`HasAccesses::accesses_mut`], in any order.
    #[inline]
    pub(crate) fn for_each_mark_mut(&mut self, mut each: impl FnMut(&mut M)) {
        self.write.iter_mut().for_each(&mut each);
        self.reads.iter_mut().for_each(&mut each);
        if !self.rare.is_nothing() {
            self.rare.accesses_mut().for_each(each);
        }
    }
}

/// Maps a list, which mostly has one element.
#[inline]
fn map_few<'a, A, B>(list: &'a [A], mut each: impl FnMut(&'a A) -> B) -> SmallVec<[B; 1]> {
    match list {
        [] => SmallVec::new(),
        [one] => SmallVec::from_buf([each(one)]),
        many => many.iter().map(each).collect(),
    }
}

/// A state that holds accesses.
pub(crate) trait HasAccesses<M>: Clone + Eq {
    /// The accesses, in a fixed order.
    fn accesses<'a>(&'a self) -> impl Iterator<Item = &'a M>
    where
        M: 'a;

    /// The accesses, in the order of [`HasAccesses::accesses`], for changes.
    fn accesses_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut M>
    where
        M: 'a;
}

impl<M: Clone + Eq> HasAccesses<M> for RangeState<M> {
    fn accesses<'a>(&'a self) -> impl Iterator<Item = &'a M>
    where
        M: 'a,
    {
        let usual = self.write.iter().chain(&self.reads);
        usual.chain(self.rare.accesses())
    }

    fn accesses_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut M>
    where
        M: 'a,
    {
        let usual = self.write.iter_mut().chain(&mut self.reads);
        usual.chain(self.rare.accesses_mut())
    }
}
