//! Vulkan's synchronization rules as a pure function: declared accesses in, a plan out.
//!
//! # Model
//!
//! A [`Frame`] is a list of passes. Each declares its accesses ([`Access`]) to ranges of buffers and images,
//! its preferred queue, and the passes that it follows. A [`Topology`] lists the available queues. [`States`] hold the
//! effects of earlier frames. [`plan`] computes a [`Plan`] from the three: the submission and queue of each pass, the
//! barriers before it, the timeline values that submissions wait for, the ownership transfers, and a reason for each
//! of them. After the plan was submitted, [`States::commit`] updates the states.
//!
//! ```
//! use quadrille_sync::solve::plan;
//! use quadrille_sync::states::States;
//! use quadrille_sync::text::{parse_frame, parse_topology};
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
//! - **Order is declared, implied, or an error.** A single writer precedes its readers. Any other
//!   order between conflicting passes has to be declared; [`PlanErrors`] explains how. Declared
//!   order without a hazard orders submissions and costs no wait.
//! - **Declared order and submission order differ.** Declared order determines which write a read observes, and is
//!   what errors refer to. Passes may be submitted in another order (`solve/schedule/arrange.rs`), also
//!   against explicit order that no hazard or side effect needs, if the whole plan is better and
//!   no queue ends later (`choose.rs`). [`OrderPolicy`] disables that.
//! - **A barrier joins the last barrier call of its queue** if that call follows everything that
//!   the barrier depends on. So there are fewer calls (`solve/barriers/calls.rs`). Releases,
//!   presents and visibility to the host are placed after the last pass of a submission.
//! - **Frames repeat.** A plan's timeline values are relative to the timelines' values at its start, so
//!   [`Planner`] can reuse it. Ownership is released at the end of a frame to the family that
//!   needed it next in earlier frames.
//! - **Look-ahead.** The last barrier call of a queue includes layout transitions, order and
//!   visibility that the next frame needs first, if that saves the next frame a call
//!   (`solve/barriers/lookahead.rs`). A misprediction costs one more transition and falls back to
//!   a normal barrier. So only ranges that were used in two consecutive frames are predicted.
//! - **Visibility is per stage and access, and per queue**, as in the specification. Visibility to a read in one
//!   stage implies none in another.
//! - **Layouts are per aspect.** Vulkan 1.2 guarantees `separateDepthStencilLayouts`, so depth and
//!   stencil of one image can be in different layouts on every device.
//! - **Nothing on the device waits for the host.** A host pass is a gate between submissions.
//!   Passes that depend on it are submitted after it has run, all others before ([`HostStep`]). A
//!   host-signalled semaphore would stop independent work on the same queue, and a present must
//!   not be queued before the signal.
//! - **A wait blocks stages, not queues**, and barriers after it chain from those stages.
//! - **The plan groups submissions into `vkQueueSubmit2` calls** ([`Plan::submit_calls`]): one call for
//!   each queue. Queues that share a `VkQueue` keep their order, or they would wait for
//!   themselves.
//! - **Shared memory has its own states.** Blocks track accesses of all resources by byte
//!   (`solve/state/blocks.rs`). So offsets may change from frame to frame. An image in
//!   shared memory begins each frame with a transition from `UNDEFINED`, and its ownership is never
//!   transferred. Dependencies between resources in the same memory are global memory barriers, since
//!   a barrier of a buffer or image only covers accesses through it.
//! - **Aliasing costs no waits.** Two resources share bytes if all their users run on one queue in
//!   some order, or if hazards order them and both are used on the same queues
//!   (`solve/memory.rs`).
//! - **Sharing modes are decided late, and for images on trial** ([`SharingTrials`]): a resource
//!   is exclusive until the plans of several observations agree on concurrent. Vulkan fixes the mode at
//!   creation, so the object is recreated between frames and a pass copies the contents. To the
//!   solver these are two resources.
//! - **A repeated plan is reused without a comparison**, and states only count the repetitions
//!   (`states/value_offsets.rs`).
//!
//! # Deliberately absent
//!
//! - Split barriers (`vkCmdSetEvent2`, `vkCmdWaitEvents2`). A prototype split each dependency within a submission that
//!   has another pass between its ends. A deferred frame of 41 passes, replayed on an H200 (driver 580.159.04, 192 frames
//!   each in turns), took 0.3 % longer with events that commands reset, and 0.2 % longer with events that the host
//!   resets, on one queue; 0.03 % longer on three. It never took less time.
//! - Vulkan: no bindings, handles or calls. The module `flags` has Vulkan's numbers; the backend
//!   converts them, and its tests compare.
//! - Clocks, threads, I/O, globals, randomness and `unsafe`. The same input gives the same plan.
//! - The GPU's progress. A plan that depended on it could be neither reused nor replayed.
//! - Memory allocation. This crate only knows placements of resources in shared memory ([`Placement`]), and computes
//!   them ([`plan_memory`]).
//!
//! [`Access`]: access::Access
//! [`Frame`]: frame::Frame
//! [`HostStep`]: plan::HostStep
//! [`OrderPolicy`]: topology::OrderPolicy
//! [`Placement`]: resource::Placement
//! [`Plan`]: plan::Plan
//! [`Plan::submit_calls`]: plan::Plan::submit_calls
//! [`Planner`]: planner::Planner
//! [`SharingTrials`]: advise::SharingTrials
//! [`States`]: states::States
//! [`States::commit`]: states::States::commit
//! [`Topology`]: topology::Topology
//! [`plan`]: solve::plan
//! [`plan_memory`]: solve::plan_memory
#![forbid(unsafe_code)]

pub mod access;
pub mod advise;
mod dot;
mod error;
pub mod flags;
pub mod frame;
pub mod plan;
pub mod planner;
pub mod range;
pub mod resource;
#[cfg(test)]
mod rounds;
pub mod solve;
pub mod states;
pub mod table;
pub mod text;
pub mod topology;

pub use dot::dot;
pub use error::{ConflictingAccess, CycleStep, PlanError, PlanErrors};
