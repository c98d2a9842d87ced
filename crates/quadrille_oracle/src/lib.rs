//! Independent verification that plans obey Vulkan's synchronization rules.
//!
//! `quadrille_sync` turns declared accesses into a plan of barriers, waits and ownership
//! transfers. This crate checks such plans. It shares the solver's types but none
//! of its code or states: its rules are derived from Vulkan's specification (chapter
//! "Synchronization and Cache Control"), and it keeps its own history over frames.
//!
//! # Rules
//!
//! [`Judge::frame`] simulates a plan and reports
//!
//! - **hazards**: two accesses of one range, at least one a write, that no chain of dependencies
//!   orders, or a write that is not available, or not visible to the stage and access of the next
//!   use; over all queues and frames;
//! - wrong **layouts**, or discarded contents that are needed;
//! - wrong **owners**: ownership transfers whose halves differ in families, range or layouts, are
//!   not ordered by a wait with sufficient stages, have uses in between, or are missing;
//! - **shared memory**: an access before another resource's access to the same bytes is complete and
//!   available, or a use of contents that the other resource has overwritten;
//! - wrong **timelines**: values that do not increase, waits before their signals, deadlocks;
//! - stages and accesses that the queue does not support;
//! - **swapchain images** that are used before they are acquired or after they are presented;
//! - **host passes** that read contents not visible to the host;
//! - **needless waits** for passes of another queue on which no waiting pass depends;
//! - any deviation from the frame: passes that are missing, run twice, on the wrong
//!   queue or in the wrong order.
//!
//! [`Judge::restore`] starts from the states of a captured frame, which it assumes to be correct.
//!
//! # Validation of the oracle
//!
//! [`generate`] creates random and exhaustive sequences of frames, whose plans must all pass. Failing ones are
//! shrunk by [`shrink`](fn@shrink) and printed in the text form of frames and plans. The oracle's own detection is
//! tested by handwritten plans, one for each violated rule, by weakened plans of the
//! solver (`tests/weakened.rs`, for each [`DependencyKind`](quadrille_sync::plan::DependencyKind)), and by comparison with
//! the validation layer on a device (`tests/gpu_differential.rs`).
//!
//! # Decisions
//!
//! - The execution dependency of a buffer or image barrier applies to all resources; only its access
//!   scopes are limited to the barrier's range ("both access scopes are limited to ...").
//! - First scopes include logically earlier stages, second scopes logically later ones; access
//!   scopes include only the specified accesses.
//! - A write after a write needs visibility to the second write, as validation layers require. That
//!   holds also with a read in between that is ordered after the first and before the second write:
//!   the read may cover only a part of its declared range, such as the arguments of some draws.
//! - In shared memory, only a global memory barrier, a wait or the host makes writes of earlier
//!   resources available; the first scope of a layout transition includes them too. They need not be
//!   visible, since their contents are no longer needed.
//! - A read in the access mask counts for hazards even if the use discards the contents.
//!
//! # Deliberately absent
//!
//! - Any use of Vulkan itself.
//! - Most checks of efficiency: a plan with an unnecessary barrier passes. The cases and budgets of
//!   `quadrille_sync` count barriers.
//! - Host passes on resources in shared memory, which frames must not have.
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
