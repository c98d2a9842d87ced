//! Kinds of errors, with their messages.

use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use super::words::{AtOnce, Bits, Cycle, EitherOrder, LentAs, List, UsedObject, Words};
use super::{ConflictingAccess, CycleStep};
use crate::access::Access;
use crate::flags::{Aspects, Layout};
use crate::range::SubRange;
use crate::resource::{BlockId, ResourceId};
use crate::topology::{Capabilities, FamilyIndex, Topology};

/// One error in a frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The topology has no queue.
    #[error("The topology has no queue.")]
    NoQueues,
    /// The order of the passes makes a value of an application's timeline unreachable.
    #[error(
        "Pass `{later}` {} value {value} of the timeline `{timeline}`, before which pass \
         `{signaller}` signals value {signalled}; but `{signaller}` is not before `{later}`. \
         Order `{later}` after `{signaller}`, or use values that rise in the order of the passes.",
        if *waits { "waits for" } else { "signals" }
    )]
    TimelineNeverReached {
        /// The timeline.
        timeline: Arc<str>,
        /// The pass that signals the lower value.
        signaller: Arc<str>,
        /// The lower value.
        signalled: u64,
        /// The pass that waits for, or signals, the other value.
        later: Arc<str>,
        /// The value that `later` waits for or signals.
        value: u64,
        /// Whether `later` waits.
        waits: bool,
    },
    /// A pass waits for a value that it signals itself, or for a higher one.
    #[error(
        "Pass `{pass}` waits for value {wanted} of the timeline `{timeline}` before it begins, and signals \
         value {signalled} when it is done. Wait in another pass after it, or signal a value above {wanted}."
    )]
    TimelineOfItself {
        /// The timeline.
        timeline: Arc<str>,
        /// The pass.
        pass: Arc<str>,
        /// The value that it waits for.
        wanted: u64,
        /// The value that it signals.
        signalled: u64,
    },
    /// A value of a timeline is signalled twice.
    #[error(
        "Passes `{first}` and `{second}` both signal value {value} of the timeline `{timeline}`. A timeline \
         only rises: let the later one signal a higher value."
    )]
    TimelineSignalledTwice {
        /// The timeline.
        timeline: Arc<str>,
        /// A pass that signals it.
        first: Arc<str>,
        /// The other pass.
        second: Arc<str>,
        /// The value.
        value: u64,
    },
    /// A host pass uses an application's timeline.
    #[error(
        "Pass `{pass}` runs on the host, so no submission waits or signals for it. Wait for and signal \
         timelines in its callback, or in another pass."
    )]
    TimelineOfHostPass {
        /// The pass.
        pass: Arc<str>,
    },
    /// A use of a timeline names a pass or a timeline that the frame does not have.
    #[error("A use of timeline {timeline} by pass {pass} names what the frame does not have.")]
    UnknownTimeline {
        /// The index of the timeline.
        timeline: u32,
        /// The index of the pass.
        pass: u32,
    },
    /// There are more queues than a plan can use.
    #[error(
        "The topology has {count} queues, and a plan can use at most {}.",
        Topology::MAX_QUEUES
    )]
    TooManyQueues {
        /// The number of queues.
        count: usize,
    },
    /// A queue has the index of an external owner as its family.
    #[error(
        "Queue {queue} of the topology is of family {family}, which stands for somebody outside of the \
         device. Queues are of the families that the device counts from 0."
    )]
    OutsideFamily {
        /// The index of the queue.
        queue: usize,
        /// Its family; see [`FamilyIndex::is_outside`].
        family: FamilyIndex,
    },
    /// The states have more queues than the topology.
    #[error(
        "The states are of {known} queues, and the topology has {count}. States belong to one topology."
    )]
    OtherTopology {
        /// The number of queues of the states.
        known: usize,
        /// The number of queues of the topology.
        count: usize,
    },
    /// A pass refers to an index that the frame does not have.
    #[error("Pass `{pass}` names {what} {index}, which the frame does not have.")]
    UnknownIndex {
        /// The pass.
        pass: Arc<str>,
        /// The kind of the index.
        what: &'static str,
        /// Its index.
        index: u32,
    },
    /// The slices of passes in the frame's arrays are not contiguous.
    #[error(
        "Pass `{pass}` has {what} {}..{}, and the passes before it end at {end}. Passes divide the \
         frame's arrays between them, one after the other and without a gap.",
        slice.start, slice.end
    )]
    Scattered {
        /// The pass.
        pass: Arc<str>,
        /// Name of the array.
        what: &'static str,
        /// The pass's slice of it.
        slice: Range<u32>,
        /// Where it should begin.
        end: u32,
    },
    /// An array of the frame has elements that belong to no pass.
    #[error("The frame has {count} {what}, and its passes have {end} of them.")]
    LeftOver {
        /// Name of the array.
        what: &'static str,
        /// Its length.
        count: usize,
        /// Where the last pass ends.
        end: u32,
    },
    /// Two resources have one id.
    #[error(
        "Resources `{first}` and `{second}` have the same id {}. Declare a resource once.",
        id.0
    )]
    DuplicateResource {
        /// The first resource.
        first: Arc<str>,
        /// The other one.
        second: Arc<str>,
        /// The id of both.
        id: ResourceId,
    },
    /// A resource has the id of another resource of earlier frames.
    #[error(
        "Resource `{resource}` has id {} and {}, and in earlier frames id {} had {}. Give it an id \
         of its own, or call `States::remove` with the id once the earlier resource is gone.",
        id.0, Words(now), id.0, Words(before)
    )]
    ReusedId {
        /// The resource.
        resource: Arc<str>,
        /// Its id.
        id: ResourceId,
        /// Its whole range.
        now: SubRange,
        /// The whole range of the resource that had the id before.
        before: SubRange,
    },
    /// A resource that Vulkan does not allow.
    #[error("Resource `{resource}` {what}.")]
    InvalidResource {
        /// The resource.
        resource: Arc<str>,
        /// Description of the problem.
        what: &'static str,
    },
    /// A use of a range that does not exist.
    #[error(
        "{user} uses {} of `{resource}`, which has {}.",
        Words(range),
        Words(limit)
    )]
    OutOfBounds {
        /// The pass.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
        /// The range that does not fit.
        range: SubRange,
        /// All of the resource.
        limit: SubRange,
    },
    /// Two uses of one pass conflict: both write a range, or one reads and one writes it.
    #[error(
        "Pass `{pass}` declares {} and {} of {} of `{resource}`. \
         Declare one access that says both, such as a ReadWrite one, or let another resource take \
         one of them.",
        first.name(), second.name(), Words(range)
    )]
    DuplicateUse {
        /// The pass.
        pass: Arc<str>,
        /// The resource.
        resource: Arc<str>,
        /// One access.
        first: Access,
        /// The other access.
        second: Access,
        /// The range that both touch.
        range: SubRange,
    },
    /// One pass needs a range in two layouts at once.
    #[error(
        "Pass `{pass}` needs {} of `{resource}` in layout {:?} for {} and in layout {:?} for {}. \
         Declare one access whose layout allows both.",
        Words(range), first.layout(), first.name(), second.layout(), second.name()
    )]
    TwoLayouts {
        /// The pass.
        pass: Arc<str>,
        /// The image.
        resource: Arc<str>,
        /// One access.
        first: Access,
        /// The other access.
        second: Access,
        /// The range that both touch.
        range: SubRange,
    },
    /// Two passes write a range without an order between them.
    #[error(
        "{first} and {second} both write {} of `{resource}` and have no order. {}",
        Words(range), EitherOrder(&second.pass, &first.pass)
    )]
    UnorderedWrites {
        /// One pass.
        first: ConflictingAccess,
        /// The other pass.
        second: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
        /// The range that both write.
        range: SubRange,
    },
    /// A pass reads a range that several passes write, without an order relative to one of them.
    #[error(
        "{reader} reads {} of `{resource}`, which {} write, and has no order with {writer}. {}",
        Words(range), List(writers), EitherOrder(&reader.pass, &writer.pass)
    )]
    AmbiguousRead {
        /// The pass that reads.
        reader: ConflictingAccess,
        /// The writer that it has no order with.
        writer: ConflictingAccess,
        /// All passes that write.
        writers: Vec<ConflictingAccess>,
        /// The resource.
        resource: Arc<str>,
        /// The range that is read.
        range: SubRange,
    },
    /// The order of passes has a cycle.
    #[error("The order of passes is a cycle: {}.", Cycle(steps))]
    Cycle {
        /// The passes, each after the one before it and the first after the last.
        steps: Vec<CycleStep>,
    },
    /// A pass reads contents that were never written.
    #[error(
        "{reader} reads {} of `{resource}`, which no earlier pass of this frame and no earlier \
         frame has written. Write it first, or order `{}` after a pass that does{}.",
        Words(range), reader.pass,
        if reader.access.is_write() {
            "; or, if it overwrites all of that, mark the use as discarding or declare an access \
             that only writes"
        } else {
            ""
        }
    )]
    NeverWritten {
        /// The pass.
        reader: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
        /// The range that is read.
        range: SubRange,
    },
    /// No queue has the capabilities that a pass requires.
    #[error("Pass `{pass}` requires {}, and no queue of the topology `{topology}` has that.", Bits(*required))]
    NoCapableQueue {
        /// The pass.
        pass: Arc<str>,
        /// The capabilities that it requires.
        required: Capabilities,
        /// The topology in its text form.
        topology: String,
    },
    /// An access needs stages that none of the queues suitable for the pass has.
    #[error(
        "{user} touches `{resource}` in stages {}, and no queue of the topology `{topology}` \
         that can run the pass has them.",
        Bits(user.access.stages())
    )]
    UnsupportedStages {
        /// The pass.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
        /// The topology in its text form.
        topology: String,
    },
    /// An access to buffers is declared for an image, or the reverse, or the image lacks the access's aspects.
    #[error(
        "{user} touches `{resource}`, which is {}; the access is one of {}.",
        UsedObject(*aspects), user.access.target()
    )]
    WrongTarget {
        /// The pass.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
        /// The aspects of the accessed range; `None` if the resource is a buffer.
        aspects: Option<Aspects>,
    },
    /// A use that only reads is marked as discarding.
    #[error(
        "{user} discards the contents of `{resource}` and only reads them. Discarding is for uses \
         that overwrite all of their range: leave `discard` out, or declare the write."
    )]
    DiscardedRead {
        /// The pass.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
    },
    /// A custom access that Vulkan does not allow.
    #[error("{user} touches `{resource}` with an access that Vulkan does not allow: {what}.")]
    InvalidCustom {
        /// The pass.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
        /// Description of the problem.
        what: String,
    },
    /// A device pass declares an access of the host, or a host pass one of the device.
    #[error("{user} touches `{resource}`: {}.", if user.access.is_host() {
        "accesses of the host are for host passes"
    } else {
        "a host pass can only declare accesses of the host"
    })]
    WrongSide {
        /// The pass.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
    },
    /// A host pass accesses an image of a swapchain.
    #[error(
        "{user} touches `{resource}`, and images of swapchains are none of the host's. \
         Copy it to a buffer in a device pass, and let `{}` read \
         that.",
        user.pass
    )]
    HostOnSwapchain {
        /// The pass.
        user: ConflictingAccess,
        /// The image.
        resource: Arc<str>,
    },
    /// Two resources share memory, and their lifetimes in the frame overlap.
    #[error(
        "Resources `{resource}` and `{other}` share bytes {}..{} of block {}, and {}, or place the two \
         apart.",
        bytes.start, bytes.end, block.0, AtOnce { resource, user, other, other_user }
    )]
    AliasedAtOnce {
        /// The resource that is used first.
        resource: Arc<str>,
        /// The last pass that uses it.
        user: Arc<str>,
        /// The other resource.
        other: Arc<str>,
        /// The first pass that uses the other one.
        other_user: Arc<str>,
        /// The block of memory.
        block: BlockId,
        /// The bytes of the block that both occupy.
        bytes: Range<u64>,
    },
    /// A host pass accesses a transient resource in shared memory.
    #[error(
        "{user} touches `{resource}`, which may share its memory with others, and shared memory is \
         none of the host's. Give it memory of its own, or copy it to a buffer in a device pass, \
         and let `{}` read that.",
        user.pass
    )]
    HostOnShared {
        /// The pass.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
    },
    /// A resource is used while an external owner has it.
    #[error(
        "Resource `{resource}` has been given to {family}, outside of the device. Import it again \
         when it is back, before a frame uses it."
    )]
    Outside {
        /// The resource.
        resource: Arc<str>,
        /// The external owner.
        family: FamilyIndex,
    },
    /// A swapchain image is used, and no queue can present it.
    #[error(
        "Swapchain image `{resource}` is used, and no queue of the topology `{topology}` can present."
    )]
    NoPresentingQueue {
        /// The image.
        resource: Arc<str>,
        /// The topology in its text form.
        topology: String,
    },
    /// A resource is used by a stream that has given it away.
    #[error(
        "Pass `{}` uses `{resource}` ({:?}), which this stream has given to another one. Take it \
         back before.",
        user.pass, user.access
    )]
    Given {
        /// The user.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
    },
    /// A resource that two streams read is changed by one of them.
    #[error(
        "Pass `{}` would change `{resource}` ({:?}), which is lent, so that two streams read it \
         at the same time{}.",
        user.pass, user.access, LentAs(*layout)
    )]
    Lent {
        /// The user.
        user: ConflictingAccess,
        /// The resource.
        resource: Arc<str>,
        /// The layout that the image has while it is lent, if the access needs another one.
        layout: Option<Layout>,
    },
    /// A swapchain image is used but not written, so undefined contents would be presented.
    #[error(
        "Swapchain image `{resource}` is used, and no pass of the frame writes it. Images are \
         presented once they are used: write it, with a clear at least, or leave it unused."
    )]
    PresentedUnwritten {
        /// The image.
        resource: Arc<str>,
    },
    /// A resource belongs to a family that the topology does not have.
    #[error(
        "Resource `{resource}` is owned by queue family {}, of which the topology `{topology}` \
         has no queue. States belong to one topology.",
        family.0
    )]
    UnknownOwner {
        /// The resource.
        resource: Arc<str>,
        /// Its owner.
        family: FamilyIndex,
        /// The topology in its text form.
        topology: String,
    },
}
