//! Text forms: topologies, frames and plans that people read, programs compare, and tests and
//! reports from the field are written in.
//!
//! Everything prints with `Display` and is read back by [`parse_topology`], [`parse_frame`] and
//! [`parse_plan`]; what is read back is equal to what was printed, except that a plan's
//! [`EndStates`](crate::EndStates) are not part of its text. Parsers say line, column and what
//! they expected, and never panic, whatever they are given.
//!
//! One item a line; what belongs to it is indented below; `//` begins a comment. Names are
//! written as they are if they are plain words, else in quotes.
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

mod frame;
mod lexer;
mod names;
mod near;
mod plan;
mod plan_parse;
mod topology;

pub use frame::parse_frame;
pub use lexer::ParseError;
pub use plan::PlanText;
pub use plan_parse::parse_plan;
pub use topology::parse_topology;

#[cfg(test)]
mod tests;
