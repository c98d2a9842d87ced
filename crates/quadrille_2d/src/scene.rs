//! Plain data of a frame: views, batches, instances and the buffers that hold them.

pub(crate) mod geometry;
pub(crate) mod phase;
pub(crate) mod phase_item;
