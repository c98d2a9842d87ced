//! The judge of plans: does a plan obey Vulkan's synchronisation rules?
//!
//! `quadrille_sync` turns declared accesses into a plan of barriers, waits and ownership
//! transfers. This crate says whether such a plan is right. It shares the solver's types and none
//! of its code or states: its rules are written from Vulkan's specification (the chapter
//! "Synchronization and Cache Control"), and it keeps its own history over frames.
//!
//! # What is judged
//!
//! [`Judge::frame`] carries a plan out on paper and objects where it finds
//!
//! - a **hazard**: two accesses of one range, at least one a write, that no chain of dependencies
//!   orders, or a write that is not available, or not visible to the very stage and access that
//!   comes next; over all queues and frames;
//! - a wrong **layout**, or contents that were thrown away and are needed;
//! - a wrong **owner**: ownership transfers whose halves differ in families, range or layouts, are
//!   not ordered by a wait that is wide enough, are used in between, or are missing;
//! - **memory** that resources share, and one touches before what another did to it is over and
//!   available, or needs contents that the other has taken;
//! - a wrong **timeline**: signals that do not grow, waits before their signals, deadlock;
//! - stages and accesses that the queue does not have;
//! - **swapchain images** that are used before they are acquired or after they are presented;
//! - **host passes** that read what is not visible to the host;
//! - a **needless wait** for passes of another queue, none of which the waiting ones depend on;
//! - anything else than what the frame declares: passes that are missing, run twice, on the wrong
//!   queue or in the wrong order.
//!
//! A judge can begin in the middle: [`Judge::restore`] takes the states that a captured frame began with for true,
//! and judges from there on.
//!
//! # How far it can be believed
//!
//! [`generate`] makes random and exhaustive sequences of frames, whose plans must all pass. What fails
//! is shrunk by [`shrink`](fn@shrink) and printed in the text form of frames and plans. That the judge
//! is not blind is shown by plans written by hand, one for each rule that it breaks, by plans of the
//! solver that are weakened (`tests/weakened.rs`, for each rung of its ladder), and beside the
//! validation layer on a device (`tests/gpu_differential.rs`).
//!
//! # Decisions
//!
//! - Execution dependencies hold for all resources, also those of buffer and image barriers; only
//!   access scopes are bound to the barrier's range ("both access scopes are limited to ...").
//! - First scopes hold logically earlier stages too, second scopes logically later ones; access
//!   scopes hold what is named.
//! - A write after a write needs visibility to the second write, as validation layers require, also
//!   with a read in between that is ordered after the first and before the second: it may have read a part
//!   of what it declares, such as the arguments of some draws.
//! - Where resources share memory, the barrier of a range covers the memory of the range, whichever
//!   resource wrote it. Writes of former resources have to be available, not visible: their contents
//!   are dead.
//! - Reads count as hazards wherever the access mask has them, even if `discard` says that the
//!   contents are not needed.
//!
//! # Deliberately absent
//!
//! Vulkan itself, and most opinions about speed: a plan with a barrier too many passes. The solver's
//! cases and budgets count barriers. Host passes in shared memory, which frames may not have.
#![forbid(unsafe_code)]

pub mod fuzz;
pub mod generate;

mod area;
mod calls;
mod judge;
mod order;
mod random;
mod sequence;
mod shrink;
mod stages;
mod violation;

pub use calls::judge_calls;
pub use generate::Shape;
pub use judge::Judge;
pub use random::Random;
pub use sequence::{Failure, FailureKind, Import, Sequence};
pub use shrink::shrink;
pub use violation::{Actor, Hazard, MissingDependency, ResourcePart, Side, Violation};
