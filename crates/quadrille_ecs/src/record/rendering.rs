//! Recording of draws.

use std::ops::Range;

use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::{
    ColorAttachment, DepthAttachment, DepthResolve, IndexType, Load, Store,
};
use quadrille_vulkan::pipeline::GraphicsPipeline;
use quadrille_vulkan::resources::{GpuBuffer, GpuImage, Sampler, View};
use smallvec::SmallVec;

use crate::declare::access::{Access, kind, stage};
use crate::declare::attachment::{Attachment, Attachments, ClearValue};
use crate::declare::bind::{Bound, Declared, ResourceRef};
use crate::declare::exact;
use crate::declare::kind::{AccessKind, StageScope};
use crate::declare::named::Named;
use crate::declare::table::DeclaredTable;
use crate::error::RecordError;
use crate::record::binding_key::BindingKey;
use crate::record::bound::{ALL_BYTES, BoundMask, part_of};
use crate::record::layout::{self, ShaderValue};
use crate::record::recording::SubRecording;

/// The size of a `VkDrawIndirectCommand`.
const DRAW_BYTES: u32 = 16;
/// The size of a `VkDrawIndexedIndirectCommand`.
const DRAW_INDEXED_BYTES: u32 = 20;

/// Maximum number of color attachments; encoding rejects more.
const MAX_COLORS: usize = 8;

/// A dynamic rendering: bind a pipeline, bind resources, draw. Rendering ends when this value is dropped.
pub struct Rendering<'a> {
    pub(super) recording: &'a mut SubRecording,
    pipeline: Option<GraphicsPipeline>,
    bound: BoundMask,
    /// Whether the attachments were valid and rendering began.
    begun: bool,
}

impl<'a> Rendering<'a> {
    pub(crate) fn begin(recording: &'a mut SubRecording, attachments: Attachments) -> Self {
        recording.needs |= Capabilities::GRAPHICS;
        let begun = begin_rendering(recording, attachments);
        Self {
            recording,
            pipeline: None,
            bound: BoundMask::default(),
            begun,
        }
    }

    /// Binds a graphics pipeline; resources have to be bound again.
    pub fn pipeline(&mut self, pipeline: &GraphicsPipeline) -> &mut Self {
        self.recording.used.graphics = true;
        self.bound = BoundMask::default();
        self.pipeline = Some(pipeline.clone());
        self.recording.list.bind_graphics(pipeline);
        self
    }

    /// Whether shaders of the bound pipeline use a variable of `@group(0)` or a table with this name or number.
    pub fn uses(&self, key: impl BindingKey) -> bool {
        self.pipeline
            .as_ref()
            .is_some_and(|pipeline| key.is_used(pipeline))
    }

    /// Binds a declared resource to a variable of `@group(0)`: by its number, `bind(2, &heights)`, or by
    /// its name, `bind("heights", &heights)`.
    pub fn bind(&mut self, binding: impl BindingKey, resource: &impl Declared) -> &mut Self {
        match &self.pipeline {
            Some(pipeline) => self.bound.bind(
                self.recording,
                pipeline,
                binding,
                resource.bound(),
                ALL_BYTES,
            ),
            None => self
                .recording
                .fail(RecordError::NoPipeline { command: "bind" }),
        }
        self
    }

    /// Binds a byte range of a declared buffer, for instance the row of one object in a uniform buffer. See
    /// [`Compute::bind_bytes`](crate::Compute::bind_bytes) for the alignment of its start, and for its synchronization.
    /// A range outside the buffer, or an unaligned start, is an error of the frame.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::GraphicsPipeline;
    /// # use quadrille_vulkan::resources::{GpuBuffer, GpuImage};
    /// # #[derive(Resource, Deref)] struct Color(GpuImage);
    /// # #[derive(Resource, Deref)] struct Rows(GpuBuffer);
    /// # #[derive(Resource)] struct Paint(GraphicsPipeline);
    /// /// Three objects, with consecutive rows of 256 bytes.
    /// fn paint(
    ///     mut recorder: Recorder,
    ///     color: ColorTarget<Color>,
    ///     rows: Uniform<Rows>,
    ///     paint: Res<Paint>,
    /// ) {
    ///     let mut rendering = recorder.render(color.clear([0.0; 4]));
    ///     rendering.pipeline(&paint.0);
    ///     for first in [0, 256, 512] {
    ///         rendering.bind_bytes("row", &rows, first..first + 256).draw(0..4, 0..1);
    ///     }
    /// }
    /// ```
    pub fn bind_bytes<T, K, S>(
        &mut self,
        binding: impl BindingKey,
        buffer: &Access<'_, T, K, S>,
        bytes: Range<u64>,
    ) -> &mut Self
    where
        T: Named<Handle = GpuBuffer>,
        K: kind::Kind,
        S: stage::Stage,
    {
        match &self.pipeline {
            Some(pipeline) => self.bound.bind(
                self.recording,
                pipeline,
                binding,
                buffer.bound(),
                part_of(buffer, bytes),
            ),
            None => self.recording.fail(RecordError::NoPipeline {
                command: "bind_bytes",
            }),
        }
        self
    }

    /// Binds a sampler to a variable of `@group(0)`, by number or by name.
    pub fn sampler(&mut self, binding: impl BindingKey, sampler: &Sampler) -> &mut Self {
        match &self.pipeline {
            Some(pipeline) => self
                .bound
                .sampler(self.recording, pipeline, binding, sampler),
            None => self
                .recording
                .fail(RecordError::NoPipeline { command: "sampler" }),
        }
        self
    }

    /// Binds a declared table to `@group(group)`, from group 1 on, by the
    /// group's number or by the name of its array. The table stays bound when
    /// another pipeline is bound.
    pub fn table(&mut self, group: impl BindingKey, table: &impl DeclaredTable) -> &mut Self {
        let table = table.declared_table();
        match group.group(self.pipeline.as_ref()) {
            Ok(group) => self.recording.list.bind_table(group, table),
            Err(error) => self.recording.fail(error),
        }
        self
    }

    /// Sets the push constants, `var<immediate>` in WGSL: a number, a vector or matrix of
    /// [`glam`](crate::glam), an array of them, or a struct that derives
    /// [`ShaderType`](crate::encase::ShaderType), which implements WGSL's memory layout. The size must be that of the
    /// shader's variable, at most 128 bytes. Different member offsets are an
    /// error: `[f32; 3]`, for instance, does not match `vec3f`, which has an alignment of 16 bytes.
    pub fn push<T: ShaderValue>(&mut self, constants: &T) -> &mut Self {
        match &self.pipeline {
            Some(pipeline) => layout::push(self.recording, pipeline, constants),
            None => self
                .recording
                .fail(RecordError::NoPipeline { command: "push" }),
        }
        self
    }

    /// Sets the push constants to bytes, for instance of a struct by [`bytemuck`](crate::bytemuck). Size and memory
    /// layout must be those of the shader's variable; [`Self::push`] takes care of the layout.
    pub fn push_bytes(&mut self, constants: &[u8]) -> &mut Self {
        match &self.pipeline {
            Some(_) => self.recording.list.push_constants(constants),
            None => self.recording.fail(RecordError::NoPipeline {
                command: "push_bytes",
            }),
        }
        self
    }

    /// Binds a vertex buffer, from `offset` bytes on.
    pub fn vertices(&mut self, slot: u32, vertices: &impl Declared, offset: u64) -> &mut Self {
        let bound = vertices.bound();
        if let Some(buffer) = self
            .recording
            .used_buffer(bound, AccessKind::Vertex, "vertices")
        {
            self.recording.list.vertex_buffer(slot, buffer, offset);
        }
        self
    }

    /// Binds an index buffer, from `offset` bytes on.
    pub fn indices(
        &mut self,
        indices: &impl Declared,
        offset: u64,
        index_type: IndexType,
    ) -> &mut Self {
        let bound = indices.bound();
        if let Some(buffer) = self
            .recording
            .used_buffer(bound, AccessKind::Index, "indices")
        {
            self.recording.list.index_buffer(buffer, offset, index_type);
        }
        self
    }

    /// Sets the viewport in pixels: left, top, width, height, as an array or a
    /// `Vec4`. Initially the whole render area.
    pub fn viewport(&mut self, area: impl Into<[f32; 4]>) -> &mut Self {
        self.recording.list.viewport(area.into());
        self
    }

    /// Sets the scissor in pixels: left, top, width, height, as an array or a
    /// `UVec4`. Initially the whole render area.
    pub fn scissor(&mut self, area: impl Into<[u32; 4]>) -> &mut Self {
        self.recording.list.scissor(area.into());
        self
    }

    /// Sets the stencil reference for draws with the bound pipeline. Overrides the `reference` of its
    /// [`StencilState`](quadrille_vulkan::pipeline::StencilState).
    ///
    /// ```
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::GraphicsPipeline;
    /// /// Writes a distinct stencil value for each portal, with one pipeline.
    /// fn mark(rendering: &mut Rendering<'_>, portal: &GraphicsPipeline, count: u8) {
    ///     rendering.pipeline(portal);
    ///     for number in 1..=count {
    ///         let instance = u32::from(number) - 1;
    ///         rendering.stencil_reference(number).draw(0..6, instance..instance + 1);
    ///     }
    /// }
    /// ```
    pub fn stencil_reference(&mut self, reference: u8) -> &mut Self {
        match &self.pipeline {
            Some(_) => self.recording.list.stencil_reference(reference),
            None => self.recording.fail(RecordError::NoPipeline {
                command: "stencil_reference",
            }),
        }
        self
    }

    /// Clears a part of the color attachment at `@location(attachment)`, in the order of draws: left,
    /// top, width, height in pixels, clipped to the render area. It needs no pipeline, and ignores
    /// viewport and scissor.
    ///
    /// ```
    /// # use quadrille_ecs::*;
    /// /// The next light of an atlas of shadow maps.
    /// fn begin_tile(rendering: &mut Rendering<'_>, tile: [u32; 4]) {
    ///     rendering.clear_depth(tile, 0.0).scissor(tile);
    /// }
    /// ```
    pub fn clear_color(
        &mut self,
        attachment: u32,
        area: impl Into<[u32; 4]>,
        color: impl Into<ClearValue>,
    ) -> &mut Self {
        if self.begun {
            let ClearValue(color) = color.into();
            let area = area.into();
            self.recording.list.clear_color(attachment, area, color);
        }
        self
    }

    /// Clears a part of the depth attachment, which must be a `DepthTarget`, to a depth from 0 to 1,
    /// like [`Self::clear_color`].
    pub fn clear_depth(&mut self, area: impl Into<[u32; 4]>, depth: f32) -> &mut Self {
        if self.begun {
            self.recording.list.clear_depth(area.into(), depth);
        }
        self
    }

    /// Draws vertices.
    pub fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) -> &mut Self {
        if self.ready("draw") {
            self.recording.list.draw(vertices, instances);
        }
        self
    }

    /// Draws vertices by index, each with `base_vertex` added.
    pub fn draw_indexed(
        &mut self,
        indices: Range<u32>,
        base_vertex: i32,
        instances: Range<u32>,
    ) -> &mut Self {
        if self.ready("draw_indexed") {
            self.recording
                .list
                .draw_indexed(indices, base_vertex, instances);
        }
        self
    }

    /// Draws `count` times with arguments (`VkDrawIndirectCommand`, 16 bytes each) from a buffer.
    pub fn draw_indirect(
        &mut self,
        arguments: &impl Declared,
        offset: u64,
        count: u32,
    ) -> &mut Self {
        if let Some(buffer) = self.arguments(arguments.bound(), "draw_indirect") {
            let list = &mut self.recording.list;
            list.draw_indirect(buffer, offset, count, DRAW_BYTES);
        }
        self
    }

    /// Draws `count` times by index with arguments (`VkDrawIndexedIndirectCommand`, 20 bytes
    /// each) from a buffer.
    pub fn draw_indexed_indirect(
        &mut self,
        arguments: &impl Declared,
        offset: u64,
        count: u32,
    ) -> &mut Self {
        if let Some(buffer) = self.arguments(arguments.bound(), "draw_indexed_indirect") {
            let list = &mut self.recording.list;
            list.draw_indexed_indirect(buffer, offset, count, DRAW_INDEXED_BYTES);
        }
        self
    }

    /// Draws with arguments (`VkDrawIndirectCommand`, 16 bytes each) from a buffer. The number of draws is a `u32` in
    /// another buffer, limited to `most`. Both buffers are given with a byte offset. The index of the draw is
    /// `@builtin(draw_index)` in shaders, after `enable draw_index;`.
    ///
    /// Needs the device feature `drawIndirectCount`.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::GraphicsPipeline;
    /// # use quadrille_vulkan::resources::GpuBuffer;
    /// # #[derive(Resource, Deref)] struct Draws(GpuBuffer);
    /// # #[derive(Resource, Deref)] struct Visible(GpuBuffer);
    /// # #[derive(Resource)] struct Mesh(GraphicsPipeline);
    /// /// Draws what an earlier pass found visible.
    /// fn draw(
    ///     mut recorder: Recorder,
    ///     window: ColorTarget<PrimaryWindowImage>,
    ///     (draws, visible): (IndirectRead<Draws>, IndirectRead<Visible>),
    ///     mesh: Res<Mesh>,
    /// ) {
    ///     let mut rendering = recorder.render(window.clear([0.0; 4]));
    ///     rendering.pipeline(&mesh.0).draw_indirect_count((&draws, 0), (&visible, 0), 10_000);
    /// }
    /// ```
    pub fn draw_indirect_count(
        &mut self,
        arguments: (&impl Declared, u64),
        count: (&impl Declared, u64),
        most: u32,
    ) -> &mut Self {
        let (from, counts) = (arguments.0.bound(), count.0.bound());
        if let Some((from, counts)) = self.counted(from, counts, "draw_indirect_count") {
            let (from, counts) = ((from, arguments.1), (counts, count.1));
            let list = &mut self.recording.list;
            list.draw_indirect_count(from, counts, most, DRAW_BYTES);
        }
        self
    }

    /// Draws by index like [`Self::draw_indirect_count`], with `VkDrawIndexedIndirectCommand` of 20 bytes each.
    pub fn draw_indexed_indirect_count(
        &mut self,
        arguments: (&impl Declared, u64),
        count: (&impl Declared, u64),
        most: u32,
    ) -> &mut Self {
        let (from, counts) = (arguments.0.bound(), count.0.bound());
        if let Some((from, counts)) = self.counted(from, counts, "draw_indexed_indirect_count") {
            let (from, counts) = ((from, arguments.1), (counts, count.1));
            let list = &mut self.recording.list;
            list.draw_indexed_indirect_count(from, counts, most, DRAW_INDEXED_BYTES);
        }
        self
    }

    /// Returns the argument and count buffers of a draw with an indirect count.
    fn counted<'b>(
        &mut self,
        arguments: Bound<'b>,
        counts: Bound<'b>,
        command: &'static str,
    ) -> Option<(&'b GpuBuffer, &'b GpuBuffer)> {
        let arguments = self.arguments(arguments, command)?;
        let counts = (self.recording).used_buffer(counts, AccessKind::Indirect, command)?;
        Some((arguments, counts))
    }

    /// Returns the argument buffer of an indirect draw.
    fn arguments<'b>(
        &mut self,
        arguments: Bound<'b>,
        command: &'static str,
    ) -> Option<&'b GpuBuffer> {
        let recording = self.ready(command).then_some(&mut *self.recording)?;
        recording.used_buffer(arguments, AccessKind::Indirect, command)
    }

    /// Returns the recording of the draws, if rendering began.
    pub(crate) fn begun_recording(&mut self) -> Option<&mut SubRecording> {
        self.begun.then_some(&mut *self.recording)
    }

    /// Whether a draw can be recorded; otherwise adds an error.
    pub(super) fn ready(&mut self, command: &'static str) -> bool {
        let Some(pipeline) = &self.pipeline else {
            self.recording.fail(RecordError::NoPipeline { command });
            return false;
        };
        self.bound.check_complete(self.recording, pipeline);
        self.begun
    }
}

impl Drop for Rendering<'_> {
    fn drop(&mut self) {
        if self.begun {
            self.recording.list.end_rendering();
        }
    }
}

/// Records the begin of rendering, if the attachments are valid.
fn begin_rendering(recording: &mut SubRecording, mut attachments: Attachments) -> bool {
    attachments.cut_views();
    let attachments = &attachments;
    if !check_attachments(recording, attachments) {
        return false;
    }
    let colors: SmallVec<[ColorAttachment<'_>; MAX_COLORS]> = attachments
        .colors
        .iter()
        .filter_map(|a| Some(color_attachment(a, a.image.as_ref()?)))
        .collect();
    let depth = attachments.depth.as_ref();
    let depth = depth.and_then(|a| Some(depth_attachment(a, a.image.as_ref()?)));
    recording
        .list
        .begin_rendering(&quadrille_vulkan::commands::Rendering {
            colors: &colors,
            depth,
            area: None,
            view_mask: attachments.view_mask,
        });
    true
}

/// Checks that the attachments are declared targets of one extent, and records which of them are overwritten.
fn check_attachments(recording: &mut SubRecording, attachments: &Attachments) -> bool {
    let error_count = recording.errors().len();
    let mut extent: Option<[u32; 2]> = None;
    for attachment in attachments.colors.iter().chain(&attachments.depth) {
        let Some(image) = &attachment.image else {
            recording.fail(not_a_target(attachment, &attachment.name));
            continue;
        };
        if !is_target(attachment.kind) {
            recording.fail(not_a_target(attachment, image.name()));
        }
        let [width, height, _] = attachment.view.extent(image);
        match extent {
            Some(other) if other != [width, height] => {
                recording.fail(RecordError::ExtentsDiffer {
                    resource: image.name().into(),
                    extent: [width, height],
                    other,
                });
            }
            _ => extent = Some([width, height]),
        }
        check_part(recording, image, attachment.view, &attachment.kind);
        if attachment.overwrites(image) {
            let drawn = attachments.drawn(attachment.view);
            drawn.for_each(|view| recording.overwrite(image.id(), view));
        }
        check_resolve(recording, attachments, attachment, image);
    }
    if extent.is_none() && error_count == recording.errors().len() {
        recording.fail(RecordError::NoAttachment);
    }
    error_count == recording.errors().len()
}

/// Checks the resolve target of an attachment, and records that it is overwritten.
fn check_resolve(
    recording: &mut SubRecording,
    attachments: &Attachments,
    attachment: &Attachment,
    image: &GpuImage,
) {
    if let Some(problem) = attachment.problem {
        recording.fail(RecordError::Resolve {
            resource: image.name().into(),
            problem,
        });
        return;
    }
    let Some(resolve) = &attachment.resolve else {
        return;
    };
    let (target, is_depth) = (&resolve.image, resolve.modes != [None; 2]);
    let kind = if is_depth {
        recording.resolve_depth(image.id(), target.id());
        &AccessKind::DepthTarget
    } else {
        &AccessKind::ColorTarget
    };
    check_part(recording, target, resolve.view, kind);
    if resolve.overwrites() {
        let drawn = attachments.drawn(resolve.view);
        drawn.for_each(|view| recording.overwrite(target.id(), view));
    }
}

fn color_attachment<'a>(attachment: &'a Attachment, image: &'a GpuImage) -> ColorAttachment<'a> {
    ColorAttachment {
        store: match attachment.resolve {
            Some(_) => Store::Discard,
            None => Store::Keep,
        },
        resolve: (attachment.resolve.as_ref()).map(|to| (&to.image, to.view)),
        view: attachment.view,
        ..ColorAttachment::new(image, attachment.load)
    }
}

fn depth_attachment<'a>(attachment: &'a Attachment, image: &'a GpuImage) -> DepthAttachment<'a> {
    let load = match attachment.load {
        Load::Clear([depth, ..]) => Load::Clear(depth),
        Load::Keep => Load::Keep,
        Load::Discard => Load::Discard,
    };
    DepthAttachment {
        read_only: attachment.kind == AccessKind::DepthRead,
        view: attachment.view,
        stencil: attachment.stencil,
        resolve: attachment.resolve.as_ref().map(|to| DepthResolve {
            image: &to.image,
            view: to.view,
            depth: to.modes[0],
            stencil: to.modes[1],
        }),
        ..DepthAttachment::new(image, load)
    }
}

fn is_target(kind: AccessKind) -> bool {
    use AccessKind::{
        ColorLocalRead, ColorTarget, DepthLocalRead, DepthRead, DepthTarget, Exactly,
    };
    match kind {
        ColorTarget | DepthTarget | DepthRead | ColorLocalRead | DepthLocalRead => true,
        Exactly(access) => exact::is_attachment(access),
        _ => false,
    }
}

fn not_a_target(attachment: &Attachment, name: &str) -> RecordError {
    RecordError::WrongUse {
        command: "render",
        resource: name.into(),
        declared: attachment.kind.name(),
        needed: AccessKind::ColorTarget.name(),
    }
}

fn check_part(recording: &mut SubRecording, image: &GpuImage, view: View, kind: &AccessKind) {
    recording.check_declared(Bound {
        resource: ResourceRef::Image(image),
        kind,
        stages: StageScope::Auto,
        view,
    });
}
