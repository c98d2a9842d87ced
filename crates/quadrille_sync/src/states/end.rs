//! The effect of a plan on states, relative to where the timelines stood.

use smallvec::SmallVec;

use super::{EndBlock, RangeState, Stamp};
use crate::flags::Stages;
use crate::frame::PassIndex;
use crate::plan::Scope;
use crate::range::RangeMap;
use crate::resource::ResourceIndex;
use crate::topology::QueueIndex;

/// An access in an end state: of this frame (value above 0), or kept from the frame's start. The
/// solver's states become end states in place, because there is at least one for each resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndMark {
    pub(crate) queue: QueueIndex,
    /// Relative to the queue's base; 0 and below: the mark with index `pass` among the marks
    /// that the resource's state had at the start of the frame.
    pub(crate) value: i64,
    pub(crate) scope: Scope,
    pub(crate) pass: EndPass,
    /// While a frame is planned, when in the frame: passes count from 1, everything before is 0.
    /// In end states 0.
    pub(crate) step: u32,
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
    /// An external owner, or no pass at all.
    None,
}

/// A resource that a frame has used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndResource {
    pub(crate) resource: ResourceIndex,
    /// Its state outlives the frame: it is no image of a swapchain, and in no block.
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
    /// By resource of the frame, the states at its end: those that it was planned with, so that
    /// none is copied. Fresh ones for resources that were not used or whose states do not outlive
    /// it.
    pub(crate) maps: Vec<RangeMap<RangeState<EndMark>>>,
    /// The blocks that resources of the frame lie in.
    pub(crate) blocks: Vec<EndBlock>,
    /// A queue is ordered after a value of another queue's timeline.
    pub(crate) learned: Vec<Learned>,
    /// A queue is ordered after all that another queue was ordered after when the frame began.
    pub(crate) joined: Vec<Joined>,
    /// How many values each queue signals.
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
