//! Draws and dispatches.

use ash::vk;
use quadrille_sync::{Capabilities, ResourceId};

use super::{Encoder, Failure};
use crate::buffer::BufferUsage;
use crate::calls::{Call, IndirectCall};
use crate::commands::{CommandError, IndexType};

/// The most vertex buffers that every device has.
const VERTEX_BUFFERS: u8 = 16;

impl Encoder<'_> {
    /// `vkCmdBindVertexBuffers`.
    pub(super) fn vertex_buffer(
        &mut self,
        slot: u8,
        id: ResourceId,
        offset: u64,
    ) -> Result<(), Failure> {
        self.need(Capabilities::GRAPHICS)?;
        if slot >= VERTEX_BUFFERS {
            let what = format!("vertex buffer {slot}");
            return Err(CommandError::Limit {
                what,
                limit: u64::from(VERTEX_BUFFERS) - 1,
            }
            .into());
        }
        let buffer = self.input(id, offset, 1, (BufferUsage::VERTEX, "VERTEX"))?;
        self.say(Call::VertexBuffer {
            slot,
            buffer,
            offset,
        });
        self.vertex_buffers |= 1 << slot;
        Ok(())
    }

    /// `vkCmdBindIndexBuffer`.
    pub(super) fn index_buffer(
        &mut self,
        id: ResourceId,
        offset: u64,
        kind: IndexType,
    ) -> Result<(), Failure> {
        self.need(Capabilities::GRAPHICS)?;
        let (kind, bytes) = match kind {
            IndexType::U16 => (vk::IndexType::UINT16, 2),
            IndexType::U32 => (vk::IndexType::UINT32, 4),
        };
        aligned("the offset of the index buffer", offset, bytes)?;
        let buffer = self.input(id, offset, bytes, (BufferUsage::INDEX, "INDEX"))?;
        self.say(Call::IndexBuffer {
            kind,
            buffer,
            offset,
        });
        self.has_index_buffer = true;
        Ok(())
    }

    /// `vkCmdDraw`.
    pub(super) fn draw_plain(
        &mut self,
        vertices: [u32; 2],
        instances: [u32; 2],
    ) -> Result<(), Failure> {
        self.ready_draw(false)?;
        self.say(Call::Draw {
            vertices,
            instances,
        });
        Ok(())
    }

    /// `vkCmdDrawIndexed`.
    pub(super) fn draw_indexed(
        &mut self,
        indices: [u32; 2],
        base_vertex: i32,
        instances: [u32; 2],
    ) -> Result<(), Failure> {
        self.ready_draw(true)?;
        self.say(Call::DrawIndexed {
            indices,
            base_vertex,
            instances,
        });
        Ok(())
    }

    /// `vkCmdDrawIndirect` and `vkCmdDrawIndexedIndirect`.
    pub(super) fn draw_indirect(
        &mut self,
        id: ResourceId,
        offset: u64,
        count: u32,
        stride: u32,
        indexed: bool,
    ) -> Result<(), Failure> {
        self.ready_draw(indexed)?;
        let size = match indexed {
            true => size_of::<vk::DrawIndexedIndirectCommand>(),
            false => size_of::<vk::DrawIndirectCommand>(),
        } as u64;
        if count == 0 {
            return Ok(());
        }
        let many = count > 1;
        if many && (!stride.is_multiple_of(4) || u64::from(stride) < size) {
            let what = format!("the stride {stride} of indirect draws (at least {size})");
            return Err(CommandError::Alignment { what, multiple: 4 }.into());
        }
        let limit = self.device.limits.max_draw_indirect_count;
        if count > limit {
            let what = format!("{count} indirect draws");
            return Err(CommandError::Limit {
                what,
                limit: limit.into(),
            }
            .into());
        }
        aligned("the offset of indirect draws", offset, 4)?;
        let length = u64::from(stride) * u64::from(count - 1) + size;
        let buffer = self.input(id, offset, length, (BufferUsage::INDIRECT, "INDIRECT"))?;
        let draws = IndirectCall {
            indexed,
            buffer,
            offset,
            count,
            stride,
        };
        self.calls.add_indirect(&draws);
        self.draw_from(&draws);
        Ok(())
    }

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
        self.say(Call::Dispatch { groups });
        Ok(())
    }

    /// `vkCmdDispatchIndirect`.
    pub(super) fn dispatch_indirect(&mut self, id: ResourceId, offset: u64) -> Result<(), Failure> {
        self.ready_dispatch()?;
        aligned("the offset of an indirect dispatch", offset, 4)?;
        let length = size_of::<vk::DispatchIndirectCommand>() as u64;
        let buffer = self.input(id, offset, length, (BufferUsage::INDIRECT, "INDIRECT"))?;
        self.say(Call::DispatchIndirect { buffer, offset });
        Ok(())
    }

    fn ready_dispatch(&mut self) -> Result<(), Failure> {
        self.need(Capabilities::COMPUTE)?;
        self.need_rendering(false)?;
        self.ready_compute()
    }

    fn ready_draw(&mut self, indexed: bool) -> Result<(), Failure> {
        self.need(Capabilities::GRAPHICS)?;
        self.need_rendering(true)?;
        let pipeline = self.ready_graphics()?;
        if indexed && !self.has_index_buffer {
            return Err(CommandError::NoIndexBuffer.into());
        }
        let slots = 0..pipeline.vertex_buffer_count() as u32;
        let missing = slots
            .into_iter()
            .find(|slot| self.vertex_buffers & (1 << slot) == 0);
        match missing {
            None => Ok(()),
            Some(slot) => {
                let pipeline = pipeline.name().to_owned();
                Err(CommandError::NoVertexBuffer { pipeline, slot }.into())
            }
        }
    }

    /// The handle of a buffer that commands read from `offset` on, at least `length` bytes.
    fn input(
        &mut self,
        id: ResourceId,
        offset: u64,
        length: u64,
        (usage, word): (BufferUsage, &'static str),
    ) -> Result<vk::Buffer, CommandError> {
        let index = self.resources.index(id)?;
        self.touch(index);
        let buffer = self.resources.buffer(id)?;
        let name = || buffer.name().to_owned();
        if !buffer.desc().usage.contains(usage) {
            return Err(CommandError::Usage {
                name: name(),
                usage: word,
            });
        }
        match offset.checked_add(length) {
            Some(end) if end <= buffer.bytes() => Ok(buffer.raw()),
            _ => {
                let what = format!("{length} bytes from {offset}");
                Err(CommandError::Outside { what, name: name() })
            }
        }
    }
}

/// Whether a number is a multiple of another.
pub(super) fn aligned(what: &str, value: u64, multiple: u64) -> Result<(), CommandError> {
    match value.is_multiple_of(multiple) {
        true => Ok(()),
        false => Err(CommandError::Alignment {
            what: format!("{what}, {value},"),
            multiple,
        }),
    }
}
