//! Buffers of coded pictures, which the CPU writes and a video queue reads.

use std::sync::Arc;

use quadrille::vulkan::device::Gpu;

use super::memory::{Bitstream, Objects};
use super::support::Profile;
use crate::api::vk;
use crate::error::VideoError;

/// Mapped buffer with memory of its own. Destroyed once no queue uses it.
pub(crate) struct OwnedBitstream {
    gpu: Gpu,
    objects: Objects,
    buffer: Bitstream,
}

impl OwnedBitstream {
    fn new(
        gpu: &Gpu,
        memory: &vk::PhysicalDeviceMemoryProperties,
        profile: &Profile,
        bytes: u64,
    ) -> Result<Self, VideoError> {
        let mut objects = Objects::new(gpu.device(), memory);
        match objects.bitstream(profile, bytes) {
            Ok(buffer) => Ok(Self {
                gpu: gpu.clone(),
                objects,
                buffer,
            }),
            Err(error) => {
                objects.destroy();
                Err(error)
            }
        }
    }

    /// Handle.
    pub(crate) fn raw(&self) -> vk::Buffer {
        self.buffer.raw
    }
}

impl Drop for OwnedBitstream {
    fn drop(&mut self) {
        let mut objects = self.objects.take();
        self.gpu.destroy_later(move |_| objects.destroy());
    }
}

/// Buffers of coded pictures, one for each frame in flight.
pub(crate) struct Bitstreams {
    gpu: Gpu,
    memory: vk::PhysicalDeviceMemoryProperties,
    buffers: Vec<Option<Arc<OwnedBitstream>>>,
    turn: usize,
}

impl Bitstreams {
    pub(crate) fn new(gpu: &Gpu, memory: &vk::PhysicalDeviceMemoryProperties) -> Self {
        // The frame that is recorded, those in flight, and one that is not retired yet.
        let count = gpu.frames_in_flight() as usize + 2;
        Self {
            gpu: gpu.clone(),
            memory: *memory,
            buffers: vec![None; count],
            turn: 0,
        }
    }

    /// Writes coded pictures at their offsets into the buffer of the next frame, which has at least so many bytes.
    /// Sizes are powers of two. A buffer whose frame was not recorded yet is replaced. To be called at most once a
    /// frame.
    pub(crate) fn write<'a>(
        &mut self,
        profile: &Profile,
        bytes: u64,
        parts: impl Iterator<Item = (u64, &'a [u8])>,
    ) -> Result<Arc<OwnedBitstream>, VideoError> {
        self.turn = (self.turn + 1) % self.buffers.len();
        let slot = &mut self.buffers[self.turn];
        let known = slot.take().filter(|known| known.buffer.bytes >= bytes);
        let mut owned = match known.and_then(Arc::into_inner) {
            Some(owned) => owned,
            None => {
                let bytes = bytes.next_power_of_two().max(1 << 16);
                OwnedBitstream::new(&self.gpu, &self.memory, profile, bytes)?
            }
        };
        for (offset, data) in parts {
            owned.buffer.write(offset, data);
        }
        let shared = Arc::new(owned);
        *slot = Some(Arc::clone(&shared));
        Ok(shared)
    }
}
