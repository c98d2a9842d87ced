//! Instance lists that are rebuilt each frame and uploaded on change.

use bevy_derive::{Deref, DerefMut};
use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Sharing, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;

/// Values of this frame, and the last uploaded ones for comparison.
#[derive(Deref, DerefMut)]
pub struct RawBufferVec<T> {
    #[deref]
    values: Vec<T>,
    uploaded: Vec<T>,
}

impl<T> Default for RawBufferVec<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            uploaded: Vec::new(),
        }
    }
}

impl<T: Pod + RowValue> RawBufferVec<T> {
    /// Marks the list for re-upload (after a lost device).
    pub fn mark_all_dirty(&mut self) {
        self.uploaded.clear();
    }

    /// Number of uploaded values.
    pub fn uploaded(&self) -> usize {
        self.uploaded.len()
    }

    /// Uploads the list unless it equals the last upload, growing the buffer if necessary.
    pub fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.values);
        if bytes == bytemuck::cast_slice::<_, u8>(&self.uploaded) {
            return Ok(());
        }
        if buffer.bytes() < bytes.len() as u64 {
            *buffer = instance_buffer(gpu, buffer.name(), bytes.len() as u64)?;
        }
        if !bytes.is_empty() {
            uploads.write_buffer(buffer, 0, bytes);
        }
        // The list is rebuilt each frame, so swapping avoids a copy.
        std::mem::swap(&mut self.uploaded, &mut self.values);
        Ok(())
    }
}

/// Creates a buffer for at least `bytes` of instances. Sharing is concurrent, because in most frames one queue
/// writes and another reads it.
pub fn instance_buffer(gpu: &GpuDevice, name: &str, bytes: u64) -> Result<GpuBuffer, Error> {
    let bytes = bytes.next_power_of_two().max(1 << 16);
    let desc = BufferDesc::vertex(name, bytes).with_sharing(Sharing::Concurrent);
    gpu.create_buffer(&desc)
}
