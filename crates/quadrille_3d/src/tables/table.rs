//! Device tables with stable rows; only changed rows are uploaded.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, BufferUsage, GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::{Error, Sharing};

/// Maximum unchanged rows between two changed ones that are uploaded along, instead of a separate copy.
const MAX_UPLOAD_GAP: u32 = 16;

/// Table of rows, with dirty tracking.
pub(crate) struct Table<T> {
    rows: Vec<T>,
    free: Vec<u32>,
    /// Dirty bit per row.
    changed: Vec<u64>,
    /// Whether any row is dirty.
    is_changed: bool,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            free: Vec::new(),
            changed: Vec::new(),
            is_changed: false,
        }
    }
}

impl<T: Pod + RowValue> Table<T> {
    /// Adds a row at a free index, and returns the index.
    pub(crate) fn add(&mut self, row: T) -> u32 {
        let index = self.free.pop().unwrap_or(self.rows.len() as u32);
        self.put(index, row);
        index
    }

    /// Sets a row, extending the table by zeroed rows if necessary.
    pub(crate) fn put(&mut self, index: u32, row: T) {
        if index < self.rows.len() as u32 {
            return self.set(index, row);
        }
        for between in self.rows.len() as u32..=index {
            self.rows
                .push(if between == index { row } else { T::zeroed() });
            self.mark(between);
        }
    }

    /// Changes a row.
    pub(crate) fn set(&mut self, index: u32, row: T) {
        if let Some(old) = self.rows.get_mut(index as usize)
            && bytemuck::bytes_of(old) != bytemuck::bytes_of(&row)
        {
            *old = row;
            self.mark(index);
        }
    }

    /// Changes part of a row.
    pub(crate) fn change(&mut self, index: u32, change: impl FnOnce(&mut T)) {
        if let Some(row) = self.rows.get(index as usize) {
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
        &self.rows
    }

    fn mark(&mut self, index: u32) {
        let word = index as usize / 64;
        if word >= self.changed.len() {
            self.changed.resize(word + 1, 0);
        }
        self.changed[word] |= 1 << (index % 64);
        self.is_changed = true;
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        for index in 0..self.rows.len() as u32 {
            self.mark(index);
        }
    }

    /// Uploads changed rows; a buffer that is too small is replaced by a larger one.
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
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        for run in runs(set_bit_indices(&self.changed)) {
            let offset = run.start as usize * size_of::<T>();
            let rows = &self.rows[run.start as usize..run.end as usize];
            uploads.write_buffer(buffer, offset as u64, bytemuck::cast_slice(rows));
        }
        self.changed.fill(0);
        Ok(())
    }
}

/// Returns the indices of set bits, in order.
fn set_bit_indices(bits: &[u64]) -> impl Iterator<Item = u32> {
    (0u32..).zip(bits).flat_map(|(word, &bits)| {
        let mut rest = bits;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(word * 64 + bit)
        })
    })
}

/// Returns ranges that cover sorted indices.
fn runs(indices: impl Iterator<Item = u32>) -> impl Iterator<Item = Range<u32>> {
    let mut indices = indices.peekable();
    std::iter::from_fn(move || {
        let first = indices.next()?;
        let mut last = first;
        while let Some(next) = indices.next_if(|&next| next <= last + MAX_UPLOAD_GAP) {
            last = next;
        }
        Some(first..last + 1)
    })
}

/// List that is rebuilt each frame, and uploaded if it differs from the previous frame's.
pub(crate) struct List<T> {
    pub(crate) current: Vec<T>,
    uploaded: Vec<T>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            current: Vec::new(),
            uploaded: Vec::new(),
        }
    }
}

impl<T: Pod + RowValue> List<T> {
    /// Marks the list dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.uploaded.clear();
    }

    /// Uploads the list if it has changed.
    pub(crate) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.current);
        if bytes == bytemuck::cast_slice::<_, u8>(&self.uploaded) {
            return Ok(());
        }
        grow(gpu, buffer, bytes.len() as u64)?;
        if !bytes.is_empty() {
            uploads.write_buffer(buffer, 0, bytes);
        }
        self.uploaded.clone_from(&self.current);
        Ok(())
    }
}

/// Stride of rows that are bound separately: the largest `minUniformBufferOffsetAlignment`.
pub(crate) const UNIFORM_BYTES: u64 = 256;

/// Returns the byte range of a row with this stride.
pub(crate) fn uniform_row(row: u32) -> Range<u64> {
    let first = u64::from(row) * UNIFORM_BYTES;
    first..first + UNIFORM_BYTES
}

/// Replaces a buffer that is too small by a larger one, without its contents. Returns whether it did.
pub(crate) fn grow(gpu: &GpuDevice, buffer: &mut GpuBuffer, bytes: u64) -> Result<bool, Error> {
    let is_small = buffer.bytes() < bytes;
    if is_small {
        *buffer = gpu.create_buffer(&BufferDesc {
            bytes: room(bytes),
            ..buffer.desc().clone()
        })?;
    }
    Ok(is_small)
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
    BufferDesc::storage(name, room(bytes)).with_sharing(Sharing::Concurrent)
}

fn room(bytes: u64) -> u64 {
    bytes.next_power_of_two().max(1 << 12)
}

pub(crate) fn ensure_not_empty<T: Pod + RowValue>(list: &mut List<T>) {
    if list.current.is_empty() {
        list.current.push(T::zeroed());
    }
}

#[cfg(test)]
mod tests;
