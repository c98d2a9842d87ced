//! Reading what Vulkan calls undefined.

use ash::vk;

use crate::Outcome;
use crate::gpu::{COLOR, Gpu};

/// Fresh memory, an image after a transition from `UNDEFINED`, and an attachment whose contents
/// nobody loads. None of the images has the usage that clearing needs.
pub(crate) fn undefined() -> Outcome {
    let gpu = Gpu::new()?;
    let (_, memory) = gpu.buffer(1024, &[])?;
    println!("memory {:x?}", gpu.read(memory, 1)?);

    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let (image, view) = gpu.image(vk::Format::R32_UINT, usage)?;
    let (out, words) = gpu.buffer(1024, &[])?;
    let transition = |old, new| {
        vk::ImageMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE | vk::AccessFlags2::MEMORY_READ)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_access_mask(vk::AccessFlags2::MEMORY_WRITE | vk::AccessFlags2::MEMORY_READ)
            .old_layout(old)
            .new_layout(new)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(COLOR)
    };
    let barrier = |commands, old, new| {
        let images = [transition(old, new)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&images);
        // SAFETY: recording.
        unsafe { gpu.device.cmd_pipeline_barrier2(commands, &info) };
    };
    let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    let attachment = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let copy = |commands| {
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: COLOR.aspect_mask,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(vk::Extent3D {
                width: 16,
                height: 16,
                depth: 1,
            });
        // SAFETY: recording; the buffer is large enough.
        unsafe {
            gpu.device
                .cmd_copy_image_to_buffer(commands, image, source, out, &[region])
        };
    };

    let first = gpu.record(0, |commands| {
        barrier(commands, vk::ImageLayout::UNDEFINED, source);
        copy(commands);
    })?;
    gpu.submit(gpu.queues[0][0], &[], &[first], &[], vk::Fence::null())?;
    gpu.idle()?;
    println!("transition {:x?}", gpu.read(words, 1)?);

    let second = gpu.record(0, |commands| {
        barrier(commands, source, attachment);
        render(&gpu, commands, view, vk::AttachmentLoadOp::CLEAR);
        barrier(commands, attachment, attachment);
        render(&gpu, commands, view, vk::AttachmentLoadOp::LOAD);
        barrier(commands, attachment, source);
        copy(commands);
    })?;
    gpu.submit(gpu.queues[0][0], &[], &[second], &[], vk::Fence::null())?;
    gpu.idle()?;
    println!("loaded {:x?}", gpu.read(words, 1)?);

    let third = gpu.record(0, |commands| {
        barrier(commands, source, attachment);
        render(&gpu, commands, view, vk::AttachmentLoadOp::DONT_CARE);
        barrier(commands, attachment, source);
        copy(commands);
    })?;
    gpu.submit(gpu.queues[0][0], &[], &[third], &[], vk::Fence::null())?;
    gpu.idle()?;
    println!("not-loaded {:x?}", gpu.read(words, 1)?);
    Ok(())
}

/// An empty render pass instance.
fn render(gpu: &Gpu, commands: vk::CommandBuffer, view: vk::ImageView, load: vk::AttachmentLoadOp) {
    let clear = vk::ClearValue {
        color: vk::ClearColorValue { uint32: [6; 4] },
    };
    let colors = [vk::RenderingAttachmentInfo::default()
        .image_view(view)
        .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear)];
    let extent = vk::Extent2D {
        width: 16,
        height: 16,
    };
    let info = vk::RenderingInfo::default()
        .render_area(extent.into())
        .layer_count(1)
        .color_attachments(&colors);
    // SAFETY: recording.
    unsafe { gpu.device.cmd_begin_rendering(commands, &info) };
    // SAFETY: begun above.
    unsafe { gpu.device.cmd_end_rendering(commands) };
}
