//! Valid and invalid queue family ownership transfers.

use ash::vk;

use crate::Outcome;
use crate::gpu::{COLOR, Gpu, LONG_NS};

const BYTES: u64 = 16 * 16 * 4;
const STAGES: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_TRANSFER;

/// One barrier of a transfer: families and layouts.
#[derive(Clone, Copy)]
struct Halves {
    src: u32,
    dst: u32,
    old: vk::ImageLayout,
    new: vk::ImageLayout,
}

const THERE: Halves = Halves {
    src: 0,
    dst: 1,
    old: vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    new: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
};

fn image_barrier(image: vk::Image, halves: Halves) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .src_queue_family_index(halves.src)
        .dst_queue_family_index(halves.dst)
        .old_layout(halves.old)
        .new_layout(halves.new)
        .image(image)
        .subresource_range(COLOR)
}

fn buffer_barrier(buffer: vk::Buffer, halves: Halves) -> vk::BufferMemoryBarrier2<'static> {
    vk::BufferMemoryBarrier2::default()
        .src_queue_family_index(halves.src)
        .dst_queue_family_index(halves.dst)
        .buffer(buffer)
        .size(vk::WHOLE_SIZE)
}

/// Scopes of a barrier: a release has only a source scope, an acquire only a destination scope.
trait Half {
    fn release(self) -> Self;
    fn acquire(self, access: vk::AccessFlags2) -> Self;
}

impl Half for vk::ImageMemoryBarrier2<'_> {
    fn release(self) -> Self {
        self.src_stage_mask(STAGES)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
    }

    fn acquire(self, access: vk::AccessFlags2) -> Self {
        self.dst_stage_mask(STAGES).dst_access_mask(access)
    }
}

impl Half for vk::BufferMemoryBarrier2<'_> {
    fn release(self) -> Self {
        self.src_stage_mask(STAGES)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
    }

    fn acquire(self, access: vk::AccessFlags2) -> Self {
        self.dst_stage_mask(STAGES).dst_access_mask(access)
    }
}

impl Gpu {
    fn barriers(
        &self,
        commands: vk::CommandBuffer,
        buffers: &[vk::BufferMemoryBarrier2<'_>],
        images: &[vk::ImageMemoryBarrier2<'_>],
    ) {
        let info = vk::DependencyInfo::default()
            .buffer_memory_barriers(buffers)
            .image_memory_barriers(images);
        // SAFETY: recording.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// Transitions an image for clearing, and clears it.
    fn clear(&self, commands: vk::CommandBuffer, image: vk::Image) {
        let ignored = vk::QUEUE_FAMILY_IGNORED;
        let halves = Halves {
            src: ignored,
            dst: ignored,
            old: vk::ImageLayout::UNDEFINED,
            new: THERE.old,
        };
        let barrier = image_barrier(image, halves).acquire(vk::AccessFlags2::TRANSFER_WRITE);
        self.barriers(commands, &[], &[barrier]);
        let color = vk::ClearColorValue { uint32: [7; 4] };
        // SAFETY: the image is in this layout.
        unsafe {
            self.device
                .cmd_clear_color_image(commands, image, THERE.old, &color, &[COLOR])
        };
    }

    fn copy(&self, commands: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer) {
        let region = vk::BufferCopy::default().size(BYTES);
        // SAFETY: both buffers have this size.
        unsafe { self.device.cmd_copy_buffer(commands, from, to, &[region]) };
    }
}

/// Writes on family 0 and reads on family 1, with the given barriers.
fn hand_over(release: Option<Halves>, acquire: Option<Halves>) -> Outcome {
    let gpu = Gpu::new()?;
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let (image, _) = gpu.image(vk::Format::R32_UINT, usage)?;
    let (buffer, _) = gpu.buffer(BYTES, &[])?;
    let (from_image, image_memory) = gpu.buffer(BYTES, &[])?;
    let (from_buffer, buffer_memory) = gpu.buffer(BYTES, &[])?;
    let timeline = gpu.timeline()?;

    let write = gpu.record(0, |commands| {
        gpu.clear(commands, image);
        // SAFETY: recording.
        unsafe { gpu.device.cmd_fill_buffer(commands, buffer, 0, BYTES, 9) };
        if let Some(halves) = release {
            let images = [image_barrier(image, halves).release()];
            gpu.barriers(
                commands,
                &[buffer_barrier(buffer, halves).release()],
                &images,
            );
        }
    })?;
    let read = gpu.record(1, |commands| {
        if let Some(halves) = acquire {
            let access = vk::AccessFlags2::TRANSFER_READ;
            let images = [image_barrier(image, halves).acquire(access)];
            let buffers = [buffer_barrier(buffer, halves).acquire(access)];
            gpu.barriers(commands, &buffers, &images);
        }
        gpu.copy_out(commands, image, from_image);
        gpu.copy(commands, buffer, from_buffer);
    })?;
    let none = vk::Fence::null();
    gpu.submit(gpu.queues[0][0], &[], &[write], &[(timeline, 1)], none)?;
    gpu.submit(
        gpu.queues[1][0],
        &[(timeline, 1)],
        &[read],
        &[(timeline, 2)],
        none,
    )?;
    gpu.wait((timeline, 2), LONG_NS)?;
    let all = |words: Vec<u32>, word| words.iter().all(|one| *one == word);
    println!("image {}", all(gpu.read(image_memory, 256)?, 7));
    println!("buffer {}", all(gpu.read(buffer_memory, 256)?, 9));
    gpu.idle()?;
    Ok(())
}

pub(crate) fn right() -> Outcome {
    hand_over(Some(THERE), Some(THERE))
}

pub(crate) fn no_release() -> Outcome {
    hand_over(None, Some(THERE))
}

pub(crate) fn no_acquire() -> Outcome {
    hand_over(Some(THERE), None)
}

pub(crate) fn other_layout() -> Outcome {
    hand_over(
        Some(THERE),
        Some(Halves {
            old: vk::ImageLayout::UNDEFINED,
            ..THERE
        }),
    )
}

/// The valid program with the commands before synchronization2.
pub(crate) fn right1() -> Outcome {
    let gpu = Gpu::new()?;
    let (buffer, _) = gpu.buffer(BYTES, &[])?;
    let (copy, memory) = gpu.buffer(BYTES, &[])?;
    let timeline = gpu.timeline()?;
    let fence = gpu.fence()?;
    let transfer = vk::PipelineStageFlags::TRANSFER;
    let barrier = vk::BufferMemoryBarrier::default()
        .src_queue_family_index(0)
        .dst_queue_family_index(1)
        .buffer(buffer)
        .size(vk::WHOLE_SIZE);
    let release = barrier.src_access_mask(vk::AccessFlags::TRANSFER_WRITE);
    let acquire = barrier.dst_access_mask(vk::AccessFlags::TRANSFER_READ);
    let record = |commands, src, dst, barrier| {
        let none = vk::DependencyFlags::empty();
        // SAFETY: recording.
        unsafe {
            gpu.device
                .cmd_pipeline_barrier(commands, src, dst, none, &[], &[barrier], &[]);
        }
    };
    let write = gpu.record(0, |commands| {
        // SAFETY: recording.
        unsafe { gpu.device.cmd_fill_buffer(commands, buffer, 0, BYTES, 5) };
        record(
            commands,
            transfer,
            vk::PipelineStageFlags::BOTTOM_OF_PIPE,
            release,
        );
    })?;
    let read = gpu.record(1, |commands| {
        record(commands, transfer, transfer, acquire);
        gpu.copy(commands, buffer, copy);
    })?;
    let (semaphores, values) = ([timeline], [1]);
    let mut wait_values = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values);
    let mut signal_values =
        vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
    let (writes, reads) = ([write], [read]);
    let stages = [transfer];
    let first = vk::SubmitInfo::default()
        .command_buffers(&writes)
        .signal_semaphores(&semaphores)
        .push_next(&mut signal_values);
    let second = vk::SubmitInfo::default()
        .wait_semaphores(&semaphores)
        .wait_dst_stage_mask(&stages)
        .command_buffers(&reads)
        .push_next(&mut wait_values);
    // The reader is submitted first: wait-before-signal.
    // SAFETY: valid structures.
    unsafe { gpu.device.queue_submit(gpu.queues[1][0], &[second], fence) }?;
    // SAFETY: valid structures.
    unsafe {
        gpu.device
            .queue_submit(gpu.queues[0][0], &[first], vk::Fence::null())
    }?;
    // SAFETY: the fence is in use by the submission.
    unsafe { gpu.device.wait_for_fences(&[fence], true, LONG_NS) }?;
    println!(
        "buffer {}",
        gpu.read(memory, 256)?.iter().all(|word| *word == 5)
    );
    gpu.idle()?;
    Ok(())
}

/// A concurrent buffer needs no transfer.
pub(crate) fn concurrent() -> Outcome {
    let gpu = Gpu::new()?;
    let (shared, _) = gpu.buffer(BYTES, &[0, 1])?;
    let (copy, memory) = gpu.buffer(BYTES, &[])?;
    let timeline = gpu.timeline()?;
    let write = gpu.fill(0, shared, 3)?;
    let read = gpu.record(1, |commands| gpu.copy(commands, shared, copy))?;
    let none = vk::Fence::null();
    gpu.submit(gpu.queues[0][0], &[], &[write], &[(timeline, 1)], none)?;
    gpu.submit(
        gpu.queues[1][0],
        &[(timeline, 1)],
        &[read],
        &[(timeline, 2)],
        none,
    )?;
    gpu.wait((timeline, 2), LONG_NS)?;
    println!(
        "buffer {}",
        gpu.read(memory, 256)?.iter().all(|word| *word == 3)
    );
    gpu.idle()?;
    Ok(())
}

/// Two queues write one buffer without any order.
pub(crate) fn race() -> Outcome {
    let gpu = Gpu::new()?;
    let (shared, _) = gpu.buffer(BYTES, &[0, 1])?;
    for family in [0, 1] {
        let write = gpu.fill(family, shared, family)?;
        let queue = gpu.queues[family as usize][0];
        gpu.submit(queue, &[], &[write], &[], vk::Fence::null())?;
    }
    gpu.idle()?;
    Ok(())
}
