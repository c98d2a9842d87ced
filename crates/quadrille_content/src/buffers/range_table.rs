//! Device tables with stable ranges of rows.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;

use crate::buffers::dirty_rows::DirtyRows;
use crate::buffers::range_allocator::RangeAllocator;

/// Minimum capacity in rows.
const MIN_CAPACITY: usize = 1 << 10;

/// Table of allocated ranges of rows. Only changed ones are uploaded.
pub struct RangeTable<T> {
    rows: DirtyRows<T>,
    allocator: RangeAllocator,
}

impl<T> Default for RangeTable<T> {
    fn default() -> Self {
        Self {
            rows: DirtyRows::default(),
            allocator: RangeAllocator::default(),
        }
    }
}

impl<T: Pod + RowValue> RangeTable<T> {
    /// Allocates a range of zeroed rows.
    pub fn add(&mut self, count: u32) -> Range<u32> {
        let range = self.allocator.allocate(count);
        self.rows.extend_to(self.allocator.end());
        self.change(&range).fill(T::zeroed());
        range
    }

    /// All rows, including those of freed ranges.
    pub fn rows(&self) -> &[T] {
        self.rows.rows()
    }

    /// Returns the rows of a range for writing, and marks them dirty.
    pub fn change(&mut self, range: &Range<u32>) -> &mut [T] {
        self.rows.change(range.clone())
    }

    /// Frees a range. Rows after the last range are removed.
    pub fn remove(&mut self, range: Range<u32>) {
        self.allocator.free(range);
        self.rows.truncate(self.allocator.end(), MIN_CAPACITY);
    }

    /// Marks all rows dirty, for a new device.
    pub fn mark_all_dirty(&mut self) {
        self.rows.mark_all_dirty();
    }

    /// Uploads changed rows; a buffer that is too small is replaced by a larger one.
    ///
    /// # Errors
    /// A larger buffer cannot be created.
    pub fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        self.rows.upload(gpu, uploads, buffer)
    }
}

#[cfg(test)]
mod tests;
