//! Growable buffers, and allocators of ranges in them.

pub(crate) mod block_allocator;
pub(crate) mod buffer_vec;
pub(crate) mod dirty_rows;
pub(crate) mod range_allocator;
pub(crate) mod range_table;

pub use block_allocator::{BlockAllocator, BlockKey};
pub use buffer_vec::{RawBufferVec, grow_buffer, instance_buffer};
pub use dirty_rows::DirtyRows;
pub use range_allocator::RangeAllocator;
pub use range_table::RangeTable;
