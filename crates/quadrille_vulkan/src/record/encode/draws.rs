//! Draws, and clears of attachments between them.

use ash::vk;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::Capabilities;

use super::rendering::{clear_color, cut};
use super::{Encoder, Failure, aligned};
use crate::commands::{CommandList, Counted, Draw, RawCommand};
use crate::error::CommandError;
use crate::pipeline::AttachmentUse;
use crate::record::calls::Call;
use crate::resources::buffer::BufferUsage;

/// Draws with all arguments.
#[derive(Clone, Copy)]
pub(crate) enum DrawCall {
    /// `vkCmdDraw`: first and count of both.
    Plain {
        vertices: [u32; 2],
        instances: [u32; 2],
    },
    /// `vkCmdDrawIndexed`: first and count of both.
    Indexed {
        indices: [u32; 2],
        base_vertex: i32,
        instances: [u32; 2],
    },
    /// `vkCmdDrawIndirect`, `vkCmdDrawIndirectCount` or their indexed forms; `draw` is the index of an
    /// [`IndirectCall`].
    Indirect { draw: u32 },
    /// `vkCmdClearAttachments` of a color attachment; `bits` of `VkClearColorValue`.
    ClearColor {
        attachment: u8,
        area: [u16; 4],
        bits: [u32; 4],
    },
    /// `vkCmdClearAttachments` of depth.
    ClearDepth { area: [u16; 4], depth: f32 },
}

/// Draws with arguments from a buffer.
#[derive(Clone, Copy)]
pub(crate) struct IndirectCall {
    pub indexed: bool,
    pub buffer: vk::Buffer,
    pub offset: u64,
    /// The number of draws; the maximum if `counts` is set.
    pub count: u32,
    pub stride: u32,
    /// Buffer and byte offset of the number of draws.
    pub counts: Option<(vk::Buffer, u64)>,
}

impl DrawCall {
    /// Records the call. Pipeline, bindings and buffers must have been set.
    pub(super) fn record(self, encoder: &Encoder<'_>) {
        let (raw, buffer) = (&encoder.device.raw, encoder.buffer);
        match self {
            Self::Plain {
                vertices: [first, count],
                instances: [first_instance, instances],
            } => {
                // SAFETY: pipeline, bindings and vertex buffers are set by the calls before.
                unsafe { raw.cmd_draw(buffer, count, instances, first, first_instance) };
            }
            Self::Indexed {
                indices: [first, count],
                base_vertex: base,
                instances: [first_instance, instances],
            } => {
                // SAFETY: as for `Plain`; an index buffer is bound.
                unsafe {
                    raw.cmd_draw_indexed(buffer, count, instances, first, base, first_instance);
                }
            }
            Self::Indirect { draw } => encoder.draw_from(encoder.calls.indirect(draw)),
            Self::ClearColor {
                attachment,
                area,
                bits,
            } => {
                let color = vk::ClearColorValue { uint32: bits };
                let clear = vk::ClearAttachment::default()
                    .aspect_mask(vk::ImageAspectFlags::COLOR)
                    .color_attachment(attachment.into())
                    .clear_value(vk::ClearValue { color });
                encoder.clear(clear, area);
            }
            Self::ClearDepth { area, depth } => {
                let depth_stencil = vk::ClearDepthStencilValue { depth, stencil: 0 };
                let clear = vk::ClearAttachment::default()
                    .aspect_mask(vk::ImageAspectFlags::DEPTH)
                    .clear_value(vk::ClearValue { depth_stencil });
                encoder.clear(clear, area);
            }
        }
    }
}

impl Encoder<'_> {
    pub(super) fn draw(&mut self, list: &CommandList, draw: Draw) -> Result<(), Failure> {
        match draw {
            Draw::Plain {
                vertices,
                instances,
            } => self.draw_plain(vertices, instances),
            Draw::Indexed {
                indices,
                base_vertex,
                instances,
            } => self.draw_indexed(indices, base_vertex, instances),
            Draw::Indirect {
                buffer,
                offset,
                count,
                stride,
            } => self.draw_indirect(buffer, offset, count, stride, false),
            Draw::IndexedIndirect {
                buffer,
                offset,
                count,
                stride,
            } => self.draw_indirect(buffer, offset, count, stride, true),
            Draw::Counted { counted } => self.draw_counted(&list.side().counted[counted as usize]),
            Draw::ClearColor {
                attachment,
                area,
                color,
            } => self.clear_color(attachment, area, color.map(f32::from_bits)),
            Draw::ClearDepth { area, depth } => self.clear_depth(area, f32::from_bits(depth)),
        }
    }

    /// Draws by a closure of the program.
    pub(super) fn draw_raw(&mut self, commands: &RawCommand) -> Result<(), Failure> {
        self.ready_draw(false)?;
        commands(&self.device.raw, self.buffer);
        self.bindings.forget_bind_points();
        Ok(())
    }

    fn clear_color(
        &mut self,
        attachment: u8,
        area: [u16; 4],
        color: [f32; 4],
    ) -> Result<(), Failure> {
        self.need_rendering(true)?;
        let Some(rendering) = &self.rendering else {
            return Ok(());
        };
        let formats = rendering.formats.used_colors();
        let Some(&format) = formats.get(usize::from(attachment)) else {
            let problem = format!("there is no color attachment {attachment} to clear");
            return Err(CommandError::Attachments { problem }.into());
        };
        // SAFETY: all members of the union are arrays of numbers, for which any bits are valid.
        let bits = unsafe { clear_color(format, color).uint32 };
        if let Some(area) = cut(rendering.area, area) {
            self.order_draw(AttachmentUse {
                reads: 0,
                writes: AttachmentUse::color(attachment.into()),
            });
            self.emit(Call::Draw(DrawCall::ClearColor {
                attachment,
                area,
                bits,
            }));
        }
        Ok(())
    }

    fn clear_depth(&mut self, area: [u16; 4], depth: f32) -> Result<(), Failure> {
        self.need_rendering(true)?;
        let Some(rendering) = &self.rendering else {
            return Ok(());
        };
        if !rendering.writes_depth {
            let problem = "there is no depth to clear, or it is only read".to_owned();
            return Err(CommandError::Attachments { problem }.into());
        }
        let depth = depth.clamp(0.0, 1.0);
        let depth = if depth.is_nan() { 0.0 } else { depth };
        if let Some(area) = cut(rendering.area, area) {
            self.order_draw(AttachmentUse {
                reads: 0,
                writes: AttachmentUse::DEPTH,
            });
            self.emit(Call::Draw(DrawCall::ClearDepth { area, depth }));
        }
        Ok(())
    }

    /// `vkCmdClearAttachments`.
    fn clear(&self, clear: vk::ClearAttachment, [x, y, width, height]: [u16; 4]) {
        let rect = vk::ClearRect {
            rect: vk::Rect2D {
                offset: vk::Offset2D {
                    x: x.into(),
                    y: y.into(),
                },
                extent: vk::Extent2D {
                    width: width.into(),
                    height: height.into(),
                },
            },
            base_array_layer: 0,
            layer_count: 1,
        };
        // SAFETY: rendering has begun with this attachment, which is written, and holds the area,
        // which is not empty.
        unsafe {
            self.device
                .raw
                .cmd_clear_attachments(self.buffer, &[clear], &[rect]);
        }
    }

    /// `vkCmdDraw`.
    fn draw_plain(&mut self, vertices: [u32; 2], instances: [u32; 2]) -> Result<(), Failure> {
        self.ready_draw(false)?;
        self.check_instances(instances)?;
        self.emit(Call::Draw(DrawCall::Plain {
            vertices,
            instances,
        }));
        Ok(())
    }

    /// Checks instance indices, which multiview limits (`maxMultiviewInstanceIndex`).
    fn check_instances(&self, [first, count]: [u32; 2]) -> Result<(), CommandError> {
        let mask = self.rendering.as_ref().map_or(0, |it| it.formats.view_mask);
        let most = u64::from(self.device.rendering_limits.last_instance);
        let last = (u64::from(first) + u64::from(count)).saturating_sub(1);
        if mask == 0 || last <= most {
            return Ok(());
        }
        let what = format!("instance {last} of a draw to several views");
        Err(CommandError::Limit { what, limit: most })
    }

    /// `vkCmdDrawIndexed`.
    fn draw_indexed(
        &mut self,
        indices: [u32; 2],
        base_vertex: i32,
        instances: [u32; 2],
    ) -> Result<(), Failure> {
        self.ready_draw(true)?;
        self.check_instances(instances)?;
        let (first, count, room) = (indices[0], indices[1], self.indices.unwrap_or(0));
        if u64::from(first) + u64::from(count) > room {
            return Err(CommandError::Indices { first, count, room }.into());
        }
        self.emit(Call::Draw(DrawCall::Indexed {
            indices,
            base_vertex,
            instances,
        }));
        Ok(())
    }

    /// `vkCmdDrawIndirect` and `vkCmdDrawIndexedIndirect`.
    fn draw_indirect(
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
        self.emit_indirect(&IndirectCall {
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
    fn draw_counted(&mut self, draws: &Counted) -> Result<(), Failure> {
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
        self.emit_indirect(&IndirectCall {
            indexed,
            buffer,
            offset,
            count: most,
            stride,
            counts: Some((counts, count_offset)),
        });
        Ok(())
    }

    fn emit_indirect(&mut self, draws: &IndirectCall) {
        self.calls.add_indirect(draws);
        self.draw_from(draws);
    }

    /// Returns the buffer with the arguments of `count` draws, after checks; `count` is at least 1. The
    /// stride is checked only with `has_stride`.
    fn arguments(
        &mut self,
        id: ResourceId,
        offset: u64,
        [count, stride]: [u32; 2],
        indexed: bool,
        has_stride: bool,
    ) -> Result<vk::Buffer, CommandError> {
        let size = if indexed {
            size_of::<vk::DrawIndexedIndirectCommand>()
        } else {
            size_of::<vk::DrawIndirectCommand>()
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
        self.order_draw(pipeline.attachments());
        Ok(())
    }

    /// `vkCmdDrawIndirect`, `vkCmdDrawIndexedIndirect` and those with a count.
    fn draw_from(&self, draws: &IndirectCall) {
        let raw = &self.device.raw;
        let IndirectCall {
            indexed,
            buffer,
            offset,
            count,
            stride,
            counts,
        } = *draws;
        if let Some((from, at)) = counts {
            let draw = if indexed {
                raw.fp_v1_2().cmd_draw_indexed_indirect_count
            } else {
                raw.fp_v1_2().cmd_draw_indirect_count
            };
            // SAFETY: as below; the count lies in its buffer, and the device has `drawIndirectCount`.
            unsafe { draw(self.buffer, buffer, offset, from, at, count, stride) };
            return;
        }
        match indexed {
            // SAFETY: as for `DrawCall::Indexed`; all arguments lie in the buffer.
            true => unsafe {
                raw.cmd_draw_indexed_indirect(self.buffer, buffer, offset, count, stride);
            },
            // SAFETY: as for `DrawCall::Plain`; all arguments lie in the buffer.
            false => unsafe { raw.cmd_draw_indirect(self.buffer, buffer, offset, count, stride) },
        }
    }
}
