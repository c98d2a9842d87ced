//! Dispatches.

use ash::vk;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::Capabilities;

use super::{Encoder, Failure, aligned};
use crate::commands::Dispatch;
use crate::error::CommandError;
use crate::record::calls::Call;
use crate::resources::buffer::BufferUsage;

/// Dispatches with all arguments.
#[derive(Clone, Copy)]
pub(crate) enum DispatchCall {
    /// `vkCmdDispatch`
    Groups([u32; 3]),
    /// `vkCmdDispatchIndirect`
    Indirect { buffer: vk::Buffer, offset: u64 },
}

impl DispatchCall {
    /// Records the call. Pipeline and bindings must have been set.
    #[inline]
    pub(super) fn record(self, encoder: &Encoder<'_>) {
        let (raw, buffer) = (&encoder.device.raw, encoder.buffer);
        match self {
            Self::Groups([x, y, z]) => {
                // SAFETY: pipeline and bindings are set by the calls before; the numbers are
                // within the limits.
                unsafe { raw.cmd_dispatch(buffer, x, y, z) };
            }
            Self::Indirect {
                buffer: from,
                offset,
            } => {
                // SAFETY: pipeline and bindings are set by the calls before; the arguments lie in
                // the buffer.
                unsafe { raw.cmd_dispatch_indirect(buffer, from, offset) };
            }
        }
    }
}

impl Encoder<'_> {
    /// `vkCmdDispatch`.
    pub(super) fn dispatch(&mut self, groups: [u32; 3]) -> Result<(), Failure> {
        self.ready_dispatch()?;
        let limits = self.device.limits.max_compute_work_group_count;
        if let Some(at) = (0..3).find(|&at| groups[at] > limits[at]) {
            let what = format!("a dispatch of {groups:?} workgroups");
            return Err(CommandError::Limit {
                what,
                limit: limits[at].into(),
            }
            .into());
        }
        self.emit(Call::Dispatch(DispatchCall::Groups(groups)));
        Ok(())
    }

    pub(super) fn dispatch_from(&mut self, dispatch: Dispatch) -> Result<(), Failure> {
        match dispatch {
            Dispatch::Indirect { buffer, offset } => self.dispatch_indirect(buffer, offset),
        }
    }

    /// `vkCmdDispatchIndirect`.
    fn dispatch_indirect(&mut self, id: ResourceId, offset: u64) -> Result<(), Failure> {
        self.ready_dispatch()?;
        aligned("the offset of an indirect dispatch", offset, 4)?;
        let length = size_of::<vk::DispatchIndirectCommand>() as u64;
        let buffer = self.input(id, offset, length, (BufferUsage::INDIRECT, "INDIRECT"))?;
        self.emit(Call::Dispatch(DispatchCall::Indirect { buffer, offset }));
        Ok(())
    }

    fn ready_dispatch(&mut self) -> Result<(), Failure> {
        self.need(Capabilities::COMPUTE)?;
        self.need_rendering(false)?;
        self.ready_compute()
    }
}
