//! Device tables with stable rows, and the buffers of all tables.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, BufferUsage, GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;
use quadrille::vulkan::resources::Sharing;
use quadrille_content::buffers::{DirtyRows, RawBufferVec};

/// Number of rows whose memory is kept, free or not.
const MIN_CAPACITY: usize = 1 << 10;

/// Table of rows. Only changed ones are uploaded. Free rows at the end are removed.
pub(crate) struct Table<T> {
    rows: DirtyRows<T>,
    free: FreeRows,
}

/// Indices of free rows, a bit each.
#[derive(Default)]
struct FreeRows {
    bits: Vec<u64>,
    count: u32,
    /// No word before this one has a set bit.
    first_word: usize,
}

impl FreeRows {
    /// Takes the lowest index, so that rows become free at the end, where they can be removed.
    fn take(&mut self) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let full = self.bits[self.first_word..]
            .iter()
            .take_while(|word| **word == 0);
        self.first_word += full.count();
        let word = self.bits.get_mut(self.first_word)?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        self.count -= 1;
        Some(self.first_word as u32 * 64 + bit)
    }

    fn put(&mut self, index: u32) {
        let word = index as usize / 64;
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (index % 64);
        self.count += 1;
        self.first_word = self.first_word.min(word);
    }

    /// Removes the indices directly before the end of a table. Returns its new end.
    fn trim(&mut self, mut end: u32) -> u32 {
        while let Some(last) = end.checked_sub(1)
            && let Some(word) = self.bits.get_mut(last as usize / 64)
            && *word & 1 << (last % 64) != 0
        {
            *word &= !(1 << (last % 64));
            self.count -= 1;
            end = last;
        }
        self.bits.truncate((end as usize).div_ceil(64));
        self.first_word = self.first_word.min(self.bits.len());
        end
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            rows: DirtyRows::default(),
            free: FreeRows::default(),
        }
    }
}

impl<T: Pod + RowValue> Table<T> {
    /// Adds a row at the lowest free index, and returns the index.
    pub(crate) fn add(&mut self, row: T) -> u32 {
        let end = self.rows().len() as u32;
        let index = self.free.take().unwrap_or(end);
        self.put(index, row);
        index
    }

    /// Sets a row, extending the table by zeroed rows if necessary.
    pub(crate) fn put(&mut self, index: u32, row: T) {
        self.rows.extend_to(index + 1);
        self.rows.set(index, row);
    }

    /// Changes a row.
    pub(crate) fn set(&mut self, index: u32, row: T) {
        self.rows.set(index, row);
    }

    /// Changes part of a row.
    pub(crate) fn change(&mut self, index: u32, change: impl FnOnce(&mut T)) {
        if let Some(row) = self.rows().get(index as usize) {
            let mut row = *row;
            change(&mut row);
            self.set(index, row);
        }
    }

    /// Frees the index of a row, and removes free rows at the end.
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.put(index);
        let end = self.free.trim(self.rows().len() as u32);
        self.truncate(end as usize);
    }

    /// Removes the rows from a length on, where a table has a row for each of another.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.rows.truncate(length as u32, MIN_CAPACITY);
    }

    /// All rows, including free ones before the end.
    pub(crate) fn rows(&self) -> &[T] {
        self.rows.rows()
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.mark_all_dirty();
    }

    /// Whether any row has changed since the last upload.
    pub(crate) fn is_dirty(&self) -> bool {
        self.rows.is_dirty()
    }

    /// Uploads changed rows; a buffer that is too small, or much too large, is replaced by another.
    pub(crate) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        self.rows.upload(gpu, uploads, buffer)
    }
}

/// Stride of rows that are bound separately: the largest `minUniformBufferOffsetAlignment`.
pub(crate) const UNIFORM_BYTES: u64 = 256;

/// Returns the byte range of a row with this stride.
pub(crate) fn uniform_row(row: u32) -> Range<u64> {
    let first = u64::from(row) * UNIFORM_BYTES;
    first..first + UNIFORM_BYTES
}

/// Creates a storage buffer of at least `bytes`. Sharing is concurrent, because in most frames one queue writes and
/// another reads it.
pub(crate) fn table_buffer(gpu: &GpuDevice, name: &str, bytes: u64) -> Result<GpuBuffer, Error> {
    gpu.create_buffer(&table_desc(name, bytes))
}

/// Creates a [`table_buffer`] that can also be bound as a uniform buffer, by rows of [`UNIFORM_BYTES`] or as a whole.
pub(crate) fn uniform_buffer(gpu: &GpuDevice, name: &str, bytes: u64) -> Result<GpuBuffer, Error> {
    gpu.create_buffer(&table_desc(name, bytes).with_usage(BufferUsage::UNIFORM))
}

fn table_desc(name: &str, bytes: u64) -> BufferDesc {
    let bytes = bytes.next_power_of_two().max(1 << 12);
    BufferDesc::storage(name, bytes).with_sharing(Sharing::Concurrent)
}

/// Adds a zeroed row to an empty list, whose buffer passes bind even if shaders read no row.
pub(crate) fn ensure_not_empty<T: Pod + RowValue>(list: &mut RawBufferVec<T>) {
    if list.is_empty() {
        list.push(T::zeroed());
    }
}

#[cfg(test)]
mod tests;
