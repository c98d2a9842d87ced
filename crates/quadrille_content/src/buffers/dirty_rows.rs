//! Rows of a device table with a dirty bit for each.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;

use crate::buffers::buffer_vec::fit_buffer;

/// The most unchanged rows between two changed ones that are uploaded with them, to save a separate copy.
const MAX_UPLOAD_GAP: u32 = 16;

/// Rows of a device table. Only changed ones are uploaded.
pub struct DirtyRows<T> {
    rows: Vec<T>,
    /// Dirty bit per row.
    changed: Vec<u64>,
    /// Whether any row is dirty.
    is_changed: bool,
}

impl<T> Default for DirtyRows<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            changed: Vec::new(),
            is_changed: false,
        }
    }
}

impl<T: Pod + RowValue> DirtyRows<T> {
    /// All rows.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// Rows that fit without an allocation.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.rows.capacity()
    }

    /// Appends zeroed rows up to a length, and marks them dirty.
    pub fn extend_to(&mut self, length: u32) {
        let old = self.rows.len() as u32;
        if old < length {
            self.rows.resize(length as usize, T::zeroed());
            self.mark(old..length);
        }
    }

    /// Removes the rows from index `length` on. Shrinks the allocation if its capacity is more than four times the
    /// length and more than `4 * min_capacity`.
    pub fn truncate(&mut self, length: u32, min_capacity: usize) {
        let length = length as usize;
        self.rows.truncate(length);
        if self.rows.capacity() / 4 > length.max(min_capacity) {
            self.rows.shrink_to(2 * length);
            self.changed.truncate(length.div_ceil(64));
            self.changed.shrink_to_fit();
        }
    }

    /// Replaces a row, and marks it dirty if it differs.
    pub fn set(&mut self, index: u32, row: T) {
        if let Some(old) = self.rows.get_mut(index as usize)
            && bytemuck::bytes_of(old) != bytemuck::bytes_of(&row)
        {
            *old = row;
            self.mark(index..index + 1);
        }
    }

    /// Returns rows for writing, and marks them dirty.
    pub fn change(&mut self, range: Range<u32>) -> &mut [T] {
        self.mark(range.clone());
        &mut self.rows[range.start as usize..range.end as usize]
    }

    /// Marks all rows dirty, for a new device.
    pub fn mark_all_dirty(&mut self) {
        self.mark(0..self.rows.len() as u32);
    }

    fn mark(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let (first, last) = (range.start as usize / 64, (range.end - 1) as usize / 64);
        if self.changed.len() <= last {
            self.changed.resize(last + 1, 0);
        }
        let from_start = u64::MAX << (range.start % 64);
        let to_end = u64::MAX >> (63 - (range.end - 1) % 64);
        if first == last {
            self.changed[first] |= from_start & to_end;
        } else {
            self.changed[first] |= from_start;
            self.changed[first + 1..last].fill(u64::MAX);
            self.changed[last] |= to_end;
        }
        self.is_changed = true;
    }

    /// Whether any row is dirty.
    pub fn is_dirty(&self) -> bool {
        self.is_changed
    }

    /// Uploads dirty rows; a buffer that is too small, or much too large, is replaced by another.
    ///
    /// # Errors
    /// The other buffer cannot be created.
    pub fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes = size_of_val(self.rows.as_slice()) as u64;
        if fit_buffer(gpu, buffer, bytes)? {
            self.mark_all_dirty();
        }
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        for run in self.runs() {
            let offset = run.start as usize * size_of::<T>();
            let rows = &self.rows[run.start as usize..run.end as usize];
            uploads.write_buffer(buffer, offset as u64, bytemuck::cast_slice(rows));
        }
        self.changed.fill(0);
        Ok(())
    }

    /// Returns the ranges to upload, in order.
    fn runs(&self) -> impl Iterator<Item = Range<u32>> {
        let end = self.rows.len() as u32;
        // Rows may have been removed since they were marked.
        let in_rows = move |range: Range<u32>| range.start.min(end)..range.end.min(end);
        let ranges = set_bit_ranges(&self.changed).map(in_rows);
        join_near(ranges.filter(|range| !range.is_empty()))
    }
}

/// Returns the ranges of set bits, in order.
fn set_bit_ranges(bits: &[u64]) -> impl Iterator<Item = Range<u32>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = next_bit(bits, at, true)?;
        at = next_bit(bits, start, false).unwrap_or(64 * bits.len() as u32);
        Some(start..at)
    })
}

/// Returns the index of the first bit of this value, from an index on.
fn next_bit(bits: &[u64], from: u32, value: bool) -> Option<u32> {
    let flip = if value { 0 } else { u64::MAX };
    let mut word = from as usize / 64;
    let mut found = (bits.get(word)? ^ flip) & (u64::MAX << (from % 64));
    while found == 0 {
        word += 1;
        found = bits.get(word)? ^ flip;
    }
    Some(64 * word as u32 + found.trailing_zeros())
}

/// Joins ranges with at most [`MAX_UPLOAD_GAP`] rows between them.
fn join_near(ranges: impl Iterator<Item = Range<u32>>) -> impl Iterator<Item = Range<u32>> {
    let mut ranges = ranges.peekable();
    std::iter::from_fn(move || {
        let mut run = ranges.next()?;
        while let Some(next) = ranges.next_if(|next| next.start - run.end <= MAX_UPLOAD_GAP) {
            run.end = next.end;
        }
        Some(run)
    })
}

#[cfg(test)]
mod tests;
