//! Uploads of CPU data to buffers and images.

mod mips;
mod resolve;
mod writes;

use bevy_ecs::prelude::*;
use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::Preference;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::states::{States, TimelinePoint};
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::Error;
use quadrille_vulkan::commands::{ColorAttachment, CommandList, Load, Rendering};
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, Handle, ImageRegion, ImageUsage,
};

use crate::data::internal::{InternalPass, InternalUse, copy_needs};
use crate::record::layout::{self, ShaderValue};
use writes::{Write, Writes};

/// Writes data to buffers and images at the beginning of the next frame, before all passes that
/// access them, and on a transfer queue if the device has one. [`Uploads::write`] takes shader types, the other
/// methods take bytes (see [`bytemuck`](crate::bytemuck)).
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::Uploads;
/// # use quadrille_vulkan::resources::GpuBuffer;
/// fn fill(mut uploads: ResMut<Uploads>, numbers: Res<Numbers>) {
///     let values = [0.5_f32, 1.0, 2.0];
///     uploads.write_buffer(&numbers.0, 0, bytemuck::cast_slice(&values));
/// }
/// # #[derive(Resource)] struct Numbers(GpuBuffer);
/// ```
#[derive(Resource, Default)]
pub struct Uploads {
    writes: Writes,
    /// Images that are cleared before the writes, unless they have contents.
    clears: Vec<GpuImage>,
    /// Images whose mip levels are generated after the writes.
    mips: Vec<GpuImage>,
    /// Scratch memory for the bytes of a written value.
    value: Vec<u8>,
    /// Errors of rejected writes.
    refused: Vec<Error>,
    staging: Vec<Staging>,
    demand: Demand,
}

/// Peak upload bytes of recent frames.
#[derive(Default)]
struct Demand {
    /// Peaks of the current window of frames and of the previous one.
    most: [usize; 2],
    frames: u32,
}

impl Demand {
    /// Number of frames in a window.
    const FRAMES: u32 = 128;

    /// Counts a frame. At the end of a window, returns the peak of the last two windows in bytes.
    fn count(&mut self, bytes: usize) -> Option<usize> {
        self.most[0] = self.most[0].max(bytes);
        self.frames += 1;
        if self.frames < Self::FRAMES {
            return None;
        }
        let [now, before] = self.most;
        *self = Self {
            most: [0, now],
            frames: 0,
        };
        Some(now.max(before))
    }
}

/// The id of a buffer that the host has written outside of passes ([`GpuBuffer::write`]).
#[inline]
pub(crate) fn host_written(handle: &Handle) -> Option<ResourceId> {
    match handle {
        Handle::Buffer(buffer) => buffer.is_host_written().then(|| buffer.id()),
        Handle::Image(_) => None,
    }
}

/// Imports host-written buffers to the states: they have contents although no pass wrote them. Submission makes host
/// writes visible (section "Host Write Ordering Guarantees").
pub(crate) fn import_host_writes(states: &mut States, written: impl Iterator<Item = ResourceId>) {
    for id in written {
        if !states.ever_written(id) {
            states.import(id, Layout::Undefined, None);
        }
    }
}

/// A staging buffer, and the timeline points after which it may be reused.
struct Staging {
    buffer: GpuBuffer,
    busy_until: Vec<TimelinePoint>,
}

impl Uploads {
    /// Writes bytes to a buffer with [`BufferUsage::TRANSFER_DST`], from `offset` bytes on.
    /// Later writes override earlier ones of the same frame.
    ///
    /// A write beyond the end, or to a buffer without that usage, is skipped and reported as an error of the next
    /// frame.
    ///
    /// [`BufferUsage::TRANSFER_DST`]: quadrille_vulkan::resources::BufferUsage::TRANSFER_DST
    pub fn write_buffer(&mut self, buffer: &GpuBuffer, offset: u64, bytes: &[u8]) {
        if self.push_bytes(buffer, offset, bytes) {
            buffer.set_layout(None);
        }
    }

    /// Queues bytes for writing. Returns whether the write is valid.
    fn push_bytes(&mut self, buffer: &GpuBuffer, offset: u64, bytes: &[u8]) -> bool {
        let length = bytes.len() as u64;
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > buffer.bytes()) {
            self.refused.push(Error::OutOfBounds {
                name: buffer.name().to_owned(),
                offset,
                length,
                bytes: buffer.bytes(),
            });
        } else if !buffer.desc().usage.contains(BufferUsage::TRANSFER_DST) {
            self.refused.push(Error::NotWritten {
                name: buffer.name().to_owned(),
                problem: NO_USAGE.to_owned(),
            });
        } else if !bytes.is_empty() {
            let to = Handle::Buffer(buffer.clone());
            self.writes.push_bytes(to, offset, bytes);
            return true;
        }
        false
    }

    /// Writes a value to a buffer in WGSL's memory layout, from `offset` bytes on: a struct that derives
    /// [`ShaderType`](crate::encase::ShaderType), a vector or matrix of [`glam`](crate::glam), or a
    /// `Vec` of such. `value.size()` is its size in bytes. Invalid writes are handled as in [`Uploads::write_buffer`].
    ///
    /// The memory layout of the value written at offset 0 is compared with the shaders that bind the buffer: different
    /// member offsets or element sizes are an error of the frame. Bytes have no type, so
    /// [`Uploads::write_buffer`] and [`GpuBuffer::write`] disable that comparison. The size of the buffer is always
    /// checked.
    ///
    /// ```
    /// # extern crate quadrille_ecs as quadrille;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::Uploads;
    /// # use quadrille_ecs::encase::ShaderType;
    /// # use quadrille_ecs::glam::{Mat4, Vec3};
    /// # use quadrille_vulkan::resources::GpuBuffer;
    /// /// `struct Light { sees: mat4x4f, color: vec3f }` of a shader.
    /// #[derive(ShaderType)]
    /// struct Light {
    ///     sees: Mat4,
    ///     color: Vec3,
    /// }
    ///
    /// fn shine(mut uploads: ResMut<Uploads>, light: Res<Sun>) {
    ///     let sun = Light { sees: Mat4::IDENTITY, color: Vec3::ONE };
    ///     uploads.write(&light.0, 0, &sun);
    /// }
    /// # #[derive(Resource)] struct Sun(GpuBuffer);
    /// ```
    pub fn write<T>(&mut self, buffer: &GpuBuffer, offset: u64, value: &T)
    where
        T: ShaderValue + ?Sized,
    {
        let mut bytes = std::mem::take(&mut self.value);
        bytes.clear();
        bytes.resize(value.size().get() as usize, 0);
        let layout = layout::write_noting(value, &mut bytes);
        if self.push_bytes(buffer, offset, &bytes) && offset == 0 && layout.is_some() {
            buffer.set_layout(layout);
        }
        self.value = bytes;
    }

    /// Copies bytes of a buffer with [`BufferUsage::TRANSFER_SRC`] to another one, at the beginning of
    /// the next frame. The copy is ordered with the other calls: it includes earlier writes, and later writes override
    /// it. Use it to grow a buffer whose contents the CPU no longer has.
    ///
    /// Ranges beyond the end of either buffer, a copy within one buffer, and buffers without their usage are skipped
    /// and reported as an error of the next frame.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::{GpuDevice, Uploads};
    /// # use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};
    /// fn grow(gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>, mut rows: ResMut<Rows>) -> Result {
    ///     let bytes = 2 * rows.0.bytes();
    ///     let larger = gpu.create_buffer(&BufferDesc { bytes, ..rows.0.desc().clone() })?;
    ///     uploads.copy_buffer((&rows.0, 0), (&larger, 0), rows.0.bytes());
    ///     rows.0 = larger;
    ///     Ok(())
    /// }
    /// # #[derive(Resource)] struct Rows(GpuBuffer);
    /// ```
    ///
    /// [`BufferUsage::TRANSFER_SRC`]: quadrille_vulkan::resources::BufferUsage::TRANSFER_SRC
    pub fn copy_buffer(&mut self, from: (&GpuBuffer, u64), to: (&GpuBuffer, u64), bytes: u64) {
        for (buffer, offset) in [from, to] {
            let end = offset.checked_add(bytes);
            if end.is_none_or(|end| end > buffer.bytes()) {
                self.refused.push(Error::OutOfBounds {
                    name: buffer.name().to_owned(),
                    offset,
                    length: bytes,
                    bytes: buffer.bytes(),
                });
                return;
            }
        }
        let problem = if from.0.id() == to.0.id() {
            Some("it is copied to itself; copy to another buffer")
        } else if !to.0.desc().usage.contains(BufferUsage::TRANSFER_DST) {
            Some(NO_USAGE)
        } else if !from.0.desc().usage.contains(BufferUsage::TRANSFER_SRC) {
            Some(
                "the buffer that it is copied from was made without the usage TRANSFER_SRC; add it to \
                 that one's description",
            )
        } else {
            None
        };
        match problem {
            Some(problem) => self.refused.push(Error::NotWritten {
                name: to.0.name().to_owned(),
                problem: problem.to_owned(),
            }),
            None if bytes > 0 => {
                to.0.set_layout(None);
                let to = (Handle::Buffer(to.0.clone()), to.1);
                self.writes.push_copy(from, to, bytes);
            }
            None => {}
        }
    }

    /// Writes all texels of the first mip level of an image, layer by layer, row by row, without
    /// padding.
    pub fn write_image(&mut self, image: &GpuImage, texels: &[u8]) {
        self.write_image_region(image, ImageRegion::whole(image), texels);
    }

    /// Writes the texels of a region of an image, layer by layer, row by row, without padding.
    /// Later writes override earlier ones of the same frame.
    ///
    /// A region outside the image, or a number of bytes that differs from the region's size, is skipped and reported
    /// as an error of the next frame.
    pub fn write_image_region(&mut self, image: &GpuImage, region: ImageRegion, texels: &[u8]) {
        match problem(image, &region, texels.len() as u64) {
            Some(problem) => self.refused.push(Error::NotWritten {
                name: image.name().to_owned(),
                problem,
            }),
            None => {
                let to = Handle::Image(image.clone());
                self.writes.push_texels(to, region, texels);
            }
        }
    }

    /// Clears the first layer of the first mip level of an image to transparent black at the beginning of the
    /// next frame, before everything else, unless the image has contents. Then the first pass may use load operation
    /// `LOAD`. The image needs the usage [`COLOR_ATTACHMENT`](quadrille_vulkan::resources::ImageUsage::COLOR_ATTACHMENT).
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::Uploads;
    /// # use quadrille_vulkan::resources::GpuImage;
    /// fn keep(mut uploads: ResMut<Uploads>, trails: Res<Trails>) {
    ///     uploads.clear_if_new(&trails.0);
    /// }
    /// # #[derive(Resource)] struct Trails(GpuImage);
    /// ```
    pub fn clear_if_new(&mut self, image: &GpuImage) {
        if !self.clears.contains(image) {
            self.clears.push(image.clone());
        }
    }

    /// Generates all mip levels of an image from its first one, after the writes of the next frame. Each
    /// level is the previous one at half width and height, filtered in linear light for sRGB formats.
    /// With even sizes a texel is the mean of four; with odd sizes it is the area-weighted mean of all texels that it
    /// covers (with an error of up to 1/12 if three texels become one, else 1/25).
    ///
    /// An image without the usages TRANSFER_SRC and TRANSFER_DST, or with a format for which
    /// [`Gpu::can_scale`](quadrille_vulkan::device::Gpu::can_scale) is false, is an error of a later frame,
    /// and keeps its mip levels.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::Uploads;
    /// # use quadrille_vulkan::resources::GpuImage;
    /// fn fill(mut uploads: ResMut<Uploads>, bricks: Res<Bricks>) {
    ///     let [width, height, _] = bricks.0.extent();
    ///     uploads.write_image(&bricks.0, &vec![255; (4 * width * height) as usize]);
    ///     uploads.generate_mips(&bricks.0);
    /// }
    /// # #[derive(Resource)] struct Bricks(GpuImage);
    /// ```
    pub fn generate_mips(&mut self, image: &GpuImage) {
        let is_new = self.mips.iter().all(|known| known.id() != image.id());
        if image.desc().mip_levels > 1 && is_new {
            self.mips.push(image.clone());
        }
    }

    /// Number of bytes queued for the next frame.
    pub fn pending_bytes(&self) -> usize {
        self.writes.data.len()
    }

    /// Takes the errors of writes since the last call.
    pub(crate) fn take_refused(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.refused)
    }

    /// Returns the passes that clear images without contents, copy queued writes (one pass per step; later steps exist
    /// only where writes overlap), and generate mip levels.
    pub(crate) fn passes(
        &mut self,
        gpu: &Gpu,
        states: &States,
        reached: impl Fn(TimelinePoint) -> bool,
    ) -> Result<Vec<InternalPass>, Error> {
        self.clears.retain(|image| {
            Handle::from(image.clone()).is_of(gpu) && !states.ever_written(image.id())
        });
        let mut passes: Vec<InternalPass> = self.clears.iter().map(clear).collect();
        passes.extend(self.copies(gpu, reached)?);
        let refused = &mut self.refused;
        self.mips.retain(|image| match mips::problem(gpu, image) {
            None => true,
            Some(problem) => {
                let name = image.name().to_owned();
                refused.push(Error::NotWritten { name, problem });
                false
            }
        });
        passes.extend(mips::passes(gpu, &self.mips)?);
        Ok(passes)
    }

    /// Returns the copy passes, one per step.
    fn copies(
        &mut self,
        gpu: &Gpu,
        reached: impl Fn(TimelinePoint) -> bool,
    ) -> Result<Vec<InternalPass>, Error> {
        if self.writes.list.is_empty() {
            return Ok(Vec::new());
        }
        self.writes.list.retain(|write| {
            let is_ours = write.to.is_of(gpu)
                && write
                    .from
                    .as_ref()
                    .is_none_or(|from| Handle::from(from.clone()).is_of(gpu));
            if !is_ours {
                tracing::warn!(
                    "{} is not filled: it was made from another device",
                    write.to.name()
                );
            }
            is_ours
        });
        self.writes.resolve();
        let staging = self.staging(gpu, reached)?;
        staging.write(0, &self.writes.data)?;
        let steps = self.writes.steps().enumerate();
        Ok(steps
            .map(|(step, writes)| pass(gpu, step, writes, &staging))
            .collect())
    }

    /// Marks the frame with the pending copies as submitted: its staging buffer may be reused once these points are
    /// reached.
    pub(crate) fn submitted(&mut self, points: &[TimelinePoint]) {
        self.clears.clear();
        self.mips.clear();
        let demand = self.demand.count(self.writes.data.len());
        if !self.writes.list.is_empty() {
            self.writes.clear();
            if let Some(used) = self.staging.last_mut() {
                used.busy_until = points.to_vec();
            }
        }
        if let Some(most) = demand {
            // Dropping a buffer in use defers its destruction, so large ones may be dropped here.
            let most = 2 * staging_bytes(most as u64);
            self.staging.retain(|it| it.buffer.bytes() <= most);
            self.writes.data.shrink_to(most as usize);
        }
    }

    /// Returns a free staging buffer that is large enough, and moves it to the end of the list.
    fn staging(
        &mut self,
        gpu: &Gpu,
        reached: impl Fn(TimelinePoint) -> bool,
    ) -> Result<GpuBuffer, Error> {
        let bytes = self.writes.data.len() as u64;
        let fits = |staging: &Staging| {
            staging.buffer.bytes() >= bytes && staging.busy_until.iter().all(|&p| reached(p))
        };
        let free = self.staging.iter().position(fits);
        let staging = match free {
            Some(index) => self.staging.remove(index),
            None => {
                // Free buffers that are too small are dropped.
                self.staging
                    .retain(|staging| !staging.busy_until.iter().all(|&p| reached(p)));
                let desc = BufferDesc::upload("staging", staging_bytes(bytes));
                Staging {
                    buffer: gpu.create_buffer(&desc)?,
                    busy_until: Vec::new(),
                }
            }
        };
        let buffer = staging.buffer.clone();
        self.staging.push(staging);
        Ok(buffer)
    }
}

/// Size of a staging buffer for this number of bytes.
fn staging_bytes(bytes: u64) -> u64 {
    bytes.next_power_of_two().max(64 << 10)
}

const NO_USAGE: &str = "it was made without the usage TRANSFER_DST; add it to its description";

/// Describes why a texel write is invalid; `None` if it is valid.
fn problem(image: &GpuImage, region: &ImageRegion, given: u64) -> Option<String> {
    let format = image.format();
    if !region.is_within(image) {
        let [width, height, depth] = image.extent();
        let (levels, layers) = (image.desc().mip_levels, image.desc().array_layers);
        return Some(format!(
            "{region:?} is to be written, which is not within its {width}x{height}x{depth} texels, \
             {levels} mip levels and {layers} layers"
        ));
    }
    let [width, height, depth] = region.extent;
    let layers = region.layer_count;
    let part = format!("{width}x{height}x{depth} texels of {format:?} on {layers} layers");
    if !image.desc().usage.contains(ImageUsage::TRANSFER_DST) {
        return Some(NO_USAGE.to_owned());
    }
    if image.desc().samples > 1 {
        return Some("it has several samples; only draws write those".to_owned());
    }
    match region.bytes(format) {
        Some(bytes) if bytes == given => None,
        Some(bytes) => Some(format!(
            "{given} bytes are given for {part}, which take {bytes}"
        )),
        None => Some(format!(
            "{part} have no size in bytes and cannot be uploaded"
        )),
    }
}

/// Creates the pass that clears one image.
fn clear(image: &GpuImage) -> InternalPass {
    let mut list = CommandList::default();
    list.begin_rendering(&Rendering {
        colors: &[ColorAttachment::new(image, Load::Clear([0.0; 4]))],
        ..Rendering::default()
    });
    list.end_rendering();
    let used = InternalUse::of(image.clone().into(), Access::ColorAttachmentWrite).discarding();
    let needs = (Capabilities::GRAPHICS, Preference::Main);
    InternalPass::prologue(format!("clear {}", image.name()), needs, vec![used], list)
}

/// Creates the copy pass of one step. The writes are sorted by resource.
fn pass(gpu: &Gpu, step: usize, writes: &[Write], staging: &GpuBuffer) -> InternalPass {
    let mut list = CommandList::default();
    let mut uses: Vec<InternalUse> = Vec::new();
    let mut required = Capabilities::TRANSFER;
    for of_one in writes.chunk_by(|one, next| one.to.id() == next.to.id()) {
        for write in of_one {
            required |= copy(gpu, write, staging, &mut list);
        }
        let to = &of_one[0].to;
        let used = InternalUse::of(to.clone(), Access::TransferWrite);
        uses.push(match to {
            Handle::Image(image) if is_overwritten(image, of_one) => used.discarding(),
            _ => used,
        });
    }
    let mut sources: Vec<&GpuBuffer> = writes.iter().filter_map(|it| it.from.as_ref()).collect();
    sources.sort_unstable_by_key(|from| from.id());
    sources.dedup_by_key(|from| from.id());
    let read = |from: &GpuBuffer| InternalUse::of(from.clone().into(), Access::TransferRead);
    uses.extend(sources.into_iter().map(read));
    let name = match step {
        0 => "upload".to_owned(),
        step => format!("upload {}", step + 1),
    };
    InternalPass {
        undeclared: vec![Handle::Buffer(staging.clone())],
        ..InternalPass::prologue(name, (required, Preference::Async), uses, list)
    }
}

/// Records one copy, and returns the queue capabilities that it needs.
fn copy(gpu: &Gpu, write: &Write, staging: &GpuBuffer, list: &mut CommandList) -> Capabilities {
    let offset = write.data_offset as u64;
    match (&write.to, write.region) {
        (Handle::Image(image), Some(region)) => {
            let part = Some(&region).filter(|part| !gpu.copies_anywhere(image, part));
            list.copy_buffer_to_image(staging, offset, image, region);
            copy_needs(image, part)
        }
        (Handle::Buffer(buffer), _) => {
            let bytes = write.bytes as u64;
            let from = write.from.as_ref().unwrap_or(staging);
            list.copy_buffer(from, offset, buffer, write.to_offset, bytes);
            Capabilities::TRANSFER
        }
        (Handle::Image(_), None) => Capabilities::TRANSFER,
    }
}

/// Whether the writes of an image overwrite all of its contents.
fn is_overwritten(image: &GpuImage, writes: &[Write]) -> bool {
    (0..image.desc().mip_levels).all(|mip| {
        let whole = Some(ImageRegion::mip(image, mip));
        writes.iter().any(|write| write.region == whole)
    })
}

#[cfg(test)]
mod tests;
