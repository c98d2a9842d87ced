//! Reads of undefined contents.

use ash::vk;

use crate::Outcome;
use crate::gpu::{COLOR, Gpu};

const READ: vk::ImageLayout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
const DRAWN: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;

/// Prints the contents of fresh memory, of an image after a transition from `UNDEFINED`, and of an attachment that is
/// not loaded. The image lacks the usage that clearing needs.
pub(crate) fn undefined() -> Outcome {
    let gpu = Gpu::new()?;
    let (_, memory) = gpu.buffer(1024, &[])?;
    println!("memory {:x?}", gpu.read(memory, 1)?);

    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let (image, view) = gpu.image(vk::Format::R32_UINT, usage)?;
    let (out, words) = gpu.buffer(1024, &[])?;
    let first_word = |record: &dyn Fn(vk::CommandBuffer)| {
        let commands = gpu.record(0, |commands| {
            record(commands);
            gpu.copy_out(commands, image, out);
        })?;
        gpu.submit(gpu.queues[0][0], &[], &[commands], &[], vk::Fence::null())?;
        gpu.idle()?;
        gpu.read(words, 1)
    };

    let transition = first_word(&|commands| {
        barrier(&gpu, commands, image, vk::ImageLayout::UNDEFINED, READ);
    })?;
    println!("transition {transition:x?}");
    let loaded = first_word(&|commands| {
        barrier(&gpu, commands, image, READ, DRAWN);
        render(&gpu, commands, view, vk::AttachmentLoadOp::CLEAR);
        barrier(&gpu, commands, image, DRAWN, DRAWN);
        render(&gpu, commands, view, vk::AttachmentLoadOp::LOAD);
        barrier(&gpu, commands, image, DRAWN, READ);
    })?;
    println!("loaded {loaded:x?}");
    let not_loaded = first_word(&|commands| {
        barrier(&gpu, commands, image, READ, DRAWN);
        render(&gpu, commands, view, vk::AttachmentLoadOp::DONT_CARE);
        barrier(&gpu, commands, image, DRAWN, READ);
    })?;
    println!("not-loaded {not_loaded:x?}");
    Ok(())
}

/// A transition with full barriers on both sides.
fn barrier(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    image: vk::Image,
    old: vk::ImageLayout,
    new: vk::ImageLayout,
) {
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    let access = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
    let images = [vk::ImageMemoryBarrier2::default()
        .src_stage_mask(all)
        .src_access_mask(access)
        .dst_stage_mask(all)
        .dst_access_mask(access)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(COLOR)];
    let info = vk::DependencyInfo::default().image_memory_barriers(&images);
    // SAFETY: recording.
    unsafe { gpu.device.cmd_pipeline_barrier2(commands, &info) };
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
