//! Recorded commands with barriers.

use ash::vk;

use crate::dispatch::chain::slice;
use crate::state::barriers::{ImageBarrier, Mapping, rewrite_buffers, rewrite_images};
use crate::state::device::Device;
use crate::state::registry::device_of;

/// The barriers of a `VkDependencyInfo`, rewritten.
struct Dependency<'a> {
    original: &'a vk::DependencyInfo<'a>,
    buffers: Vec<vk::BufferMemoryBarrier2<'a>>,
    images: Vec<vk::ImageMemoryBarrier2<'a>>,
    transfers: usize,
}

impl<'a> Dependency<'a> {
    /// # Safety
    /// `original` and everything it points to must be valid.
    unsafe fn new(original: &'a vk::DependencyInfo<'a>, mapping: Mapping) -> Self {
        // SAFETY: valid by the caller's contract.
        let buffers = unsafe {
            slice(
                original.p_buffer_memory_barriers,
                original.buffer_memory_barrier_count,
            )
        };
        // SAFETY: as above.
        let images = unsafe {
            slice(
                original.p_image_memory_barriers,
                original.image_memory_barrier_count,
            )
        };
        let (buffers, buffer_transfers) = rewrite_buffers(buffers, mapping);
        let (images, image_transfers) = rewrite_images(images, mapping);
        Self {
            original,
            buffers,
            images,
            transfers: buffer_transfers + image_transfers,
        }
    }

    /// Returns the rewritten structure for the driver.
    fn info(&self) -> vk::DependencyInfo<'_> {
        (*self.original)
            .buffer_memory_barriers(&self.buffers)
            .image_memory_barriers(&self.images)
    }
}

impl Device {
    fn mapping(&self, buffer: vk::CommandBuffer) -> Mapping {
        Mapping {
            own: self.pools.family(buffer),
            real: self.driver.family,
        }
    }

    /// Clears images to garbage if these barriers discard their contents. Returns whether there were any.
    ///
    /// # Safety
    /// `buffer` must be recording, outside of a render pass instance.
    unsafe fn discard<B: ImageBarrier>(&self, buffer: vk::CommandBuffer, images: &mut [B]) -> bool {
        let Some(poison) = &self.poison else {
            return false;
        };
        // SAFETY: by the caller's contract.
        unsafe { poison.discard(&self.driver, buffer, images) }
    }
}

/// `vkCmdPipelineBarrier2`.
pub(crate) unsafe extern "system" fn pipeline_barrier2(
    buffer: vk::CommandBuffer,
    info: *const vk::DependencyInfo<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(buffer) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    // SAFETY: as above.
    let mut dependency = unsafe { Dependency::new(info, device.mapping(buffer)) };
    device
        .calls()
        .begin("vkCmdPipelineBarrier2")
        .detail("memory", info.memory_barrier_count)
        .detail("buffers", dependency.buffers.len())
        .detail("images", dependency.images.len())
        .detail("transfers", dependency.transfers)
        .done();
    // SAFETY: barriers that discard are outside of render pass instances.
    unsafe { device.discard(buffer, &mut dependency.images) };
    // SAFETY: the app's own arguments, rewritten.
    unsafe {
        (device.driver.next.core.fp_v1_3().cmd_pipeline_barrier2)(buffer, &dependency.info())
    };
}

/// `vkCmdPipelineBarrier`.
pub(crate) unsafe extern "system" fn pipeline_barrier(
    buffer: vk::CommandBuffer,
    src_stages: vk::PipelineStageFlags,
    dst_stages: vk::PipelineStageFlags,
    flags: vk::DependencyFlags,
    memory_count: u32,
    memory: *const vk::MemoryBarrier<'_>,
    buffer_count: u32,
    buffers: *const vk::BufferMemoryBarrier<'_>,
    image_count: u32,
    images: *const vk::ImageMemoryBarrier<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(buffer) };
    let mapping = device.mapping(buffer);
    // SAFETY: the app passes `buffer_count` structures.
    let (buffers, of_buffers) = rewrite_buffers(unsafe { slice(buffers, buffer_count) }, mapping);
    // SAFETY: the app passes `image_count` structures.
    let (mut images, of_images) = rewrite_images(unsafe { slice(images, image_count) }, mapping);
    device
        .calls()
        .begin("vkCmdPipelineBarrier")
        .detail("memory", memory_count)
        .detail("buffers", buffer_count)
        .detail("images", image_count)
        .detail("transfers", of_buffers + of_images)
        .done();
    // SAFETY: barriers that discard are outside of render pass instances.
    let discarded = unsafe { device.discard(buffer, &mut images) };
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let src_stages = if discarded {
        src_stages | all
    } else {
        src_stages
    };
    let record = device.driver.next.core.fp_v1_0().cmd_pipeline_barrier;
    // SAFETY: the app's own arguments, rewritten.
    unsafe {
        record(
            buffer,
            src_stages,
            dst_stages,
            flags,
            memory_count,
            memory,
            buffer_count,
            buffers.as_ptr(),
            image_count,
            images.as_ptr(),
        )
    };
}

/// `vkCmdBeginRendering`: attachments that are not loaded are cleared to garbage.
pub(crate) unsafe extern "system" fn begin_rendering(
    buffer: vk::CommandBuffer,
    info: *const vk::RenderingInfo<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(buffer) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    device.calls().begin("vkCmdBeginRendering").done();
    let begin = device.driver.next.core.fp_v1_3().cmd_begin_rendering;
    let Some(poison) = &device.poison else {
        // SAFETY: the app's own arguments.
        return unsafe { begin(buffer, info) };
    };
    // SAFETY: the app passes valid structures.
    let colors = unsafe { slice(info.p_color_attachments, info.color_attachment_count) };
    // SAFETY: as above.
    let depth = unsafe { info.p_depth_attachment.as_ref() };
    // SAFETY: as above.
    let stencil = unsafe { info.p_stencil_attachment.as_ref() };
    let colors: Vec<_> = colors.iter().map(|one| poison.load_op(one)).collect();
    let depth = depth.map(|one| poison.load_op(one));
    let stencil = stencil.map(|one| poison.load_op(one));
    let mut poisoned = (*info).color_attachments(&colors);
    if let Some(depth) = &depth {
        poisoned = poisoned.depth_attachment(depth);
    }
    if let Some(stencil) = &stencil {
        poisoned = poisoned.stencil_attachment(stencil);
    }
    // SAFETY: the app's own arguments, with clears in place of `DONT_CARE`.
    unsafe { begin(buffer, &poisoned) };
}
