//! A program that is right and is blamed by the layer: order through another queue's timeline.
//!
//! ```text
//! queue 0: wait 1 >= n-1, write the buffer, signal 0 = n
//! queue 1: wait 0 >= n,   read the buffer,  signal 1 = n
//! host:    wait 1 >= n
//! ```
//! Each write of queue 0 is ordered after the one before: that one happens before the signal of 0, which the read waits
//! for, which happens before the signal of 1, which the next write waits for (section "Semaphore Signaling": the first
//! scope of a signal has all commands earlier in submission order; section "Semaphore Waiting": all commands later in
//! submission order follow the wait, and all that was available is visible to them). The host's wait adds order and
//! removes none. Yet layer 1.4.363 reports a WRITE_AFTER_WRITE hazard with `write_barriers = 0` at the next write, and
//! is silent without the host's wait, or if the host asks for the value of queue 0 too: with the host's wait it forgets
//! the signal, and the accesses of queue 1 alone, so that the wait of queue 0 finds nothing to import.
//!
//! [`host_links_two_queues`] is the same without the device's wait of queue 0: the host submits each write after it has
//! waited for the read before (a host pass between two passes of one frame). The host's wait returns after the signal of
//! 1, and a submission happens after what the host did before ("Host Write Ordering Guarantees"), so that the order is
//! the same, and the signal of 0 has made the write available. The layer reports the same hazard.
//!
//! [`host_waits_twice`] waits on the host for both queues, one frame late, and for the reader's value again. The layer takes
//! a value for the first signal at or above it that it does not know as complete yet, here the reader's next one: so
//! it forgets what the reader has waited for. Without the second wait it is silent.

use anyhow::{Result, bail};
use ash::vk;

use crate::gpu::Gpu;

/// Frames: the hazard is reported from the second or third one on.
const FRAMES: u64 = 4;

/// A timeline of the round trip.
#[derive(Clone, Copy)]
enum Side {
    Writer,
    Reader,
}

/// Writes on one queue and reads on another in turn, each after the other, and waits on the host for the reader.
///
/// # Errors
/// When the device has one queue only, or fails.
pub(crate) fn host_waits_for_one_queue(gpu: &Gpu) -> Result<()> {
    round_trip(gpu, |frame| frame - 1, |frame| vec![(Side::Reader, frame)])
}

/// As [`host_waits_for_one_queue`], but the host's wait alone orders writes after the reads before.
///
/// # Errors
/// When the device has one queue only, or fails.
pub(crate) fn host_links_two_queues(gpu: &Gpu) -> Result<()> {
    round_trip(gpu, |_| 0, |frame| vec![(Side::Reader, frame)])
}

/// As [`host_waits_for_one_queue`], but the host waits for both queues of the frame before, and twice for the reader.
///
/// # Errors
/// When the device has one queue only, or fails.
pub(crate) fn host_waits_twice(gpu: &Gpu) -> Result<()> {
    let twice = |frame: u64| {
        let last = frame - 1;
        let mut waits = vec![
            (Side::Writer, last),
            (Side::Reader, last),
            (Side::Reader, last),
        ];
        waits.retain(|(_, value)| *value > 0);
        waits
    };
    round_trip(gpu, |frame| frame - 1, twice)
}

/// `awaited`: the value of the reader's timeline that the write of a frame waits for on the device. `host`: the values that the
/// host waits for after a frame is submitted, in their order.
fn round_trip(
    gpu: &Gpu,
    awaited: impl Fn(u64) -> u64,
    host: impl Fn(u64) -> Vec<(Side, u64)>,
) -> Result<()> {
    let &[writer, reader] = gpu.queues() else {
        bail!("a round trip takes two queues, and this device has one");
    };
    let both = [writer.family, reader.family];
    let sharing = if writer.family == reader.family {
        &[][..]
    } else {
        &both[..]
    };
    let (buffer, copy) = (gpu.create_buffer(sharing)?, gpu.create_buffer(&[])?);
    let [written, read] = [gpu.create_timeline()?, gpu.create_timeline()?];
    let mut recordings = Vec::new();
    for frame in 1..=FRAMES {
        let writes = gpu.record(writer.family, |commands| {
            // SAFETY: recording, outside a render pass; the buffer has transfer usage and memory.
            unsafe {
                let all = vk::WHOLE_SIZE;
                gpu.device
                    .cmd_fill_buffer(commands, buffer.handle, 0, all, 0)
            };
        })?;
        let reads = gpu.record(reader.family, |commands| {
            let region = [vk::BufferCopy::default().size(16)];
            let barrier = [vk::MemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::COPY)
                .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::COPY)
                .dst_access_mask(vk::AccessFlags2::TRANSFER_WRITE)];
            let after_last = vk::DependencyInfo::default().memory_barriers(&barrier);
            // SAFETY: likewise.
            unsafe { gpu.device.cmd_pipeline_barrier2(commands, &after_last) };
            // SAFETY: likewise; both buffers are larger than the region.
            unsafe {
                gpu.device
                    .cmd_copy_buffer(commands, buffer.handle, copy.handle, &region)
            };
        })?;
        gpu.submit_between(writer, &writes, (read, awaited(frame)), (written, frame))?;
        gpu.submit_between(reader, &reads, (written, frame), (read, frame))?;
        recordings.extend([writes, reads]);
        for (side, value) in host(frame) {
            let semaphores = [match side {
                Side::Writer => written,
                Side::Reader => read,
            }];
            let values = [value];
            let wait = vk::SemaphoreWaitInfo::default()
                .semaphores(&semaphores)
                .values(&values);
            // SAFETY: the semaphore is a timeline of this device.
            unsafe { gpu.device.wait_semaphores(&wait, u64::MAX) }?;
        }
    }
    gpu.free(copy, recordings)?;
    gpu.free(buffer, [])?;
    for semaphore in [written, read] {
        // SAFETY: the device is idle, and nothing waits for it any more.
        unsafe { gpu.device.destroy_semaphore(semaphore, None) };
    }
    Ok(())
}
