//! Draws and dispatches.

use ash::vk;
use quadrille_sync::{Capabilities, ResourceId};

use super::{Encoder, Failure};
use crate::commands::{CommandError, Counted, IndexType};
use crate::pipeline::MOST_BUFFERS;
use crate::record::calls::{Call, IndirectCall};
use crate::resources::buffer::BufferUsage;

impl Encoder<'_> {
    /// `vkCmdBindVertexBuffers`.
    pub(super) fn vertex_buffer(
        &mut self,
        slot: u8,
        id: ResourceId,
        offset: u64,
    ) -> Result<(), Failure> {
        self.need(Capabilities::GRAPHICS)?;
        if u32::from(slot) >= MOST_BUFFERS {
            let what = format!("vertex buffer {slot}");
            return Err(CommandError::Limit {
                what,
                limit: u64::from(MOST_BUFFERS) - 1,
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
        self.vertex_offsets[usize::from(slot)] = offset;
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
        let room = self.resources.buffer(id)?.bytes() - offset;
        self.say(Call::IndexBuffer {
            kind,
            buffer,
            offset,
        });
        self.indices = Some(room / bytes);
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
        let (first, count, room) = (indices[0], indices[1], self.indices.unwrap_or(0));
        if u64::from(first) + u64::from(count) > room {
            return Err(CommandError::Indices { first, count, room }.into());
        }
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
        if count == 0 {
            return Ok(());
        }
        let many = count > 1;
        let buffer = self.arguments(id, offset, [count, stride], indexed, many)?;
        self.say_indirect(&IndirectCall {
            indexed,
            buffer,
            offset,
            count,
            stride,
            counts: None,
        });
        Ok(())
    }

    /// `vkCmdDrawIndirectCount` and `vkCmdDrawIndexedIndirectCount`.
    pub(super) fn draw_counted(&mut self, draws: &Counted) -> Result<(), Failure> {
        let &Counted {
            offset,
            count_offset,
            most,
            stride,
            indexed,
            ..
        } = draws;
        self.ready_draw(indexed)?;
        if !self.device.optional.draw_indirect_count {
            let device = self.device.info.name.clone();
            let feature = "drawIndirectCount";
            return Err(CommandError::Lacks { feature, device }.into());
        }
        if most == 0 {
            return Ok(());
        }
        let buffer = self.arguments(draws.buffer, offset, [most, stride], indexed, true)?;
        aligned("the offset of the number of draws", count_offset, 4)?;
        let usage = (BufferUsage::INDIRECT, "INDIRECT");
        let length = size_of::<u32>() as u64;
        let counts = self.input(draws.counts, count_offset, length, usage)?;
        self.say_indirect(&IndirectCall {
            indexed,
            buffer,
            offset,
            count: most,
            stride,
            counts: Some((counts, count_offset)),
        });
        Ok(())
    }

    fn say_indirect(&mut self, draws: &IndirectCall) {
        self.calls.add_indirect(draws);
        self.draw_from(draws);
    }

    /// The buffer with the arguments of draws, at least one; whether their stride matters.
    fn arguments(
        &mut self,
        id: ResourceId,
        offset: u64,
        [count, stride]: [u32; 2],
        indexed: bool,
        has_stride: bool,
    ) -> Result<vk::Buffer, CommandError> {
        let size = match indexed {
            true => size_of::<vk::DrawIndexedIndirectCommand>(),
            false => size_of::<vk::DrawIndirectCommand>(),
        } as u64;
        if has_stride && (!stride.is_multiple_of(4) || u64::from(stride) < size) {
            let what = format!("the stride {stride} of indirect draws (at least {size})");
            return Err(CommandError::Alignment { what, multiple: 4 });
        }
        let limit = self.device.limits.max_draw_indirect_count;
        if count > limit {
            let what = format!("{count} indirect draws");
            let limit = limit.into();
            return Err(CommandError::Limit { what, limit });
        }
        aligned("the offset of indirect draws", offset, 4)?;
        let length = u64::from(stride) * u64::from(count - 1) + size;
        self.input(id, offset, length, (BufferUsage::INDIRECT, "INDIRECT"))
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
        if indexed && self.indices.is_none() {
            return Err(CommandError::NoIndexBuffer.into());
        }
        for (slot, &multiple) in (0..).zip(pipeline.vertex_alignments()) {
            if self.vertex_buffers & (1 << slot) == 0 {
                let pipeline = pipeline.name().to_owned();
                return Err(CommandError::NoVertexBuffer { pipeline, slot }.into());
            }
            let offset = self.vertex_offsets[slot as usize];
            // Sizes of components are powers of two.
            if offset & u64::from(multiple - 1) != 0 {
                let what = format!("the offset {offset} of vertex buffer {slot}");
                let multiple = multiple.into();
                return Err(CommandError::Alignment { what, multiple }.into());
            }
        }
        Ok(())
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
        self.touch(index)?;
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
                let what = format!("the range of {length} bytes from {offset}");
                let name = name();
                let room = format!("{} bytes", buffer.bytes());
                Err(CommandError::Outside { what, name, room })
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
