//! Saying again what a list came to before.

use ash::vk;
use quadrille_sync::{ResourceIndex, Use};

use super::{Encoder, Failure, declared_layout};
use crate::commands::{CommandError, CommandList};
use crate::record::calls::{
    AttachmentCall, Call, IndirectCall, LayoutCall, RenderingCall, Span, Touched,
};
use crate::record::translation::Doubt;

impl<'a> Encoder<'a> {
    /// Translates the list of a pass and keeps what it comes to, if that can be kept.
    pub(crate) fn encode_and_keep(
        &mut self,
        name: &str,
        uses: &'a [Use],
        list: &'a CommandList,
    ) -> Result<Option<Span>, (&'static str, Failure)> {
        self.calls.open();
        let encoded = self.encode(name, uses, list);
        if encoded.is_err() {
            self.calls.give_up();
        }
        encoded.map(|()| {
            let span = self.calls.close();
            span.iter().for_each(|span| self.calls.note_use(span));
            span
        })
    }

    /// Whether what a pass came to in another frame is what it comes to where it declares these
    /// uses: it touches the same resources, and has images in the same layouts. Only what is in
    /// doubt is looked at.
    #[inline]
    pub(crate) fn still_holds(&self, uses: &[Use], span: &Span, doubt: Doubt) -> bool {
        match doubt {
            Doubt::Layouts => self.layouts_hold(uses, span),
            Doubt::Resources => self.resources_hold(uses, span) && self.layouts_hold(uses, span),
        }
    }

    /// Whether what a pass touched is the same, and among these uses.
    fn resources_hold(&self, uses: &[Use], span: &Span) -> bool {
        let is_it = |it: &Touched| {
            let version = self.resources.version(it.resource);
            version.is_some_and(|(version, at)| version == it.version && is_used(uses, at))
        };
        self.calls.touched(span).iter().all(is_it)
    }

    /// Whether a pass that declares these uses has images in the same layouts.
    #[inline]
    fn layouts_hold(&self, uses: &[Use], span: &Span) -> bool {
        let layouts = self.calls.layouts(span);
        layouts.is_empty() || self.all_layouts_hold(uses, layouts)
    }

    fn all_layouts_hold(&self, uses: &[Use], layouts: &[LayoutCall]) -> bool {
        let resources = self.resources;
        let is_same = |call: &LayoutCall| {
            let index = resources.index(call.image);
            let layout =
                |index| declared_layout(uses, (index, call.aspects), call.access, call.usual);
            index.is_ok_and(|index| layout(index) == call.layout)
        };
        layouts.iter().all(is_same)
    }

    /// Says again what a pass came to. The list of the pass is what it was then, and so are the
    /// resources that it touches, their layouts, and what the queue can do.
    pub(crate) fn repeat<'n>(&mut self, name: impl FnOnce() -> &'n str, span: &Span) {
        self.calls.note_use(span);
        self.device.names.begin(self.buffer, name);
        for at in span.calls.clone() {
            self.call(self.calls.at(at));
        }
        self.device.names.end(self.buffer);
    }

    /// Says something, and keeps it if the pass is kept.
    #[inline]
    pub(super) fn say(&mut self, call: Call) {
        self.calls.add(call);
        self.call(call);
    }

    #[inline]
    fn call(&mut self, call: Call) {
        let raw = &self.device.raw;
        match call {
            Call::Pipeline { point, pipeline } => self.bind_pipeline(point, pipeline),
            Call::Push {
                layout,
                template,
                first,
            } => {
                let infos = self.calls.infos(first).cast();
                let push = &self.device.push_descriptor;
                // SAFETY: the template is of this layout's set 0 and reads the infos of its
                // bindings, which were kept; they describe declared resources of the frame.
                unsafe {
                    push.cmd_push_descriptor_set_with_template(
                        self.buffer,
                        template,
                        layout,
                        0,
                        infos,
                    );
                }
            }
            Call::Constants {
                layout,
                stages,
                first,
                bytes,
            } => {
                let constants = self.calls.constants(first, bytes);
                // SAFETY: the layout has these stages and this many bytes.
                unsafe { raw.cmd_push_constants(self.buffer, layout, stages, 0, constants) };
            }
            Call::Dispatch { groups: [x, y, z] } => {
                // SAFETY: pipeline and bindings are set by the calls before; the numbers are
                // within the limits.
                unsafe { raw.cmd_dispatch(self.buffer, x, y, z) };
            }
            Call::DispatchIndirect { buffer, offset } => {
                // SAFETY: pipeline and bindings are set by the calls before; the arguments lie in
                // the buffer.
                unsafe { raw.cmd_dispatch_indirect(self.buffer, buffer, offset) };
            }
            Call::Table { table } => self.table(self.calls.table(table)),
            _ => self.graphics_call(call),
        }
    }

    /// Those of passes that draw, which are few.
    fn graphics_call(&self, call: Call) {
        let (raw, buffer) = (&self.device.raw, self.buffer);
        match call {
            Call::BeginRendering { rendering } => {
                self.render(self.calls.rendering(rendering));
            }
            Call::EndRendering => {
                // SAFETY: rendering has begun in this buffer.
                unsafe { raw.cmd_end_rendering(buffer) };
            }
            // The height is negative, which turns Vulkan's y-down clip space into WGSL's y-up one.
            Call::Viewport {
                area: [x, y, width, height],
            } => {
                let viewport = vk::Viewport {
                    x,
                    y: y + height,
                    width,
                    height: -height,
                    min_depth: 0.0,
                    max_depth: 1.0,
                };
                // SAFETY: its numbers are within the limits: the area's, or checked.
                unsafe { raw.cmd_set_viewport(buffer, 0, &[viewport]) };
            }
            Call::Scissor { area } => {
                // SAFETY: offsets are not negative, and offset and extent do not overflow.
                unsafe { raw.cmd_set_scissor(buffer, 0, &[area]) };
            }
            Call::VertexBuffer {
                slot,
                buffer: from,
                offset,
            } => {
                // SAFETY: the slot is below the limit of every device, the offset lies in the
                // buffer.
                unsafe { raw.cmd_bind_vertex_buffers(buffer, slot.into(), &[from], &[offset]) };
            }
            Call::IndexBuffer {
                kind,
                buffer: from,
                offset,
            } => {
                // SAFETY: the offset is aligned and lies in the buffer.
                unsafe { raw.cmd_bind_index_buffer(buffer, from, offset, kind) };
            }
            Call::Draw {
                vertices: [first, count],
                instances: [first_instance, instances],
            } => {
                // SAFETY: pipeline, bindings and vertex buffers are set by the calls before.
                unsafe { raw.cmd_draw(buffer, count, instances, first, first_instance) };
            }
            Call::DrawIndexed {
                indices: [first, count],
                base_vertex: base,
                instances: [first_instance, instances],
            } => {
                // SAFETY: as for `Draw`; an index buffer is bound.
                unsafe {
                    raw.cmd_draw_indexed(buffer, count, instances, first, base, first_instance);
                }
            }
            Call::DrawIndirect { draw } => self.draw_from(self.calls.indirect(draw)),
            Call::Pipeline { .. }
            | Call::Push { .. }
            | Call::Table { .. }
            | Call::Constants { .. }
            | Call::Dispatch { .. }
            | Call::DispatchIndirect { .. } => unreachable!("these are not of drawing alone"),
        }
    }

    /// `vkCmdBeginRendering`.
    pub(super) fn render(&self, rendering: &RenderingCall) {
        let colors = rendering.colors.map(AttachmentCall::to_vk);
        let depth = rendering.depth.map(AttachmentCall::to_vk);
        let stencil = rendering.stencil.map(AttachmentCall::to_vk);
        let mut info = vk::RenderingInfo::default()
            .render_area(rendering.area)
            .layer_count(1)
            .color_attachments(&colors[..rendering.color_count]);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            info = info.stencil_attachment(stencil);
        }
        // SAFETY: the attachments have the usages, agree in samples, and hold the area.
        unsafe { self.device.raw.cmd_begin_rendering(self.buffer, &info) };
    }

    /// `vkCmdDrawIndirect`, `vkCmdDrawIndexedIndirect` and those with a count.
    pub(super) fn draw_from(&self, draws: &IndirectCall) {
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
            let draw = match indexed {
                true => raw.fp_v1_2().cmd_draw_indexed_indirect_count,
                false => raw.fp_v1_2().cmd_draw_indirect_count,
            };
            // SAFETY: as below; the count lies in its buffer, and the device has `drawIndirectCount`.
            unsafe { draw(self.buffer, buffer, offset, from, at, count, stride) };
            return;
        }
        match indexed {
            // SAFETY: as for `DrawIndexed`; all arguments lie in the buffer.
            true => unsafe {
                raw.cmd_draw_indexed_indirect(self.buffer, buffer, offset, count, stride);
            },
            // SAFETY: as for `Draw`; all arguments lie in the buffer.
            false => unsafe { raw.cmd_draw_indirect(self.buffer, buffer, offset, count, stride) },
        }
    }

    /// Notes that the pass touches a resource. What no pass declares may be gone when the pass is
    /// repeated, and the image of a swapchain is another in each frame.
    pub(super) fn touch(&mut self, index: ResourceIndex) -> Result<(), CommandError> {
        self.check_declared(index)?;
        if !self.calls.is_open() {
            return Ok(());
        }
        let resource = self.resources.handle(index).id();
        match self.resources.version(resource) {
            Some((version, _)) if !self.resources.is_of_swapchain(index) => {
                self.calls.add_touched(Touched { resource, version });
            }
            _ => self.calls.give_up(),
        }
        Ok(())
    }

    /// Checks that the pass declares a resource. What the frame does not order needs none of it.
    pub(super) fn check_declared(&self, index: ResourceIndex) -> Result<(), CommandError> {
        let resources = self.resources;
        match is_used(self.uses, index) || !resources.is_declared(index) {
            true => Ok(()),
            false => Err(resources.not_declared(resources.handle(index).id())),
        }
    }
}

/// Whether a resource is among the uses of a pass.
fn is_used(uses: &[Use], index: ResourceIndex) -> bool {
    uses.iter().any(|used| used.resource == index)
}
