//! Work of a decoder for one frame, and the session that it uses.

use std::sync::Arc;

use quadrille::ecs::PassRecorder;
use quadrille::sync::topology::Capabilities;
use quadrille::vulkan::device::Gpu;
use quadrille::vulkan::resources::GpuBuffer;

use super::bitstream::OwnedBitstream;
use super::commands::Decode;
use super::session::Session;
use super::sets::Sets;
use crate::api::{ash, vk};
use crate::error::VideoError;

/// Session that is destroyed once no queue uses it.
pub(crate) struct OwnedSession {
    gpu: Gpu,
    session: Option<Session>,
}

impl Drop for OwnedSession {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.gpu.destroy_later(move |_| {
                // SAFETY: called once no submission uses the session.
                unsafe { session.destroy() };
            });
        }
    }
}

impl OwnedSession {
    /// Takes a session and gives it its parameter sets.
    pub(crate) fn new(gpu: &Gpu, session: Session, sets: &Sets) -> Result<Self, VideoError> {
        let mut owned = Self {
            gpu: gpu.clone(),
            session: Some(session),
        };
        if let Some(session) = &mut owned.session {
            session.set_parameters(sets)?;
        }
        Ok(owned)
    }

    /// Records the decoding of pictures: see [`Session::record`].
    ///
    /// # Safety
    /// As there.
    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        bitstream: vk::Buffer,
        pictures: &[Decode],
    ) {
        if let Some(session) = &self.session {
            // SAFETY: the caller promises what it demands.
            unsafe { session.record(commands, bitstream, pictures) };
        }
    }
}

/// Pictures that a pass decodes.
pub(crate) struct DecodeWork {
    pub session: Arc<OwnedSession>,
    pub bitstream: Arc<OwnedBitstream>,
    pub pictures: Vec<Decode>,
    /// Buffers that receive the pictures.
    pub buffers: Vec<GpuBuffer>,
}

impl DecodeWork {
    /// Records the pictures in a pass that declares their buffers.
    pub(crate) fn record(self, pass: &mut PassRecorder<'_>, needs: Capabilities) {
        let Self {
            session,
            bitstream,
            pictures,
            ..
        } = self;
        let commands = move |_: &ash::Device, commands| {
            // SAFETY: the pass declares the buffers as destinations of copies, and `needs` demands a queue that
            // decodes and copies; this closure owns the buffer of the slices.
            unsafe { session.record(commands, bitstream.raw(), &pictures) };
        };
        // SAFETY: the commands are those of a session, which touch its own objects and the declared buffers.
        unsafe { pass.raw(needs, Box::new(commands)) };
    }
}
