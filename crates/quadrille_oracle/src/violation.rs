//! Violations that [`Judge`](crate::Judge) reports.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use quadrille_sync::flags::{AccessMask, Layout, Stages};
use quadrille_sync::topology::{FamilyIndex, QueueIndex};
use thiserror::Error;

/// The pass, barrier or presentation that accesses a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A pass.
    Pass {
        /// Its name.
        name: Arc<str>,
        /// Its access.
        access: &'static str,
        /// The frame it belongs to; the judge counts frames from 1.
        frame: u32,
    },
    /// A layout transition.
    Transition {
        /// The layout before.
        old: Layout,
        /// The layout after.
        new: Layout,
        /// The frame it belongs to.
        frame: u32,
    },
    /// The release of an ownership transfer.
    Release {
        /// The family that releases.
        from: FamilyIndex,
        /// The family that acquires.
        to: FamilyIndex,
        /// The frame it belongs to.
        frame: u32,
    },
    /// The acquire of an ownership transfer.
    Acquire {
        /// The family that releases.
        from: FamilyIndex,
        /// The family that acquires.
        to: FamilyIndex,
        /// The frame it belongs to.
        frame: u32,
    },
    /// The presentation engine.
    Presentation,
}

impl Display for Actor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Pass {
                name,
                access,
                frame,
            } => {
                write!(out, "pass `{name}` ({access}, frame {frame})")
            }
            Actor::Transition { old, new, frame } => {
                write!(
                    out,
                    "the layout transition {old:?} -> {new:?} of frame {frame}"
                )
            }
            Actor::Release { from, to, frame } => {
                write!(
                    out,
                    "the release from family {} to {} of frame {frame}",
                    from.0, to.0
                )
            }
            Actor::Acquire { from, to, frame } => {
                write!(
                    out,
                    "the acquire from family {} to {} of frame {frame}",
                    from.0, to.0
                )
            }
            Actor::Presentation => write!(out, "the presentation engine"),
        }
    }
}

/// Part of a resource, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourcePart {
    /// The resource's name.
    pub resource: Arc<str>,
    /// The part, in words.
    pub range: String,
}

impl Display for ResourcePart {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} of `{}`", self.range, self.resource)
    }
}

/// The kind of a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// A read after a write.
    ReadAfterWrite,
    /// A write after a read.
    WriteAfterRead,
    /// A write after a write.
    WriteAfterWrite,
}

/// Dependency that a hazard lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingDependency {
    /// Nothing orders the two.
    Execution,
    /// The two are ordered, but the write is not available before the later access.
    Availability,
    /// The write is available, but not visible to this access in this stage.
    Visibility {
        /// The stage.
        stage: Stages,
        /// The access.
        access: AccessMask,
    },
}

impl Display for MissingDependency {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MissingDependency::Execution => write!(out, "no execution dependency orders them"),
            MissingDependency::Availability => write!(out, "the write is not made available"),
            MissingDependency::Visibility { stage, access } => {
                write!(out, "the write is not visible to {access:?} in {stage:?}")
            }
        }
    }
}

/// Half of a synchronization command's scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first scope.
    Src,
    /// The second scope.
    Dst,
    /// The stages of a wait.
    Wait,
}

/// A violation of Vulkan's rules, or of the frame's declarations, by a plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// Two accesses, at least one a write, without a sufficient dependency between them.
    #[error("{hazard:?} hazard on {affected}: {later} after {earlier}; {missing}.")]
    Hazard {
        /// The kind.
        hazard: Hazard,
        /// The part that both access.
        affected: ResourcePart,
        /// The earlier access.
        earlier: Actor,
        /// The later access.
        later: Actor,
        /// The missing dependency between them.
        missing: MissingDependency,
    },
    /// An image is not in the layout that an access needs, or not in the `oldLayout` of a
    /// barrier.
    #[error("{actor} needs {affected} in layout {needed:?} and finds it in {found:?}.")]
    WrongLayout {
        /// The user of the layout.
        actor: Actor,
        /// The subresources.
        affected: ResourcePart,
        /// The actual layout.
        found: Layout,
        /// The layout that is needed.
        needed: Layout,
    },
    /// A barrier has `newLayout` `UNDEFINED` or `PREINITIALIZED`.
    #[error("{actor} has a new layout that images cannot be put in, on {affected}.")]
    InvalidNewLayout {
        /// The barrier.
        actor: Actor,
        /// The subresources.
        affected: ResourcePart,
    },
    /// Contents are read or kept after a barrier has discarded them.
    #[error("{actor} needs the contents of {affected}, which {discarded_by} has discarded.")]
    LostContents {
        /// The user of the contents.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
        /// The barrier.
        discarded_by: Actor,
    },
    /// Two resources share memory, and an access to one has no sufficient dependency on an earlier
    /// access to the other.
    #[error(
        "{later} on {affected} shares memory with {former} and comes after {earlier} on that; {missing}."
    )]
    MemoryHazard {
        /// The part of the later access.
        affected: ResourcePart,
        /// The part of the earlier access.
        former: ResourcePart,
        /// The earlier access.
        earlier: Actor,
        /// The later access.
        later: Actor,
        /// The missing dependency between them.
        missing: MissingDependency,
    },
    /// Contents are needed whose memory another resource has used since.
    #[error("{actor} needs the contents of {affected}, whose memory `{by}` has taken.")]
    TakenContents {
        /// The user of the contents.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
        /// The resource that uses the memory now.
        by: Arc<str>,
    },
    /// Contents are read that were never written.
    #[error("{actor} reads {affected}, which was never written.")]
    NeverWritten {
        /// The reader.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
    },
    /// A family uses a range that another family owns.
    #[error("{actor} runs on family {} and touches {affected}, which family {} owns.", family.0, owner.0)]
    NotOwner {
        /// The user.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
        /// The family of the queue.
        family: FamilyIndex,
        /// The owner.
        owner: FamilyIndex,
    },
    /// A range is accessed between its release and its acquire.
    #[error("{actor} touches {affected} after {release} and before its acquire.")]
    Released {
        /// The user.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
        /// The release.
        release: Actor,
    },
    /// An acquire of ownership without a release before it.
    #[error("{actor} acquires {affected}, which has not been released.")]
    AcquireWithoutRelease {
        /// The acquire.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
    },
    /// The halves of an ownership transfer differ.
    #[error("{actor} and {release} of {affected} differ in their {what}.")]
    TransferMismatch {
        /// The acquire.
        actor: Actor,
        /// The release.
        release: Actor,
        /// The range.
        affected: ResourcePart,
        /// The property that differs.
        what: &'static str,
    },
    /// An acquire of ownership that is not ordered after its release.
    #[error("{actor} of {affected} is not ordered after the release by a wait{}.", if *all_commands {
        " that covers all stages"
    } else {
        " whose stages its first scope continues"
    })]
    AcquireUnordered {
        /// The acquire.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
        /// Without `VK_KHR_maintenance8` the wait has to cover all stages of the queue.
        all_commands: bool,
    },
    /// An ownership transfer on a queue of neither family, of equal families, or of a concurrent
    /// resource.
    #[error("{actor} of {affected} cannot be: {why}.")]
    ImpossibleTransfer {
        /// The half of the transfer.
        actor: Actor,
        /// The range.
        affected: ResourcePart,
        /// The reason.
        why: &'static str,
    },
    /// Two barriers of one call have layout or ownership changes of the same range.
    #[error("Two barriers of one call change the layout or owner of {affected}.")]
    BarriersCollide {
        /// The range.
        affected: ResourcePart,
    },
    /// A scope names stages that the queue does not have.
    #[error("Submission {submission} on queue {} names stages {stages:?} ({side:?}), which the queue does not have.", queue.0)]
    UnsupportedStages {
        /// The index of the submission in the plan.
        submission: usize,
        /// Its queue.
        queue: QueueIndex,
        /// The stages.
        stages: Stages,
        /// Where they are named.
        side: Side,
    },
    /// A scope names accesses that none of its stages can make.
    #[error(
        "Submission {submission} names accesses {access:?} ({side:?}), which none of the stages beside them makes."
    )]
    UnsupportedAccess {
        /// The index of the submission in the plan.
        submission: usize,
        /// The accesses.
        access: AccessMask,
        /// Where they are named.
        side: Side,
    },
    /// A submission signals a value that is not above the queue's last one.
    #[error("Submission {submission} signals {value} on queue {}, whose timeline is at {last} already.", queue.0)]
    SignalNotIncreasing {
        /// The index of the submission in the plan.
        submission: usize,
        /// Its queue.
        queue: QueueIndex,
        /// The value.
        value: i128,
        /// The value before.
        last: u64,
    },
    /// A wait that comes, in submission order, before the signal it waits for.
    #[error("Submission {submission} waits for value {value} of queue {}, which no earlier submission signals.", queue.0)]
    WaitBeforeSignal {
        /// The index of the submission in the plan.
        submission: usize,
        /// The queue that should signal.
        queue: QueueIndex,
        /// The value.
        value: i128,
    },
    /// A submission waits for passes of which it needs none.
    #[error(
        "Submission {submission} waits for value {value} of queue {}, a submission of passes of which \
         it needs none.",
        queue.0
    )]
    NeedlessWait {
        /// Its index in the plan.
        submission: usize,
        /// The queue.
        queue: QueueIndex,
        /// The value, counted from the start of the frame.
        value: i128,
    },
    /// A submission is submitted more than once, or not at all.
    #[error("Submission {submission} is submitted {times} times.")]
    CallCount {
        /// The index of the submission in the plan.
        submission: usize,
        /// The number of calls that contain it.
        times: usize,
    },
    /// A queue has more than one call in a frame although calls are coalesced.
    #[error("Queue {} has a second submit call in one frame, though calls are coalesced.", queue.0)]
    SecondCall {
        /// The queue.
        queue: QueueIndex,
    },
    /// Submissions wait for each other forever.
    #[error("Submission {submission} waits for ever, for value {value} of queue {}.", queue.0)]
    Deadlock {
        /// The index of the submission in the plan.
        submission: usize,
        /// The queue that never signals.
        queue: QueueIndex,
        /// The value.
        value: i128,
    },
    /// A resource that is given to an external owner has not been released to it.
    #[error("{affected} leaves for {family} and has not been released to it as the frame asks.")]
    NotGiven {
        /// The range.
        affected: ResourcePart,
        /// The family of the external owner.
        family: FamilyIndex,
    },
    /// A call contains submissions both before and after a host pass.
    #[error("A call on queue {} reaches beyond a host pass.", queue.0)]
    CallAcrossHost {
        /// The queue.
        queue: QueueIndex,
    },
    /// A host pass waits for a value that is never signalled.
    #[error("Host pass `{pass}` waits for ever, for value {value} of queue {}.", queue.0)]
    HostDeadlock {
        /// The host pass.
        pass: Arc<str>,
        /// The queue that never signals.
        queue: QueueIndex,
        /// The value.
        value: i128,
    },
    /// A host pass does not wait for a device pass that it is declared to follow.
    #[error(
        "Host pass `{later}` does not wait for pass `{earlier}`, and is declared to come after it."
    )]
    HostTooEarly {
        /// The device pass.
        earlier: Arc<str>,
        /// The host pass.
        later: Arc<str>,
    },
    /// A swapchain image is accessed without a wait for its acquire.
    #[error("{actor} touches swapchain image `{image}`, which is not acquired.")]
    NotAcquired {
        /// The user.
        actor: Actor,
        /// The image.
        image: Arc<str>,
    },
    /// A swapchain image is not acquired, or not presented, exactly once a frame.
    #[error("Swapchain image `{image}` is {what} {times} times in a frame that uses it.")]
    SwapchainCount {
        /// The image.
        image: Arc<str>,
        /// Acquired or presented.
        what: &'static str,
        /// How often.
        times: usize,
    },
    /// A swapchain image is presented on a queue that does not support presentation.
    #[error("Swapchain image `{image}` is presented on queue {}, which cannot present.", queue.0)]
    CannotPresent {
        /// The image.
        image: Arc<str>,
        /// The queue.
        queue: QueueIndex,
    },
    /// A resource that is not a swapchain image is acquired or presented.
    #[error("`{image}` is {what} and is no swapchain image.")]
    NoSwapchainImage {
        /// The resource.
        image: Arc<str>,
        /// Acquired or presented.
        what: &'static str,
    },
    /// A pass does not run exactly once, or runs although it is culled.
    #[error("Pass `{pass}` runs {times} times{}.", if *culled { " and is culled" } else { "" })]
    PassCount {
        /// The pass.
        pass: Arc<str>,
        /// How often.
        times: usize,
        /// Whether the plan lists it as culled.
        culled: bool,
    },
    /// A pass is culled that must run.
    #[error("Pass `{pass}` is culled, and {why}.")]
    WronglyCulled {
        /// The pass.
        pass: Arc<str>,
        /// The reason why it has to run.
        why: &'static str,
    },
    /// A pass that uses a timeline of the user is submitted such that its value comes too early, too late
    /// or never.
    #[error("Pass `{pass}` uses value {value} of the timeline `{timeline}`: {why}.")]
    UserTimeline {
        /// The pass.
        pass: Arc<str>,
        /// The timeline.
        timeline: Arc<str>,
        /// The value, relative to the base of the frame.
        value: u64,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A pass runs on a queue that does not support it, or not on its fixed queue.
    #[error("Pass `{pass}` runs on queue {}: {why}.", queue.0)]
    WrongQueue {
        /// The pass.
        pass: Arc<str>,
        /// The queue.
        queue: QueueIndex,
        /// The problem with the queue.
        why: &'static str,
    },
    /// Two passes run in the wrong order.
    #[error("Pass `{later}` runs before pass `{earlier}`, though {why}.")]
    PassOrder {
        /// The pass that should run first.
        earlier: Arc<str>,
        /// The pass that should run second.
        later: Arc<str>,
        /// The source of the order.
        why: &'static str,
    },
    /// The plan has an index that is out of bounds in the frame or the topology.
    #[error("The plan names {what} {index}, which does not exist.")]
    UnknownIndex {
        /// Kind of the item that is named.
        what: &'static str,
        /// Its index.
        index: u64,
    },
}
