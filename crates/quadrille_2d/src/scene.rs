//! Data of a frame: views, batches, instances and their buffers.

pub(crate) mod geometry;
pub(crate) mod phase;
pub(crate) mod phase_item;
