//! [`Plan`]: plain data that describes everything the backend has to do for a frame.
//!
//! Timeline values are **relative**: 0 is the last value that a queue signalled before the frame,
//! 1 is the signal of the queue's first submission of this frame, and values of earlier
//! frames are negative. So a plan can be reused for a later frame with equal declarations and
//! equal (relative) states; [`States::commit`](crate::states::States::commit) advances the base.

mod call;
mod culled;
mod plan_id;

use std::sync::Arc;

pub use call::{Segment, SubmitCall};
pub use culled::UnreadWrite;
pub use plan_id::PlanId;

use crate::flags::{AccessMask, Layout, Stages};
use crate::frame::{Frame, PassIndex, TimelineUse};
use crate::range::SubresourceRange;
use crate::resource::ResourceIndex;
use crate::states::{EndStates, States, TimelinePoint};
use crate::topology::{FamilyIndex, QueueIndex};

/// A value of a queue's timeline, relative to the queue's last signal before the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelativePoint {
    /// The queue whose timeline it is.
    pub queue: QueueIndex,
    /// The offset from the queue's base value; at least 1 for points of this frame.
    pub offset: i64,
}

/// A synchronization scope: stages and the accesses in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Pipeline stages.
    pub stages: Stages,
    /// Kinds of memory access; empty for an execution dependency.
    pub access: AccessMask,
}

/// Kind of a dependency, from the cheapest means to the most expensive one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DependencyKind {
    /// Write after read on one queue: an execution dependency. It may also make the write before the
    /// reads visible to this one, because the reads may cover only a part of the range.
    Execution,
    /// Read or write after write, or a read in a stage to which the write is not visible yet.
    Memory,
    /// The layout changes, which is a write.
    LayoutTransition,
    /// Another queue of the same family, or a concurrent resource.
    OtherQueue,
    /// Another family owns the resource: release, wait, acquire.
    OwnershipTransfer,
    /// A swapchain image comes from, or goes to, the presentation engine.
    Presentation,
    /// Other resources used the memory before ([`Placement`](crate::resource::Placement)): this access follows
    /// theirs, and their writes must be available.
    Aliasing,
}

/// One end of a dependency.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PassRef {
    /// A pass of this frame.
    Pass(PassIndex),
    /// A pass of an earlier frame, by name.
    Earlier(Arc<str>),
    /// A pass that the next frame is predicted to have, by name.
    Next(Arc<str>),
    /// The presentation engine.
    Presentation,
    /// No pass: the resource is new.
    None,
}

/// Reason of a barrier, wait or transfer in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reason {
    /// The resource.
    pub resource: ResourceIndex,
    /// The pass that is waited for.
    pub earlier: PassRef,
    /// The pass that waits.
    pub later: PassRef,
    /// The kind of dependency.
    pub dependency_kind: DependencyKind,
}

/// A `VkMemoryBarrier2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryBarrier {
    /// First scope: stages to wait for, and accesses to make available.
    pub src: Scope,
    /// Second scope: stages that wait, and accesses that the memory becomes visible to.
    pub dst: Scope,
    /// All dependencies merged into it.
    pub reasons: Vec<Reason>,
}

/// The two families of an ownership transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// The family that releases.
    pub from: FamilyIndex,
    /// The family that acquires.
    pub to: FamilyIndex,
    /// Release or acquire.
    pub half: TransferHalf,
}

/// The half of an ownership transfer that a barrier performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferHalf {
    /// Recorded on the old family.
    Release,
    /// Recorded on the new family, after a wait for the release.
    Acquire,
}

/// A `VkBufferMemoryBarrier2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferBarrier {
    /// The buffer.
    pub resource: ResourceIndex,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
    /// First scope.
    pub src: Scope,
    /// Second scope.
    pub dst: Scope,
    /// The ownership transfer, if the barrier is half of one.
    pub transfer: Option<Transfer>,
    /// Its reason; the first one, if several ranges were merged.
    pub reason: Reason,
}

/// A `VkImageMemoryBarrier2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageBarrier {
    /// The image.
    pub resource: ResourceIndex,
    /// Its subresources.
    pub range: SubresourceRange,
    /// First scope.
    pub src: Scope,
    /// Second scope.
    pub dst: Scope,
    /// Layout before; [`Layout::Undefined`] discards the contents.
    pub old_layout: Layout,
    /// Layout after.
    pub new_layout: Layout,
    /// The ownership transfer, if the barrier is half of one.
    pub transfer: Option<Transfer>,
    /// Its reason; the first one, if several ranges were merged.
    pub reason: Reason,
}

/// One `vkCmdPipelineBarrier2`. Barriers of one call do not chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BarrierBatch {
    /// The global memory barrier.
    pub memory: Option<MemoryBarrier>,
    /// Buffer memory barriers.
    pub buffers: Vec<BufferBarrier>,
    /// Image memory barriers.
    pub images: Vec<ImageBarrier>,
}

/// One step of a submission's command buffers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// One barrier call. Boxed to keep steps small, since most are passes.
    Barriers(Box<BarrierBatch>),
    /// The commands of a pass.
    Pass(PassIndex),
}

/// A wait for a timeline semaphore.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wait {
    /// The value waited for.
    pub point: RelativePoint,
    /// The stages that wait.
    pub stages: Stages,
    /// At least one reason.
    pub reasons: Vec<Reason>,
}

/// The wait for the binary semaphore of an acquired swapchain image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageAcquire {
    /// The swapchain image.
    pub resource: ResourceIndex,
    /// The stages that wait.
    pub stages: Stages,
}

/// One `VkSubmitInfo2`: passes of one queue with waits before and a signal after them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Submission {
    /// The queue.
    pub queue: QueueIndex,
    /// Timeline waits: at most one per other queue.
    pub waits: Vec<Wait>,
    /// Swapchain images whose acquire semaphore is waited for.
    pub acquires: Vec<ImageAcquire>,
    /// Barriers, passes and the like, in order.
    pub steps: Vec<Step>,
    /// The value that it signals on the queue's timeline: 1 for the queue's first submission of the
    /// frame, then 2, and so on.
    pub signal: i64,
    /// Swapchain images that are ready to be presented after it; each gets a binary semaphore,
    /// and is presented on this queue.
    pub presents: Vec<ResourceIndex>,
}

/// A host pass with its waits and its dependents.
///
/// Nothing on the device waits for the host. A submission that depends on a host pass is submitted
/// after the pass has run. Submitting orders it and makes the host's writes visible to it (section
/// "Host Write Ordering Guarantees"). So no queue is blocked by a wait for the host, and all work
/// that does not depend on the host pass is submitted before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostStep {
    /// The host pass.
    pub pass: PassIndex,
    /// Timeline values that must be reached first: at most one per queue. All of them are
    /// signalled by submissions before [`HostStep::before`], so the wait ends. Points for which host passes of
    /// earlier frames with accesses to the same memory have waited are omitted.
    pub waits: Vec<RelativePoint>,
    /// Index in [`Plan::submissions`] of the first submission that must not be submitted before
    /// the pass has run. `None` if nothing in this frame depends on it. Then the caller runs the
    /// pass once all points have been reached, and at the latest before it submits a frame that
    /// accesses the same memory. The caller chooses how far the device runs ahead until then.
    pub before: Option<u32>,
}

impl Submission {
    /// The values of users' timelines that its passes use: it waits before its first command, and signals
    /// after its last.
    pub fn timeline_uses<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = &'a TimelineUse> {
        let passes = self.steps.iter().filter_map(|step| match step {
            Step::Pass(pass) => Some(*pass),
            Step::Barriers(_) => None,
        });
        let has_any = !frame.timeline_uses.is_empty();
        passes
            .filter(move |_| has_any)
            .flat_map(|pass| frame.timeline_uses_of(pass))
    }
}

impl HostStep {
    /// Returns its waits in absolute values. `states` must be those that the plan was solved from.
    pub fn points(&self, states: &States) -> Vec<TimelinePoint> {
        let point = |wait: &RelativePoint| TimelinePoint {
            queue: wait.queue,
            value: states.absolute(wait.queue, wait.offset),
        };
        self.waits.iter().map(point).collect()
    }
}

/// Plan of a frame: its submissions in order, and the steps of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plan {
    /// The submissions.
    pub submissions: Vec<Submission>,
    /// Steps of the host, in order; `before` never decreases, and steps without one are last.
    pub host: Vec<HostStep>,
    /// Passes that were culled, in declaration order: see [`Frame::cull`](crate::frame::Frame::cull) and
    /// [`Plan::unread_writes`].
    pub culled: Vec<PassIndex>,
    /// States at the end of the frame, which [`States::commit`](crate::states::States::commit) applies.
    pub end: EndStates,
}

/// Counts of a plan's submissions, barriers, waits and transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `VkSubmitInfo2`s.
    pub submissions: u32,
    /// `vkCmdPipelineBarrier2` calls.
    pub barrier_calls: u32,
    /// Barriers in these calls.
    pub barriers: u32,
    /// Timeline semaphore waits, without those of swapchain acquires.
    pub semaphore_waits: u32,
    /// Ownership transfers, counted at their acquire.
    pub ownership_transfers: u32,
}

impl BarrierBatch {
    /// Whether it has no barriers.
    pub fn is_empty(&self) -> bool {
        self.memory.is_none() && self.buffers.is_empty() && self.images.is_empty()
    }

    /// The number of barriers in it.
    pub fn len(&self) -> usize {
        usize::from(self.memory.is_some()) + self.buffers.len() + self.images.len()
    }
}

impl Plan {
    /// The passes in the order in which they are submitted, with their queues.
    pub fn passes(&self) -> impl Iterator<Item = (QueueIndex, PassIndex)> + '_ {
        self.submissions.iter().flat_map(|submission| {
            submission.steps.iter().filter_map(|step| match step {
                Step::Pass(pass) => Some((submission.queue, *pass)),
                Step::Barriers(_) => None,
            })
        })
    }

    /// Counts submissions, barriers, waits and transfers.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            submissions: self.submissions.len() as u32,
            ..Counts::default()
        };
        for submission in &self.submissions {
            counts.semaphore_waits += submission.waits.len() as u32;
            for step in &submission.steps {
                let Step::Barriers(batch) = step else {
                    continue;
                };
                counts.barrier_calls += 1;
                counts.barriers += batch.len() as u32;
                let transfers = batch.images.iter().filter_map(|barrier| barrier.transfer);
                let transfers = transfers.chain(batch.buffers.iter().filter_map(|b| b.transfer));
                let acquires = transfers.filter(|transfer| transfer.half == TransferHalf::Acquire);
                counts.ownership_transfers += acquires.count() as u32;
            }
        }
        counts
    }
}
