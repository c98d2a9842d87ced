//! Growable buffers, and allocators of ranges in them.

pub(crate) mod block_allocator;
pub(crate) mod buffer_vec;
pub(crate) mod dirty_rows;
pub(crate) mod range_allocator;
pub(crate) mod range_table;
