//! Batches of a queue submission.

use ash::vk;

use crate::device::Device;
use crate::device::gate::Point;
use crate::device::timeline::Timeline;
use crate::lock;

/// The semaphores and command buffers of one `VkSubmitInfo2`.
#[derive(Default)]
pub(crate) struct Batch {
    pub waits: Vec<vk::SemaphoreSubmitInfo<'static>>,
    pub buffers: Vec<vk::CommandBufferSubmitInfo<'static>>,
    pub signals: Vec<vk::SemaphoreSubmitInfo<'static>>,
    /// The timeline values among `waits`.
    pub wait_points: Vec<Point>,
    /// The timeline values among `signals`.
    pub signal_points: Vec<Point>,
}

impl Batch {
    /// Waits for a value.
    pub(crate) fn wait(
        &mut self,
        timeline: &Timeline,
        point: Point,
        stages: vk::PipelineStageFlags2,
    ) {
        let info = semaphore_info(timeline.semaphore, stages).value(point.value);
        self.waits.push(info);
        self.wait_points.push(point);
    }

    /// Signals a value after all earlier work of the queue.
    pub(crate) fn signal(&mut self, timeline: &Timeline, point: Point) {
        timeline.announce(point.value);
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let info = semaphore_info(timeline.semaphore, all).value(point.value);
        self.signals.push(info);
        self.signal_points.push(point);
    }
}

/// Number of retries of an out-of-memory submission after earlier ones of the frame succeeded.
pub(crate) const RETRIES: u32 = 10;

/// Calls `vkQueueSubmit2`, and retries if out of memory: work that completes meanwhile frees memory.
pub(crate) fn queue_submit(
    device: &Device,
    queue: usize,
    batches: &[Batch],
    retries: u32,
) -> Result<(), vk::Result> {
    let infos: Vec<_> = batches
        .iter()
        .map(|batch| {
            vk::SubmitInfo2::default()
                .wait_semaphore_infos(&batch.waits)
                .command_buffer_infos(&batch.buffers)
                .signal_semaphore_infos(&batch.signals)
        })
        .collect();
    let mut left = retries;
    loop {
        let queue = lock(&device.queues[queue].raw);
        // SAFETY: the queue is locked; command buffers are recorded for its family and not in use;
        // semaphores are alive, timeline values rise, and a binary semaphore that is waited for
        // has its signal queued by an acquisition.
        let result = unsafe { device.raw.queue_submit2(*queue, &infos, vk::Fence::null()) };
        drop(queue);
        if left == 0 || !is_out_of_memory(result) {
            return device.note("vkQueueSubmit2", result);
        }
        left -= 1;
        std::thread::yield_now();
    }
}

fn is_out_of_memory(result: Result<(), vk::Result>) -> bool {
    matches!(
        result,
        Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
    )
}

/// Returns the info of a semaphore, with the stages that wait for it or precede its signal.
pub(crate) fn semaphore_info(
    semaphore: vk::Semaphore,
    stages: vk::PipelineStageFlags2,
) -> vk::SemaphoreSubmitInfo<'static> {
    vk::SemaphoreSubmitInfo::default()
        .semaphore(semaphore)
        .stage_mask(stages)
}
