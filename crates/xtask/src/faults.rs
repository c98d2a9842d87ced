//! Faults: a program of the GPU tests meets every one of them and survives. It does not panic or
//! hang, leaves nothing behind, keeps its windows within bounds, and breaks no rule of Vulkan.
//!
//! The test layer injects them. *Traps* are sequences of faults that have caught other renderers;
//! the *sweep* fails each call that the program makes, one after the other.

mod combinations;
mod display;
mod memory;
mod missing;
pub(crate) mod program;
pub(crate) mod recover;
mod report;
mod situations;
pub(crate) mod sweep;
mod traps;
