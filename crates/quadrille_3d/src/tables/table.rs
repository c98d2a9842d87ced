//! Device tables with stable rows, and the buffers of all tables.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, BufferUsage, GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;
use quadrille::vulkan::resources::Sharing;
use quadrille_content::buffers::{DirtyRows, RawBufferVec};

/// Table of rows. Only changed ones are uploaded.
pub(crate) struct Table<T> {
    rows: DirtyRows<T>,
    free: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            rows: DirtyRows::default(),
            free: Vec::new(),
        }
    }
}

impl<T: Pod + RowValue> Table<T> {
    /// Adds a row at a free index, and returns the index.
    pub(crate) fn add(&mut self, row: T) -> u32 {
        let end = self.rows().len() as u32;
        let index = self.free.pop().unwrap_or(end);
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

    /// Frees the index of a row.
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// All rows, including removed ones.
    pub(crate) fn rows(&self) -> &[T] {
        self.rows.rows()
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.mark_all_dirty();
    }

    /// Uploads changed rows; a buffer that is too small is replaced by a larger one.
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
