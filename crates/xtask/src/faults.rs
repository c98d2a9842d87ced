//! Fault injection: a program of the GPU tests has to survive every fault. It must not panic,
//! hang, leak, exceed the limits of its windows, or violate Vulkan's rules.
//!
//! The test layer injects the faults. *Traps* are sequences of faults that have broken other renderers. The *sweep*
//! fails each call of the program once, each in a separate run.

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
