//! Lists that are rebuilt in each frame, and uploaded when they changed.

use bevy_derive::{Deref, DerefMut};
use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Sharing, Uploads};
use quadrille::vulkan::Error;

/// The instances of a frame, and those that the device has.
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

impl<T: Pod> RawBufferVec<T> {
    /// Forgets what the device's buffer holds.
    pub fn mark_all_dirty(&mut self) {
        self.uploaded.clear();
    }

    /// How many the device has.
    pub fn uploaded(&self) -> usize {
        self.uploaded.len()
    }

    /// Sends the list to the device, unless it has it from the frame before.
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
        // The list is rebuilt in each frame, so it can swap with the uploaded one.
        std::mem::swap(&mut self.uploaded, &mut self.values);
        Ok(())
    }
}

/// A buffer for at least so many bytes of instances. It is written on one queue and read on
/// another in most frames, so it belongs to both.
pub fn instance_buffer(gpu: &GpuDevice, name: &str, bytes: u64) -> Result<GpuBuffer, Error> {
    let bytes = bytes.next_power_of_two().max(1 << 16);
    let desc = BufferDesc::vertex(name, bytes).with_sharing(Sharing::Concurrent);
    gpu.create_buffer(&desc)
}
