//! Lists that are rebuilt each frame and uploaded on change.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;
use quadrille::vulkan::resources::Sharing;

/// List of values that dereferences to a `Vec`, with the last uploaded ones for comparison.
///
/// [`clear`](Self::clear) before a rebuild keeps the uploaded values without a copy; other changes after an upload
/// copy them first.
pub struct RawBufferVec<T> {
    values: Vec<T>,
    /// Contents of the buffer, unless those are `values`.
    uploaded: Vec<T>,
    /// Whether the buffer contains `values`.
    is_uploaded: bool,
}

impl<T> Default for RawBufferVec<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            uploaded: Vec::new(),
            is_uploaded: false,
        }
    }
}

impl<T> Deref for RawBufferVec<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.values
    }
}

impl<T: Clone> DerefMut for RawBufferVec<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        if std::mem::take(&mut self.is_uploaded) {
            self.uploaded.clone_from(&self.values);
        }
        &mut self.values
    }
}

impl<T: Pod + RowValue> RawBufferVec<T> {
    /// Removes all values, for a rebuild.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_uploaded) {
            std::mem::swap(&mut self.uploaded, &mut self.values);
        }
        self.values.clear();
    }

    /// Marks the list for re-upload (after a lost device).
    pub fn mark_all_dirty(&mut self) {
        self.uploaded.clear();
        self.is_uploaded = false;
    }

    /// Uploads the list unless it equals the last upload, growing the buffer if necessary.
    ///
    /// # Errors
    /// A larger buffer cannot be created.
    pub fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        if self.is_unchanged() {
            return Ok(());
        }
        let bytes: &[u8] = bytemuck::cast_slice(&self.values);
        grow_buffer(gpu, buffer, bytes.len() as u64)?;
        if !bytes.is_empty() {
            uploads.write_buffer(buffer, 0, bytes);
        }
        self.is_uploaded = true;
        Ok(())
    }

    /// Whether the buffer contains the values already.
    fn is_unchanged(&mut self) -> bool {
        let bytes: &[u8] = bytemuck::cast_slice(&self.values);
        self.is_uploaded |= bytes == bytemuck::cast_slice::<_, u8>(&self.uploaded);
        self.is_uploaded
    }
}

/// Creates a buffer for at least `bytes` of instances. Sharing is concurrent, because in most frames one queue
/// writes and another reads it.
///
/// # Errors
/// The buffer cannot be created.
pub fn instance_buffer(gpu: &GpuDevice, name: &str, bytes: u64) -> Result<GpuBuffer, Error> {
    let bytes = bytes.next_power_of_two().max(1 << 16);
    let desc = BufferDesc::vertex(name, bytes).with_sharing(Sharing::Concurrent);
    gpu.create_buffer(&desc)
}

/// Replaces a buffer of less than `bytes` by one of the next power of two, without its contents. Returns whether it
/// did. A power of two above `maxStorageBufferRange` is cut to that, as far as `bytes` allow.
///
/// # Errors
/// The larger buffer cannot be created.
pub fn grow_buffer(gpu: &GpuDevice, buffer: &mut GpuBuffer, bytes: u64) -> Result<bool, Error> {
    let is_small = buffer.bytes() < bytes;
    if is_small {
        let limit = u64::from(gpu.limits().max_storage_buffer_range) & !0xff;
        *buffer = gpu.create_buffer(&BufferDesc {
            bytes: bytes.next_power_of_two().min(limit.max(bytes)),
            ..buffer.desc().clone()
        })?;
    }
    Ok(is_small)
}

/// Smallest buffer that [`fit_buffer`] replaces by a smaller one.
const MIN_SHRUNK_BYTES: u64 = 1 << 18;

/// As [`grow_buffer`]; a buffer at least eight times as large as necessary is replaced as well. Rows that come and go do
/// not replace it each time.
pub(super) fn fit_buffer(
    gpu: &GpuDevice,
    buffer: &mut GpuBuffer,
    bytes: u64,
) -> Result<bool, Error> {
    let needed = bytes.next_power_of_two().max(MIN_SHRUNK_BYTES);
    let is_large = buffer.bytes() / 8 >= needed;
    if is_large {
        *buffer = gpu.create_buffer(&BufferDesc {
            bytes: needed,
            ..buffer.desc().clone()
        })?;
    }
    Ok(is_large || grow_buffer(gpu, buffer, bytes)?)
}

#[cfg(test)]
mod tests;
