//! Buffers that grow, and the allocation of ranges in them.

pub(crate) mod block_allocator;
pub(crate) mod buffer_vec;
pub(crate) mod range_allocator;
