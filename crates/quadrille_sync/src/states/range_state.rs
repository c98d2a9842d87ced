//! The state of a range, between frames and while one is planned.

use std::sync::Arc;

use smallvec::SmallVec;

use super::TimelinePoint;
use super::rare::Rare;
use crate::flags::Layout;
use crate::plan::Scope;
use crate::range::SubRange;
use crate::topology::{FamilyIndex, QueueIndex};

/// An access in the past: the submission it was in, its scope, and the pass.
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
    /// All reads since the write precede the scope too: an access in the scope needs no barrier.
    pub is_ready: bool,
}

/// The first use of a range in a frame, for the prediction of the next frames.
///
/// Frames that differ in little have other steps for most passes, but hardly any other uses: these
/// are shared from frame to frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct First {
    /// When in the frame: passes count from 1, in submission order.
    pub(crate) step: u32,
    /// While a frame is planned: when in the frame before, if the same use was the first there
    /// too, and 0 if not.
    pub(crate) again: u32,
    pub(crate) used: Arc<FirstUse>,
}

/// The first use of a range in the frame before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Previous<'a> {
    /// When in that frame.
    pub(crate) step: u32,
    pub(crate) used: &'a Arc<FirstUse>,
}

/// See [`First`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FirstUse {
    pub(crate) queue: QueueIndex,
    pub(crate) family: FamilyIndex,
    /// The scopes of all uses of the pass that overlap the range.
    pub(crate) scope: Scope,
    pub(crate) layout: Layout,
    pub(crate) writes: bool,
    /// The old contents were not needed, so no ownership moved.
    pub(crate) discard: bool,
    pub(crate) pass: Arc<str>,
}

/// A release whose acquire has not happened yet.
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
    pub mark: M,
}

impl<M> Pending<M> {
    /// The same release with its mark replaced.
    pub(super) fn map<'a, N>(&'a self, mark: impl FnOnce(&'a M) -> N) -> Pending<N> {
        Pending {
            from: self.from,
            to: self.to,
            old_layout: self.old_layout,
            new_layout: self.new_layout,
            range: self.range,
            mark: mark(&self.mark),
        }
    }
}

/// How the last write of a range is visible to the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostVisibility<M> {
    /// The submission that made it visible to the host, and the host pass that needed it.
    pub mark: M,
    /// Whether a host pass has waited for that submission.
    pub wait: HostWait,
}

impl<M> HostVisibility<M> {
    /// The same view with its mark replaced.
    pub(super) fn map<'a, N>(&'a self, mark: impl FnOnce(&'a M) -> N) -> HostVisibility<N> {
        HostVisibility {
            mark: mark(&self.mark),
            wait: self.wait,
        }
    }
}

/// Whether a host pass has waited for that submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostWait {
    /// None has.
    None,
    /// One of this frame has; but the host passes of a frame may run apart from each other.
    Now,
    /// One of an earlier frame has, and it has run before this frame is submitted.
    Before,
}

/// The state of a range. `M` is how accesses are remembered: [`PastAccess`] between frames, and
/// something smaller while a frame is planned.
///
/// There is one for each resource of a frame, and planning copies them, so what is rare lies
/// elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RangeState<M> {
    /// The family that owns the range; none if it is concurrent or unused so far.
    pub(crate) owner: Option<FamilyIndex>,
    pub(crate) layout: Layout,
    /// The contents were written.
    pub(crate) defined: bool,
    /// The last write; layout transitions and acquires of ownership are writes.
    pub(crate) write: Option<M>,
    /// The reads since, at most one for each queue.
    pub(crate) reads: SmallVec<[M; 1]>,
    /// The scopes to which the last write is visible, besides those that waited for it on another
    /// queue.
    pub(crate) visible: SmallVec<[VisibleScope; 1]>,
    /// The parts of the state that few ranges have.
    pub(crate) rare: Rare<M>,
    /// The first use in the frame that used the range last.
    pub(crate) first: Option<First>,
    /// While a frame is planned: `first` as it was when the frame began, unless this frame's is
    /// the same use. See [`RangeState::previous`].
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
            rare: Rare::NOTHING,
            first: None,
            previous_first: None,
        }
    }

    /// While a frame is planned: the first use in the frame that used the range before.
    #[inline]
    pub(crate) fn previous(&self) -> Option<Previous<'_>> {
        let same = || self.first.as_ref().filter(|first| first.again > 0);
        match &self.previous_first {
            Some(First { step, used, .. }) => Some(Previous { step: *step, used }),
            None => same().map(|First { again, used, .. }| Previous { step: *again, used }),
        }
    }

    /// Forgets what the frame before has begun with.
    pub(crate) fn forget_previous(&mut self) {
        self.previous_first = None;
        self.first.iter_mut().for_each(|first| first.again = 0);
    }

    /// The same state with every mark, in the order of [`Marked::marks`], replaced.
    #[inline]
    pub(crate) fn map<'a, N>(&'a self, mut mark: impl FnMut(&'a M) -> N) -> RangeState<N> {
        RangeState {
            owner: self.owner,
            layout: self.layout,
            defined: self.defined,
            write: self.write.as_ref().map(&mut mark),
            reads: map_few(&self.reads, &mut mark),
            rare: self.rare.map(&mut mark),
            visible: map_few(&self.visible, |visible| *visible),
            first: self.first.clone(),
            previous_first: self.previous_first.clone(),
        }
    }
}

impl<M> RangeState<M> {
    /// Calls `each` with all that [`Marked::marks_mut`] gives, in any order.
    #[inline]
    pub(crate) fn for_each_mark_mut(&mut self, mut each: impl FnMut(&mut M)) {
        self.write.iter_mut().for_each(&mut each);
        self.reads.iter_mut().for_each(&mut each);
        if !self.rare.is_nothing() {
            self.rare.marks_mut().for_each(each);
        }
    }
}

/// A list of mostly one with every element replaced.
#[inline]
fn map_few<'a, A, B>(list: &'a [A], mut each: impl FnMut(&'a A) -> B) -> SmallVec<[B; 1]> {
    match list {
        [] => SmallVec::new(),
        [one] => SmallVec::from_buf([each(one)]),
        many => many.iter().map(each).collect(),
    }
}

/// A state that holds accesses.
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
        let usual = self.write.iter().chain(&self.reads);
        usual.chain(self.rare.marks())
    }

    fn marks_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut M>
    where
        M: 'a,
    {
        let usual = self.write.iter_mut().chain(&mut self.reads);
        usual.chain(self.rare.marks_mut())
    }
}
