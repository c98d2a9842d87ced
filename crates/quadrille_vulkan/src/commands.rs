//! Commands as data: what a pass does, written down without a Vulkan call.
//!
//! A list is cheap to write (no allocation once its memory has grown, no lock, no Vulkan call), it
//! can be written on any thread before it is known where and when the pass runs, it can be thrown
//! away if the pass fails, and it can be checked. [`Frames::record`](crate::Frames::record)
//! translates lists into command buffers in the order of the plan.
//!
//! Commands name resources by id. Translation looks every id up among the resources of the frame,
//! so a list that names something else is an error and never a dangling handle. Pipelines and
//! samplers, which frames do not declare, are kept alive by the list.
//!
//! Bindings stay bound until they are bound again; they are pushed to the device lazily, before a
//! draw or dispatch, and only those that the pipeline has. State (pipeline, bindings, constants,
//! viewport) begins empty in each list.
//!
//! A list that is written again is compared with what it held, so that it knows whether it came out
//! the same ([`CommandList::repeated`]); then nothing needs to be translated.

pub(crate) mod rendering;

mod command;
mod declared;
mod error;
mod interned;
mod rewritten;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;

use crate::commands::rendering::{Rendering, RenderingData};
use crate::device::Device;
use crate::pipeline::{ComputeCode, ComputePipeline, GraphicsCode, GraphicsPipeline};
use crate::prefetch;
use crate::resources::buffer::GpuBuffer;
use crate::resources::image::GpuImage;
use crate::resources::region::ImageRegion;
use crate::resources::sampler::Sampler;
use crate::resources::table::SharedTable;
use crate::resources::view::View;

pub(crate) use command::{Area, Bind, Command, Copying, Counted, Draw};
pub use declared::Excess;
pub use error::CommandError;

pub(crate) use interned::Keep;

use interned::Interned;
use rewritten::Rewritten;

/// Closures that call Vulkan themselves: `CommandList::raw`.
pub type RawCommand = Box<dyn Fn(&ash::Device, vk::CommandBuffer) + Send + Sync>;

/// The type of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexType {
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
}

/// How many commands lie in a list itself, where they come from memory with it: a pipeline, four
/// bindings and a dispatch.
const FEW: usize = 6;

/// What a pass does. Clearing keeps the memory.
///
/// ```
/// use quadrille_vulkan::CommandList;
/// let mut list = CommandList::default();
/// list.dispatch([8, 8, 1]);
/// assert!(!list.is_empty());
/// list.clear();
/// assert!(list.is_empty());
/// ```
pub struct CommandList {
    pub(crate) commands: Rewritten<Command, FEW>,
    pub(crate) compute: Interned<Arc<ComputeCode>>,
    /// `side` is not empty. Kept here, so that clearing a small list touches nothing else.
    has_side: bool,
    writing: Writing,
    side: Box<Side>,
}

/// Which list, and which of the contents that it has had: two of them are equal only where list
/// and contents are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writing {
    list: u32,
    contents: u32,
}

/// Tells lists apart.
static LISTS: AtomicU32 = AtomicU32::new(0);

impl Default for CommandList {
    fn default() -> Self {
        Self {
            commands: Rewritten::default(),
            compute: Interned::default(),
            has_side: false,
            writing: Writing {
                list: LISTS.fetch_add(1, Ordering::Relaxed),
                contents: 0,
            },
            side: Box::default(),
        }
    }
}

/// What few commands have, apart from the list, which stays small.
#[derive(Default)]
pub(crate) struct Side {
    /// Push constants, inline updates and label names.
    pub(crate) bytes: Rewritten<u8>,
    /// Offsets and sizes of buffers that are not bound as a whole.
    pub(crate) ranges: Rewritten<[u64; 2]>,
    pub(crate) areas: Rewritten<Area>,
    pub(crate) draws: Rewritten<Draw>,
    pub(crate) counted: Rewritten<Counted>,
    pub(crate) copies: Rewritten<Copying>,
    pub(crate) renderings: Rewritten<RenderingData>,
    pub(crate) buffer_copies: Rewritten<[u64; 3]>,
    pub(crate) buffer_image_copies: Rewritten<(u64, ImageRegion)>,
    pub(crate) image_copies: Rewritten<(ImageRegion, ImageRegion)>,
    pub(crate) raw: Vec<RawCommand>,
    pub(crate) graphics: Interned<Arc<GraphicsCode>>,
    pub(crate) samplers: Interned<Sampler>,
    pub(crate) tables: Interned<SharedTable>,
}

impl Side {
    /// Forgets everything; whether objects are kept all the same, to be let go the next time.
    fn clear(&mut self) -> bool {
        self.bytes.clear();
        self.ranges.clear();
        self.areas.clear();
        self.draws.clear();
        self.counted.clear();
        self.copies.clear();
        self.renderings.clear();
        self.buffer_copies.clear();
        self.buffer_image_copies.clear();
        self.image_copies.clear();
        self.raw.clear();
        self.graphics.clear();
        self.samplers.clear();
        self.tables.clear();
        !(self.graphics.is_empty() && self.samplers.is_empty() && self.tables.is_empty())
    }

    /// Whether everything is what it was before it was cleared last. Closures cannot be compared.
    fn is_repeated(&self) -> bool {
        self.raw.is_empty()
            && self.renderings.is_repeated()
            && self.bytes.is_repeated()
            && self.ranges.is_repeated()
            && self.areas.is_repeated()
            && self.draws.is_repeated()
            && self.counted.is_repeated()
            && self.copies.is_repeated()
            && self.buffer_copies.is_repeated()
            && self.buffer_image_copies.is_repeated()
            && self.image_copies.is_repeated()
            && self.graphics.is_repeated()
            && self.samplers.is_repeated()
            && self.tables.is_repeated()
    }
}

impl CommandList {
    /// Forgets the commands and keeps the memory. Pipelines and samplers are kept too, until the
    /// next time: the next recording mostly uses them again.
    #[inline]
    pub fn clear(&mut self) {
        if !self.is_repeated() {
            self.writing.contents = self.writing.contents.wrapping_add(1);
        }
        self.commands.clear();
        self.compute.clear();
        if self.has_side {
            self.has_side = self.side.clear();
        }
    }

    /// Has the processor fetch what [`CommandList::repeated`] looks at.
    #[inline]
    pub(crate) fn fetch(&self) {
        prefetch::lines(
            std::ptr::from_ref(self).cast(),
            const { size_of::<Self>().div_ceil(prefetch::LINE) },
        );
    }

    /// What the list holds, if that is what it held before it was cleared last. Then it is equal
    /// as long as the list holds the same.
    #[inline]
    pub(crate) fn repeated(&self) -> Option<Writing> {
        self.is_repeated().then_some(self.writing)
    }

    #[inline]
    fn is_repeated(&self) -> bool {
        self.commands.is_repeated()
            && self.compute.is_repeated()
            && (!self.has_side || self.side.is_repeated())
    }

    /// The side arrays.
    pub(crate) fn side(&self) -> &Side {
        &self.side
    }

    /// The side arrays, which are about to be written.
    fn side_mut(&mut self) -> &mut Side {
        self.has_side = true;
        &mut self.side
    }

    #[inline(always)]
    fn add(&mut self, command: Command) {
        match self.commands.expected() {
            Some(old) if old.is_same(&command) => self.commands.keep(),
            _ => self.commands.write(command),
        }
    }

    /// The name of a pipeline or sampler that was made from another device, if there is one.
    pub(crate) fn foreign(&self, device: &Device) -> Option<&str> {
        let is_foreign = |own: &Device| !std::ptr::eq(own, device);
        let mut compute = self.compute.iter();
        let mut graphics = self.side.graphics.iter();
        let mut samplers = self.side.samplers.iter();
        if let Some(pipeline) = compute.find(|pipeline| is_foreign(pipeline.device())) {
            return Some(pipeline.name());
        }
        if let Some(pipeline) = graphics.find(|pipeline| is_foreign(pipeline.device())) {
            return Some(pipeline.name());
        }
        let mut tables = self.side.tables.iter();
        if let Some(table) = tables.find(|table| !table.is_made_from(device)) {
            return Some(table.name());
        }
        samplers
            .any(|sampler| is_foreign(sampler.device()))
            .then_some("a sampler")
    }

    /// Whether there are no commands.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// The number of commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Begins to draw to attachments (section "Render Pass Objects", dynamic rendering). Viewport
    /// and scissor are the whole area until they are set.
    pub fn begin_rendering(&mut self, rendering: &Rendering<'_>) {
        let data = self.side.renderings.len() as u32;
        self.side_mut()
            .renderings
            .push(RenderingData::new(rendering));
        self.add(Command::BeginRendering { data });
    }

    /// Ends drawing to the attachments.
    pub fn end_rendering(&mut self) {
        self.add(Command::EndRendering);
    }

    /// Sets the pipeline of the dispatches that follow.
    #[inline]
    pub fn bind_compute(&mut self, pipeline: &ComputePipeline) {
        let pipeline = self.compute.index(pipeline.live());
        self.add(Command::Bind(Bind::Compute { pipeline }));
    }

    /// Sets the pipeline of the draws that follow.
    pub fn bind_graphics(&mut self, pipeline: &GraphicsPipeline) {
        let pipeline = self.side_mut().graphics.index(pipeline.live());
        self.add(Command::Bind(Bind::Graphics { pipeline }));
    }

    /// Binds a range of a buffer as `@group(0) @binding(binding)`, a storage or a uniform buffer as
    /// the pipeline has it. A `size` of 0 means up to the end.
    #[inline]
    pub fn bind_buffer(&mut self, binding: u32, buffer: &GpuBuffer, offset: u64, size: u64) {
        let range = match (offset, size) {
            (0, 0) => Bind::WHOLE,
            part => self.add_range(part),
        };
        let (binding, buffer) = (narrow(binding), buffer.id());
        self.add(Command::Bind(Bind::Buffer {
            binding,
            buffer,
            range,
        }));
    }

    /// Keeps the range of a buffer that is not bound as a whole, and says where.
    fn add_range(&mut self, (offset, size): (u64, u64)) -> u32 {
        let ranges = &mut self.side_mut().ranges;
        ranges.push([offset, size]);
        ranges.len() as u32 - 1
    }

    /// Offset and size of a bound range, in bytes; a size of 0 means up to the end.
    #[inline]
    pub(crate) fn range(&self, range: u32) -> [u64; 2] {
        match range {
            Bind::WHOLE => [0, 0],
            part => self.side().ranges[part as usize],
        }
    }

    /// Binds a whole image for sampling and loading.
    #[inline]
    pub fn bind_image_sampled(&mut self, binding: u32, image: &GpuImage) {
        self.bind_view_sampled(binding, image, View::WHOLE);
    }

    /// Binds a part of an image for sampling and loading.
    #[inline]
    pub fn bind_view_sampled(&mut self, binding: u32, image: &GpuImage, view: View) {
        let (binding, image) = (narrow(binding), image.id());
        self.add(Command::Bind(Bind::Image {
            binding,
            storage: false,
            image,
            view,
        }));
    }

    /// Binds an image as a storage image.
    #[inline]
    pub fn bind_image_storage(&mut self, binding: u32, image: &GpuImage) {
        self.bind_view_storage(binding, image, View::WHOLE);
    }

    /// Binds a part of an image as a storage image.
    #[inline]
    pub fn bind_view_storage(&mut self, binding: u32, image: &GpuImage, view: View) {
        let (binding, image) = (narrow(binding), image.id());
        self.add(Command::Bind(Bind::Image {
            binding,
            storage: true,
            image,
            view,
        }));
    }

    /// Binds a sampler.
    pub fn bind_sampler(&mut self, binding: u32, sampler: &Sampler) {
        let sampler = self.side_mut().samplers.index(sampler);
        self.add(Command::Bind(Bind::Sampler {
            binding: narrow(binding),
            sampler,
        }));
    }

    /// Binds a table of images as a group, from 1 on.
    pub fn bind_table(&mut self, group: u32, table: &SharedTable) {
        let table = self.side_mut().tables.index(table);
        self.add(Command::Bind(Bind::Table {
            group: narrow(group),
            table,
        }));
    }

    /// The tables that it binds.
    pub fn tables(&self) -> impl Iterator<Item = &SharedTable> {
        let tables = self.has_side.then(|| self.side.tables.iter());
        tables.into_iter().flatten()
    }

    /// Sets the push constants from their first byte on: `var<immediate>` in WGSL. At most
    /// [`CommandList::MAX_PUSH_CONSTANTS`] bytes; more is told when the list is translated.
    pub fn push_constants(&mut self, data: &[u8]) {
        let start = self.side.bytes.len() as u32;
        let kept = &data[..data.len().min(u16::MAX.into())];
        self.side_mut().bytes.extend_from_slice(kept);
        self.add(Command::Bind(Bind::Constants {
            start,
            bytes: kept.len() as u16,
        }));
    }

    /// The bytes of push constants that every device has.
    pub const MAX_PUSH_CONSTANTS: usize = 128;

    /// Sets the viewport: left, top, width and height in pixels.
    pub fn viewport(&mut self, area: [f32; 4]) {
        self.area(Area::Viewport(area.map(f32::to_bits)));
    }

    /// Sets the scissor: left, top, width and height in pixels.
    pub fn scissor(&mut self, area: [u32; 4]) {
        self.area(Area::Scissor(area));
    }

    fn area(&mut self, area: Area) {
        let areas = &mut self.side_mut().areas;
        areas.push(area);
        let area = areas.len() as u32 - 1;
        self.add(Command::Area { area });
    }

    /// Sets the vertex buffer of a slot.
    pub fn vertex_buffer(&mut self, slot: u32, buffer: &GpuBuffer, offset: u64) {
        let (slot, buffer) = (narrow(slot), buffer.id());
        self.add(Command::Bind(Bind::Vertices {
            slot,
            buffer,
            offset: offset.into(),
        }));
    }

    /// Sets the index buffer.
    pub fn index_buffer(&mut self, buffer: &GpuBuffer, offset: u64, kind: IndexType) {
        self.add(Command::Bind(Bind::Indices {
            buffer: buffer.id(),
            offset: offset.into(),
            kind,
        }));
    }

    /// Draws.
    pub fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        let (vertices, instances) = (first_count(vertices), first_count(instances));
        self.add_draw(Draw::Plain {
            vertices,
            instances,
        });
    }

    /// Draws through the index buffer.
    pub fn draw_indexed(&mut self, indices: Range<u32>, base_vertex: i32, instances: Range<u32>) {
        let (indices, instances) = (first_count(indices), first_count(instances));
        self.add_draw(Draw::Indexed {
            indices,
            base_vertex,
            instances,
        });
    }

    /// Draws `count` times with arguments from a buffer (`VkDrawIndirectCommand`), `stride` bytes
    /// apart.
    pub fn draw_indirect(&mut self, buffer: &GpuBuffer, offset: u64, count: u32, stride: u32) {
        let buffer = buffer.id();
        self.add_draw(Draw::Indirect {
            buffer,
            offset,
            count,
            stride,
        });
    }

    /// Draws `count` times through the index buffer with arguments from a buffer
    /// (`VkDrawIndexedIndirectCommand`), `stride` bytes apart.
    pub fn draw_indexed_indirect(
        &mut self,
        buffer: &GpuBuffer,
        offset: u64,
        count: u32,
        stride: u32,
    ) {
        let buffer = buffer.id();
        self.add_draw(Draw::IndexedIndirect {
            buffer,
            offset,
            count,
            stride,
        });
    }

    /// Draws with arguments from a buffer (`VkDrawIndirectCommand`), `stride` bytes apart, as often as
    /// the `u32` at `count.1` of the buffer `count.0` says, and at most `most` times.
    pub fn draw_indirect_count(
        &mut self,
        arguments: (&GpuBuffer, u64),
        count: (&GpuBuffer, u64),
        most: u32,
        stride: u32,
    ) {
        self.add_counted(arguments, count, [most, stride], false);
    }

    /// The same through the index buffer (`VkDrawIndexedIndirectCommand`).
    pub fn draw_indexed_indirect_count(
        &mut self,
        arguments: (&GpuBuffer, u64),
        count: (&GpuBuffer, u64),
        most: u32,
        stride: u32,
    ) {
        self.add_counted(arguments, count, [most, stride], true);
    }

    fn add_counted(
        &mut self,
        (buffer, offset): (&GpuBuffer, u64),
        (counts, count_offset): (&GpuBuffer, u64),
        [most, stride]: [u32; 2],
        indexed: bool,
    ) {
        let all = &mut self.side_mut().counted;
        all.push(Counted {
            buffer: buffer.id(),
            offset,
            counts: counts.id(),
            count_offset,
            most,
            stride,
            indexed,
        });
        let counted = all.len() as u32 - 1;
        self.add_draw(Draw::Counted { counted });
    }

    fn add_draw(&mut self, draw: Draw) {
        let draws = &mut self.side_mut().draws;
        draws.push(draw);
        let draw = draws.len() as u32 - 1;
        self.add(Command::Draw { draw });
    }

    /// Runs so many workgroups in each direction.
    #[inline]
    pub fn dispatch(&mut self, groups: [u32; 3]) {
        self.add(Command::Dispatch { groups });
    }

    /// Runs as many workgroups as a buffer says (`VkDispatchIndirectCommand`).
    pub fn dispatch_indirect(&mut self, buffer: &GpuBuffer, offset: u64) {
        self.add(Command::DispatchIndirect {
            buffer: buffer.id(),
            offset: offset.into(),
        });
    }

    fn add_copy(&mut self, copy: Copying) {
        let copies = &mut self.side_mut().copies;
        copies.push(copy);
        let copy = copies.len() as u32 - 1;
        self.add(Command::Copy { copy });
    }

    /// Copies bytes between buffers.
    pub fn copy_buffer(
        &mut self,
        src: &GpuBuffer,
        src_offset: u64,
        dst: &GpuBuffer,
        dst_offset: u64,
        bytes: u64,
    ) {
        let copy = self.side.buffer_copies.len() as u32;
        self.side_mut()
            .buffer_copies
            .push([src_offset, dst_offset, bytes]);
        self.add_copy(Copying::Buffer {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies tightly packed texels from a buffer to a part of an image.
    pub fn copy_buffer_to_image(
        &mut self,
        src: &GpuBuffer,
        src_offset: u64,
        dst: &GpuImage,
        region: ImageRegion,
    ) {
        let copy = self.side.buffer_image_copies.len() as u32;
        self.side_mut()
            .buffer_image_copies
            .push((src_offset, region));
        self.add_copy(Copying::BufferToImage {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies a part of an image to a buffer, tightly packed.
    pub fn copy_image_to_buffer(
        &mut self,
        src: &GpuImage,
        region: ImageRegion,
        dst: &GpuBuffer,
        dst_offset: u64,
    ) {
        let copy = self.side.buffer_image_copies.len() as u32;
        self.side_mut()
            .buffer_image_copies
            .push((dst_offset, region));
        self.add_copy(Copying::ImageToBuffer {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies a part of an image to a part of another of equal extent.
    pub fn copy_image(
        &mut self,
        src: &GpuImage,
        src_region: ImageRegion,
        dst: &GpuImage,
        dst_region: ImageRegion,
    ) {
        let copy = self.side.image_copies.len() as u32;
        self.side_mut().image_copies.push((src_region, dst_region));
        self.add_copy(Copying::Image {
            src: src.id(),
            dst: dst.id(),
            copy,
        });
    }

    /// Copies a part of an image to a part of another, scaled and converted.
    pub fn blit_image(
        &mut self,
        src: &GpuImage,
        src_region: ImageRegion,
        dst: &GpuImage,
        dst_region: ImageRegion,
        filter: vk::Filter,
    ) {
        let copy = self.side.image_copies.len() as u32;
        self.side_mut().image_copies.push((src_region, dst_region));
        let linear = filter == vk::Filter::LINEAR;
        self.add_copy(Copying::Blit {
            src: src.id(),
            dst: dst.id(),
            copy,
            linear,
        });
    }

    /// Fills bytes of a buffer with a repeated value; offset and length are multiples of 4. A
    /// length of 0 means up to the end.
    pub fn fill_buffer(&mut self, dst: &GpuBuffer, offset: u64, bytes: u64, value: u32) {
        let range = self.side.buffer_copies.len() as u32;
        self.side_mut().buffer_copies.push([0, offset, bytes]);
        self.add_copy(Copying::Fill {
            dst: dst.id(),
            value,
            range,
        });
    }

    /// Writes a few bytes to a buffer from the command buffer itself: at most 65536; offset and
    /// length are multiples of 4.
    pub fn update_buffer(&mut self, dst: &GpuBuffer, offset: u64, data: &[u8]) {
        let start = self.side.bytes.len() as u32;
        self.side_mut().bytes.extend_from_slice(data);
        let (dst, bytes) = (dst.id(), data.len() as u32);
        self.add_copy(Copying::Update {
            dst,
            offset,
            start,
            bytes,
        });
    }

    /// Clears all of a colour image. Integer formats get the colour rounded towards zero.
    pub fn clear_image(&mut self, image: &GpuImage, color: [f32; 4]) {
        self.clear_view(image, View::WHOLE, color);
    }

    /// Clears a part of a colour image.
    pub fn clear_view(&mut self, image: &GpuImage, view: View, color: [f32; 4]) {
        self.add_copy(Copying::Clear {
            image: image.id(),
            view,
            color: color.map(f32::to_bits),
        });
    }

    /// Opens a label in debuggers.
    pub fn begin_label(&mut self, name: &str) {
        let start = self.side.bytes.len() as u32;
        self.side_mut().bytes.extend_from_slice(name.as_bytes());
        self.add(Command::BeginLabel {
            start,
            bytes: name.len() as u32,
        });
    }

    /// Closes the innermost label.
    pub fn end_label(&mut self) {
        self.add(Command::EndLabel);
    }

    /// Calls Vulkan itself while the list is translated. Pipeline, bindings, constants, viewport
    /// and scissor are set anew after it.
    ///
    /// # Safety
    /// Whenever the list is translated, what the closure records is valid in the command buffer
    /// at this place, touches only what the pass declares, in the declared ways, and leaves
    /// rendering begun or ended as it was. The closure neither ends nor resets the command buffer.
    pub unsafe fn raw(&mut self, closure: RawCommand) {
        let index = self.side.raw.len() as u32;
        self.side_mut().raw.push(closure);
        self.add(Command::Raw { closure: index });
    }
}

impl std::fmt::Debug for CommandList {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_list()
            .entries(self.commands.iter())
            .finish()
    }
}

/// Bindings and slots as small as commands keep them; what does not fit is above all limits.
fn narrow(binding: u32) -> u8 {
    u8::try_from(binding).unwrap_or(u8::MAX)
}

fn first_count(range: Range<u32>) -> [u32; 2] {
    [range.start, range.end.saturating_sub(range.start)]
}

#[cfg(test)]
mod tests;
