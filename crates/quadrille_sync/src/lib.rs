//! Vulkan's synchronisation rules as a pure function: declared accesses in, a plan out.
//!
//! # Model
//!
//! A [`Frame`] is a list of passes. Each says which ranges of which buffers and images it touches
//! and how ([`Access`]), which queue it would like, and which passes it comes after. A
//! [`Topology`] says which queues there are. [`States`] say what earlier frames have left behind.
//! [`plan`] turns the three into a [`Plan`]: which submission of which queue runs each pass, which
//! barriers stand before it, which timeline values a submission waits for, which resources change
//! their queue family, and for all of that the reason. Once the plan has been submitted,
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
//! # Choices
//!
//! - **Order is declared, or obvious, or an error.** One writer comes before its readers; anything
//!   less clear has to be said, and [`PlanErrors`] says how. Order without a hazard behind it
//!   orders submissions and costs no wait: there is nothing to see.
//! - **Frames repeat.** Plans are relative to where the timelines stood, so that [`Planner`] can
//!   use one again, and ownership is released at the end of a frame to whom the next one will
//!   need it, on the evidence of the frames before.
//! - **Visibility is per stage and access, and per queue**, as the specification has it. A read
//!   in one stage says nothing about another.
//! - **The host is not waited for on the device.** What comes after a host pass is submitted after
//!   it has run; what does not is submitted before ([`HostStep`]).
//! - **A wait holds back stages, not queues**, and barriers after it chain from those stages.
//!
//! # Deliberately absent
//!
//! - Vulkan: no bindings, handles or calls. [`flags`](Stages) has Vulkan's numbers; the backend
//!   converts them, and its tests compare.
//! - Clocks, threads, I/O, globals, randomness and `unsafe`. The same input gives the same plan.
//! - The GPU's progress. A plan that depended on it could be neither used again nor replayed.
//! - Memory. That resources share some is known here ([`Placement`]), and where they could
//!   ([`place`]); nobody here allocates any.
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
mod text;
mod topology;

pub use access::{Access, CustomAccess, Target};
pub use advise::{
    Advice, FrameCost, SharingAdvice, SharingChange, SharingStage, SharingTrials, advise,
    advise_sharing,
};
pub use dot::dot;
pub use error::{CycleStep, Party, PlanError, PlanErrors};
pub use flags::{AccessMask, Aspects, Layout, Stages};
pub use frame::{
    Frame, Give, KeptNames, PassDecl, PassIndex, PassKind, Preference, QueueRequest, Undeclared,
    Use,
};
pub use plan::{
    BarrierBatch, BufferBarrier, Counts, HostStep, ImageAcquire, ImageBarrier, MemoryBarrier,
    PassRef, Plan, Reason, RelativePoint, Rung, Scope, Segment, Solution, Step, Submission,
    SubmitCall, Transfer, TransferHalf, Wait,
};
pub use planner::{Planned, Planner};
pub use range::{Slices, SubRange, SubresourceRange};
pub use resource::{
    BlockId, Lifetime, Placement, Resource, ResourceId, ResourceIndex, ResourceKind, Sharing,
};
pub use solve::{BlockNeed, MemoryNeed, Places, place, plan};
pub use states::{EndStates, Handover, Progress, States, TimelinePoint};
pub use text::{ParseError, PlanText, parse_frame, parse_plan, parse_topology};
pub use topology::{
    BarrierStyle, Capabilities, FamilyIndex, OrderPolicy, Queue, QueueIndex, SubmitPolicy, Topology,
};
