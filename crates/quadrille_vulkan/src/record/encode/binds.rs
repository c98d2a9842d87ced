//! Commands that set state of draws and dispatches. Pipelines, bindings and push constants are recorded
//! lazily with the next draw or dispatch (see `bindings`); vertex and index buffers at once.

use ash::vk;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::Capabilities;

use super::{Encoder, Failure, aligned, bytes_of};
use crate::commands::{Bind, CommandList, IndexType};
use crate::error::CommandError;
use crate::pipeline::MAX_BUFFERS;
use crate::record::calls::Call;
use crate::resources::buffer::BufferUsage;

/// Calls that set state of draws and dispatches, with all arguments.
#[derive(Clone, Copy)]
pub(crate) enum BindCall {
    /// `vkCmdBindPipeline`
    Pipeline {
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    },
    /// `vkCmdPushDescriptorSetWithTemplate`
    Push {
        layout: vk::PipelineLayout,
        template: vk::DescriptorUpdateTemplate,
        /// The index of its first info.
        first: u32,
    },
    /// `vkCmdBindDescriptorSets` of a table, by index.
    Table { table: u32 },
    /// `vkCmdPushConstants`
    Constants {
        layout: vk::PipelineLayout,
        stages: vk::ShaderStageFlags,
        /// The index of its first byte.
        first: u32,
        bytes: u32,
    },
    /// `vkCmdBindVertexBuffers`
    VertexBuffer {
        slot: u8,
        buffer: vk::Buffer,
        offset: u64,
    },
    /// `vkCmdBindIndexBuffer`
    IndexBuffer {
        kind: vk::IndexType,
        buffer: vk::Buffer,
        offset: u64,
    },
}

impl BindCall {
    /// Records the call.
    #[inline]
    pub(super) fn record(self, encoder: &mut Encoder<'_>) {
        let (raw, buffer) = (&encoder.device.raw, encoder.buffer);
        match self {
            Self::Pipeline { point, pipeline } => encoder.bind_pipeline(point, pipeline),
            Self::Push {
                layout,
                template,
                first,
            } => {
                let infos = encoder.calls.infos(first).cast();
                let push = &encoder.device.extensions.push_descriptor;
                // SAFETY: the template is of this layout's set 0 and reads the infos of its
                // bindings, which were kept; they describe declared resources of the frame.
                unsafe {
                    push.cmd_push_descriptor_set_with_template(buffer, template, layout, 0, infos);
                }
            }
            Self::Table { table } => encoder.table(encoder.calls.table(table)),
            Self::Constants {
                layout,
                stages,
                first,
                bytes,
            } => {
                let constants = encoder.calls.constants(first, bytes);
                // SAFETY: the layout has these stages and this many bytes.
                unsafe { raw.cmd_push_constants(buffer, layout, stages, 0, constants) };
            }
            Self::VertexBuffer {
                slot,
                buffer: from,
                offset,
            } => {
                // SAFETY: the slot is below the limit of every device, the offset lies in the
                // buffer.
                unsafe { raw.cmd_bind_vertex_buffers(buffer, slot.into(), &[from], &[offset]) };
            }
            Self::IndexBuffer {
                kind,
                buffer: from,
                offset,
            } => {
                // SAFETY: the offset is aligned and lies in the buffer.
                unsafe { raw.cmd_bind_index_buffer(buffer, from, offset, kind) };
            }
        }
    }
}

impl<'a> Encoder<'a> {
    pub(super) fn bind(&mut self, list: &'a CommandList, bind: Bind) -> Result<(), Failure> {
        match bind {
            Bind::Compute { pipeline } => {
                self.bindings.compute = Some(&list.compute[pipeline as usize]);
                Ok(())
            }
            Bind::Graphics { pipeline } => {
                self.bindings.graphics = Some(&list.side().graphics[pipeline as usize]);
                self.bindings.stencil_reference = None;
                Ok(())
            }
            Bind::Buffer {
                binding,
                buffer,
                range,
            } => {
                let [offset, size] = list.range(range);
                self.bind_buffer(binding, buffer, offset, size)
            }
            Bind::Image {
                binding,
                storage,
                image,
                view,
            } => self.bind_image(binding, storage, image, view),
            Bind::Sampler { binding, sampler } => self
                .bindings
                .bind_sampler(binding, list.side().samplers[sampler as usize].raw()),
            Bind::Table { group, table } => self
                .bindings
                .bind_table(group, &list.side().tables[table as usize]),
            Bind::Constants { start, bytes } => {
                self.bindings
                    .push_constants(bytes_of(list, start, bytes.into()))
            }
            Bind::Vertices {
                slot,
                buffer,
                offset,
            } => self.vertex_buffer(slot, buffer, offset.into()),
            Bind::Indices {
                buffer,
                offset,
                kind,
            } => self.index_buffer(buffer, offset.into(), kind),
        }
    }

    /// `vkCmdBindVertexBuffers`.
    fn vertex_buffer(&mut self, slot: u8, id: ResourceId, offset: u64) -> Result<(), Failure> {
        self.need(Capabilities::GRAPHICS)?;
        if u32::from(slot) >= MAX_BUFFERS {
            let what = format!("vertex buffer {slot}");
            return Err(CommandError::Limit {
                what,
                limit: u64::from(MAX_BUFFERS) - 1,
            }
            .into());
        }
        let buffer = self.input(id, offset, 1, (BufferUsage::VERTEX, "VERTEX"))?;
        self.emit(Call::Bind(BindCall::VertexBuffer {
            slot,
            buffer,
            offset,
        }));
        self.vertex_buffers |= 1 << slot;
        self.vertex_offsets[usize::from(slot)] = offset;
        Ok(())
    }

    /// `vkCmdBindIndexBuffer`.
    fn index_buffer(
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
        self.emit(Call::Bind(BindCall::IndexBuffer {
            kind,
            buffer,
            offset,
        }));
        self.indices = Some(room / bytes);
        Ok(())
    }

    /// Returns the handle of a buffer that a command reads, after checks of its usage and of `length`
    /// bytes from `offset`.
    pub(super) fn input(
        &mut self,
        id: ResourceId,
        offset: u64,
        length: u64,
        (usage, word): (BufferUsage, &'static str),
    ) -> Result<vk::Buffer, CommandError> {
        let index = self.resources.index(id)?;
        self.note_use(index)?;
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
