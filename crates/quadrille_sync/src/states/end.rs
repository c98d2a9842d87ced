//! The effect of a plan on states, with timeline values relative to the start of the frame.

use smallvec::SmallVec;

use super::{EndBlock, RangeState, Stamp};
use crate::flags::Stages;
use crate::frame::PassIndex;
use crate::plan::Scope;
use crate::range::RangeMap;
use crate::resource::ResourceIndex;
use crate::topology::QueueIndex;

/// An access in an end state: of this frame (value above 0), or one from before the frame. The solver's
/// states become end states in place, to avoid a copy for each resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TrackedAccess {
    pub(crate) queue: QueueIndex,
    /// Timeline value relative to the queue's base. 0 or less: an access before the frame, whose index
    /// among the accesses in the resource's state at the start of the frame is in `pass`.
    pub(crate) value: i64,
    pub(crate) scope: Scope,
    pub(crate) pass: EndPass,
    /// While a frame is planned: the position of the pass in submission order, from 1; 0 for accesses
    /// before the first pass. In end states 0.
    pub(crate) step: u32,
}

/// The pass of an [`TrackedAccess`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EndPass {
    /// A pass of the frame.
    Pass(PassIndex),
    /// The pass of an access of the resource's state at the start of the frame.
    Start(u32),
    /// The presentation engine.
    Presentation,
    /// An external owner, or no pass at all.
    None,
}

/// A resource that a frame has used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndResource {
    pub(crate) resource: ResourceIndex,
    /// Its state outlives the frame: it is no swapchain image, and not in a memory block.
    pub(crate) has_past: bool,
    /// The last value on each queue that used it in the frame.
    pub(crate) last_uses: SmallVec<[(QueueIndex, i64); 2]>,
}

/// The effect of a plan on [`States`], relative like the plan itself.
///
/// Opaque: [`States::commit`] applies it. It follows from frame and plan, so it is no part of the
/// plan's text form.
///
/// [`States`]: super::States
/// [`States::commit`]: super::States::commit
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EndStates {
    pub(crate) resources: Vec<EndResource>,
    /// By resource of the frame: the states at its end, moved from the solver without a copy. Fresh
    /// states for resources that were not used, or whose states do not outlive the frame.
    pub(crate) maps: Vec<RangeMap<RangeState<TrackedAccess>>>,
    /// The blocks that resources of the frame lie in.
    pub(crate) blocks: Vec<EndBlock>,
    /// New clock entries: a queue is ordered after a value of another queue's timeline.
    pub(crate) learned: Vec<Learned>,
    /// Merged clocks: a queue is ordered after everything that another queue was ordered after at the start
    /// of the frame.
    pub(crate) joined: Vec<Joined>,
    /// The number of values that each queue signals.
    pub(crate) signals: Vec<u64>,
    /// Identity of the plan.
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
