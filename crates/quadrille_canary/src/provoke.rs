//! The errors, one function a class. Each leaves the device idle and as it was.

use anyhow::{Result, bail};
use ash::vk;

use crate::gpu::{Buffer, Gpu};

/// Writes a buffer twice on one queue with no barrier between.
///
/// # Errors
/// When the device fails; the error that is committed on purpose is not among these.
pub(crate) fn same_queue(gpu: &Gpu) -> Result<()> {
    let [queue, ..] = gpu.queues() else {
        bail!("the device has no queue");
    };
    let buffer = gpu.create_buffer(&[])?;
    let recording = gpu.record(queue.family, |commands| {
        fill(gpu, commands, &buffer);
        fill(gpu, commands, &buffer);
    })?;
    // Found while recording; a submission would be found again and add nothing.
    gpu.free(buffer, [recording])
}

/// Writes a buffer on two queues with no semaphore between.
///
/// # Errors
/// When the device has one queue only, or fails.
pub(crate) fn cross_queue(gpu: &Gpu) -> Result<()> {
    let &[first, second] = gpu.queues() else {
        bail!("a race between queues takes two queues, and this device has one");
    };
    let both = [first.family, second.family];
    let sharing = if first.family == second.family {
        &[][..]
    } else {
        &both[..]
    };
    let buffer = gpu.create_buffer(sharing)?;
    let mut recordings = Vec::new();
    for queue in [first, second] {
        let recording = gpu.record(queue.family, |commands| fill(gpu, commands, &buffer))?;
        gpu.submit(queue, &recording)?;
        recordings.push(recording);
    }
    gpu.free(buffer, recordings)
}

/// Acquires a buffer from a queue family that has not released it.
///
/// # Errors
/// When the device has one queue family only, or fails.
pub(crate) fn acquire(gpu: &Gpu) -> Result<()> {
    let &[owner, taker] = gpu.queues() else {
        bail!("an ownership transfer takes two queues, and this device has one");
    };
    if owner.family == taker.family {
        bail!("an ownership transfer takes two queue families, and this device has one");
    }
    let buffer = gpu.create_buffer(&[])?;
    let barrier = [vk::BufferMemoryBarrier2::default()
        .dst_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
        .dst_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .src_queue_family_index(owner.family)
        .dst_queue_family_index(taker.family)
        .buffer(buffer.handle)
        .size(vk::WHOLE_SIZE)];
    let dependency = vk::DependencyInfo::default().buffer_memory_barriers(&barrier);
    let recording = gpu.record(taker.family, |commands| {
        // SAFETY: recording, outside a render pass; the families are the device's own.
        unsafe { gpu.device.cmd_pipeline_barrier2(commands, &dependency) };
    })?;
    gpu.submit(taker, &recording)?;
    gpu.free(buffer, [recording])
}

/// Writes the whole buffer.
fn fill(gpu: &Gpu, commands: vk::CommandBuffer, buffer: &Buffer) {
    // SAFETY: recording, outside a render pass; the buffer has transfer usage and memory. That
    // nothing orders two such writes is the error to be seen; their contents are never read.
    unsafe {
        gpu.device
            .cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, 0)
    };
}
