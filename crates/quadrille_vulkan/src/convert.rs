//! Conversion of the solver's types to Vulkan's, in this module only. Pure.
//!
//! Flags have Vulkan's values, so a conversion only changes the type; the tests compare them with ash bit for bit.

use ash::vk;
use quadrille_sync::flags::{AccessMask, Aspects, Layout, Stages};
use quadrille_sync::plan::{BufferBarrier, ImageBarrier, MemoryBarrier, Transfer};
use quadrille_sync::range::SubresourceRange;

/// `VK_DEPENDENCY_QUEUE_FAMILY_OWNERSHIP_TRANSFER_USE_ALL_STAGES_BIT_KHR` of
/// `VK_KHR_maintenance8`, which ash lacks: makes the stage masks of ownership transfers effective.
pub(crate) const USE_ALL_STAGES: vk::DependencyFlags = vk::DependencyFlags::from_raw(0x20);

/// Converts pipeline stages.
pub(crate) fn stages(stages: Stages) -> vk::PipelineStageFlags2 {
    vk::PipelineStageFlags2::from_raw(stages.bits())
}

/// Converts an access mask.
pub(crate) fn access(access: AccessMask) -> vk::AccessFlags2 {
    vk::AccessFlags2::from_raw(access.bits())
}

/// Converts image aspects.
pub(crate) fn aspects(aspects: Aspects) -> vk::ImageAspectFlags {
    vk::ImageAspectFlags::from_raw(aspects.bits())
}

/// Converts an image layout.
pub(crate) fn layout(layout: Layout) -> vk::ImageLayout {
    vk::ImageLayout::from_raw(layout as i32)
}

/// Converts a subresource range.
pub(crate) fn range(range: &SubresourceRange) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspects(range.aspects),
        base_mip_level: range.base_mip,
        level_count: range.mip_count,
        base_array_layer: range.base_layer,
        layer_count: range.layer_count,
    }
}

/// Converts a global memory barrier.
pub(crate) fn memory_barrier(barrier: &MemoryBarrier) -> vk::MemoryBarrier2<'static> {
    vk::MemoryBarrier2::default()
        .src_stage_mask(stages(barrier.src.stages))
        .src_access_mask(access(barrier.src.access))
        .dst_stage_mask(stages(barrier.dst.stages))
        .dst_access_mask(access(barrier.dst.access))
}

/// Converts a buffer memory barrier.
pub(crate) fn buffer_barrier(
    barrier: &BufferBarrier,
    buffer: vk::Buffer,
) -> vk::BufferMemoryBarrier2<'static> {
    let (from, to) = families(barrier.transfer);
    vk::BufferMemoryBarrier2::default()
        .src_stage_mask(stages(barrier.src.stages))
        .src_access_mask(access(barrier.src.access))
        .dst_stage_mask(stages(barrier.dst.stages))
        .dst_access_mask(access(barrier.dst.access))
        .src_queue_family_index(from)
        .dst_queue_family_index(to)
        .buffer(buffer)
        .offset(barrier.offset)
        .size(barrier.size)
}

/// Converts an image memory barrier.
pub(crate) fn image_barrier(
    barrier: &ImageBarrier,
    image: vk::Image,
) -> vk::ImageMemoryBarrier2<'static> {
    let (from, to) = families(barrier.transfer);
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(stages(barrier.src.stages))
        .src_access_mask(access(barrier.src.access))
        .dst_stage_mask(stages(barrier.dst.stages))
        .dst_access_mask(access(barrier.dst.access))
        .old_layout(layout(barrier.old_layout))
        .new_layout(layout(barrier.new_layout))
        .src_queue_family_index(from)
        .dst_queue_family_index(to)
        .image(image)
        .subresource_range(range(&barrier.range))
}

/// Returns the queue families of an ownership transfer, or `VK_QUEUE_FAMILY_IGNORED` without one.
fn families(transfer: Option<Transfer>) -> (u32, u32) {
    match transfer {
        Some(transfer) => (transfer.from.0, transfer.to.0),
        None => (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED),
    }
}

#[cfg(test)]
mod tests;
