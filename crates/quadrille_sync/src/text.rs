//! Text forms of topologies, frames, plans and snapshots of states, for people, comparisons, tests and bug
//! reports.
//!
//! Everything prints with `Display` and is read back by [`parse_topology`], [`parse_frame`],
//! [`parse_plan`] and [`parse_snapshot`]; what is read back is equal to what was printed, except that a plan's
//! [`EndStates`](crate::states::EndStates) are not part of its text. Parsers report the line, the column and
//! the expected token. They never panic.
//!
//! Each item is a line, followed by indented lines of details. `//` begins a comment. Names are
//! quoted, unless they are plain words.
//!
//! ```text
//! buffer cells 0 bytes 1024
//! image screen 1 aspects COLOR mips 1 layers 1 swapchain
//! pass simulate requires COMPUTE async
//!   StorageReadWriteCompute cells
//! pass draw requires GRAPHICS
//!   VertexRead cells
//!   ColorAttachmentWrite screen discard
//!   after simulate
//! ```
//!
//! Grammar of a frame, in this order, with optional parts in brackets:
//!
//! ```text
//! cull
//! buffer NAME ID bytes COUNT [concurrent] [transient] [block ID bytes BEGIN..END]
//! image NAME ID aspects FLAGS mips COUNT layers COUNT [slices COUNT] [concurrent] [transient | swapchain] [block ..]
//! give NAME to FAMILY layout LAYOUT
//! pass NAME [host] [requires FLAGS] [async] [fixed QUEUE] [cost MICROSECONDS] [side-effect] [prologue]
//!   ACCESS NAME [bytes BEGIN..END] [discard]
//!   ACCESS NAME [aspects FLAGS mips BEGIN..END layers BEGIN..END] [discard]
//!   ACCESS NAME [aspects FLAGS mip LEVEL slices BEGIN..END] [discard]
//!   Custom stages FLAGS access FLAGS layout LAYOUT [writes] of NAME [..] [discard]
//!   after NAME
//! ```
//!
//! `FLAGS` are Vulkan's flags joined by `|`, without their common prefix. `ACCESS` is a
//! name of [`Access`](crate::access::Access), `LAYOUT` one of [`Layout`](crate::flags::Layout), `FAMILY` a
//! number, `EXTERNAL` or `FOREIGN`. If several items have the same name, `#2` is the item with index 2.
//! [`Topology`](crate::topology::Topology)'s `Display` documents the form of topologies.

mod frame;
mod frame_parse;
mod lexer;
mod names;
mod near;
mod plan;
mod plan_parse;
mod snapshot;
mod topology;

pub use frame_parse::parse_frame;
pub use lexer::ParseError;
pub use near::closest_match;
pub use plan::PlanText;
pub use plan_parse::parse_plan;
pub use snapshot::parse_snapshot;
pub use topology::parse_topology;

#[cfg(test)]
mod tests;
