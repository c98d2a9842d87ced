//! Device tables with stable ranges of rows.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;
use quadrille_content::RangeAllocator;

use crate::tables::table::grow;

/// Minimum capacity in rows.
const FEW: usize = 1 << 10;

/// Table of allocated ranges, with dirty tracking.
pub(crate) struct RangeTable<T> {
    rows: Vec<T>,
    allocator: RangeAllocator,
    /// Ranges changed since the last upload, in any order.
    changed: Vec<Range<u32>>,
}

impl<T> Default for RangeTable<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            allocator: RangeAllocator::default(),
            changed: Vec::new(),
        }
    }
}

impl<T: Pod + RowValue> RangeTable<T> {
    /// Allocates a range of zeroed rows.
    pub(crate) fn add(&mut self, count: u32) -> Range<u32> {
        let range = self.allocator.allocate(count);
        let end = self.allocator.end() as usize;
        if self.rows.len() < end {
            self.rows.resize(end, T::zeroed());
        }
        self.change(&range).fill(T::zeroed());
        range
    }

    /// Returns the rows of a range for writing, and marks them dirty.
    pub(crate) fn change(&mut self, range: &Range<u32>) -> &mut [T] {
        self.changed.push(range.clone());
        &mut self.rows[range.start as usize..range.end as usize]
    }

    /// Frees a range. Rows after the last range are truncated.
    pub(crate) fn remove(&mut self, range: Range<u32>) {
        self.allocator.free(range);
        let end = self.allocator.end() as usize;
        self.rows.truncate(end);
        if self.rows.capacity() / 4 > end.max(FEW) {
            self.rows.shrink_to(2 * end);
        }
    }

    /// Marks all ranges dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.changed.clear();
        self.changed.push(0..self.rows.len() as u32);
    }

    /// Uploads changed ranges; a buffer that is too small is replaced by a larger one.
    pub(crate) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes = size_of_val(self.rows.as_slice()) as u64;
        if grow(gpu, buffer, bytes)? {
            self.mark_all_dirty();
        }
        let end = self.rows.len() as u32;
        for range in &mut self.changed {
            // Ranges may have been removed since.
            *range = range.start.min(end)..range.end.min(end);
        }
        self.changed.sort_unstable_by_key(|range| range.start);
        let mut rest = self.changed.drain(..).filter(|range| !range.is_empty());
        let mut next = rest.next();
        while let Some(mut run) = next.take() {
            for range in rest.by_ref() {
                if range.start > run.end {
                    next = Some(range);
                    break;
                }
                run.end = run.end.max(range.end);
            }
            let offset = run.start as usize * size_of::<T>();
            let rows = &self.rows[run.start as usize..run.end as usize];
            uploads.write_buffer(buffer, offset as u64, bytemuck::cast_slice(rows));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
