//! Vulkan's synchronisation rules as a pure function: declared accesses in, a plan out.
//!
//! # Model
//!
//! A [`Frame`] is a list of passes. Each says which ranges of which buffers and images it touches
//! and how ([`Access`]), which queue it would like, and which passes it follows. A [`Topology`]
//! says which queues there are. [`States`] say what earlier frames have left behind. [`plan`]
//! turns the three into a [`Plan`]: which submission of which queue runs each pass, which barriers
//! stand before it, which timeline values a submission waits for, which resources change their
//! queue family, and for all of that the reason. Once the plan has been submitted,
//! [`States::commit`] moves the states on.
//!
//! ```
//! use quadrille_sync::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let topology = parse_topology("gct:1,ct:1")?;
//! let frame = parse_frame("
//! buffer cells 0 bytes 1024
//! image screen 1 aspects COLOR mips 1 layers 1 swapchain
//! pass simulate requires COMPUTE async
//!   StorageWriteCompute cells
//! pass draw requires GRAPHICS
//!   VertexRead cells
//!   ColorAttachmentWrite screen discard
//! ")?;
//! let plan = plan(&frame, &topology, &States::default())?;
//! assert_eq!(plan.counts().submissions, 2);
//! assert_eq!(plan.counts().semaphore_waits, 1);
//! assert_eq!(plan.counts().ownership_transfers, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Decisions
//!
//! - **Order is declared, or obvious, or an error.** One writer precedes its readers. Any other
//!   order between conflicting passes has to be declared, and [`PlanErrors`] says how. Declared
//!   order without a hazard orders submissions and costs no wait.
//! - **Order is decided twice.** Declared order decides which write a read sees, and what errors
//!   say. Passes may then be submitted in another order (`solve/schedule/arrange.rs`), also
//!   against explicit order that no hazard or side effect needs, if the whole plan is better and
//!   no queue ends later (`choose.rs`). [`OrderPolicy`] turns that off.
//! - **A barrier joins the last barrier call of its queue** if that call follows everything that
//!   the barrier depends on. So there are fewer calls (`solve/barriers/calls.rs`). Releases,
//!   presents and visibility to the host are placed after the last pass of a submission.
//! - **Frames repeat.** A plan's timeline values are relative to where the timelines stood, so
//!   [`Planner`] can use it again. Ownership is released at the end of a frame to the family that
//!   needed it next in earlier frames.
//! - **Look-ahead.** The last barrier call of a queue holds layout transitions, order and
//!   visibility that the next frame needs first, if that spares the next frame a call
//!   (`solve/barriers/lookahead.rs`). A misprediction costs one more transition and falls back to
//!   a normal barrier. So only ranges that were used two frames in a row are predicted.
//! - **Visibility is per stage and access, and per queue**, as in the specification. A read in one
//!   stage says nothing about another.
//! - **Layouts are per aspect.** Vulkan 1.2 promises `separateDepthStencilLayouts`, so depth and
//!   stencil of one image can be in different layouts on every device.
//! - **Nothing on the device waits for the host.** A host pass is a gate between submissions.
//!   Passes that depend on it are submitted after it has run, all others before ([`HostStep`]). A
//!   host-signalled semaphore would stop independent work on the same queue, and a present must
//!   not be queued before the signal.
//! - **A wait blocks stages, not queues**, and barriers after it chain from those stages.
//! - **The plan says what one `vkQueueSubmit2` submits** ([`Plan::submit_calls`]): one call for
//!   each queue, where queues that are one `VkQueue` keep their order, or they would wait for
//!   themselves.
//! - **Shared memory has its own states.** Blocks remember by byte what was done to them, by any
//!   resource (`solve/state/blocks.rs`). So places may change from frame to frame, an image in
//!   shared memory begins each frame with a transition from `UNDEFINED`, and its ownership never
//!   moves.
//! - **Aliasing costs no waits.** Two resources share bytes if all their users run on one queue in
//!   some order, or if hazards order them and both are used on the same queues
//!   (`solve/memory.rs`).
//! - **Sharing modes are decided late, and for images on trial** ([`SharingTrials`]): a resource
//!   is exclusive until the plans of several observations agree on concurrent. Vulkan fixes the mode at
//!   creation, so another object takes over between frames and a pass copies the contents. To the
//!   solver these are two resources.
//! - **A plan that repeats is taken without a comparison**, and states only count the repetitions
//!   (`states/lag.rs`).
//!
//! # Deliberately absent
//!
//! - Vulkan: no bindings, handles or calls. [`flags`](Stages) has Vulkan's numbers; the backend
//!   converts them, and its tests compare.
//! - Clocks, threads, I/O, globals, randomness and `unsafe`. The same input gives the same plan.
//! - The GPU's progress. A plan that depended on it could be neither used again nor replayed.
//! - Memory. That resources share some is known here ([`Placement`]), and where they could
//!   ([`plan_memory`]); this crate allocates none.
#![forbid(unsafe_code)]

mod access;
mod advise;
mod dot;
mod error;
mod flags;
mod frame;
mod plan;
mod planner;
mod range;
mod resource;
#[cfg(test)]
mod rounds;
mod solve;
mod states;
mod table;
mod text;
mod topology;

pub use access::{Access, CustomAccess, Target};
pub use advise::{
    Advice, FrameCost, QueueChoices, QueueMove, QueueObservation, SharingAdvice, SharingChange,
    SharingObservation, SharingStage, SharingTrials, advise, advise_sharing,
};
pub use dot::dot;
pub use error::{ConflictingAccess, CycleStep, PlanError, PlanErrors};
pub use flags::{AccessMask, Aspects, Layout, Stages};
pub use frame::{
    Frame, Give, PassDecl, PassIndex, PassKind, Preference, PreviousNames, QueueRequest,
    UndeclaredAccess, Use,
};
pub use plan::{
    BarrierBatch, BufferBarrier, Counts, DependencyKind, HostStep, ImageAcquire, ImageBarrier,
    MemoryBarrier, PassRef, Plan, PlanId, Reason, RelativePoint, Scope, Segment, Step, Submission,
    SubmitCall, Transfer, TransferHalf, UnreadWrite, Wait,
};
pub use planner::{Planned, Planner};
pub use range::{Slices, SubRange, SubresourceRange};
pub use resource::{
    BlockId, Lifetime, Placement, Resource, ResourceId, ResourceIndex, ResourceKind, Sharing,
};
pub use solve::{BlockNeed, MemoryNeed, MemoryPlan, plan, plan_memory};
pub use states::{
    BlockSnapshot, EndStates, Handover, HostVisibility, HostWait, PastAccess, Pending, Progress,
    QueueOrderSnapshot, QueueSnapshot, RangeSnapshot, ResourceSnapshot, Snapshot, States,
    TimelinePoint, VisibleScope,
};
pub use table::{NonTableUse, TableMembers, TableReaders};
pub use text::{
    ParseError, PlanText, closest_match, parse_frame, parse_plan, parse_snapshot, parse_topology,
};
pub use topology::{
    BarrierStyle, Capabilities, FamilyIndex, OrderPolicy, Queue, QueueIndex, SubmitPolicy, Topology,
};
