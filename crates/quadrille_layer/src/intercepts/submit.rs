//! Submission commands, which only append to a virtual queue. Forwarding happens elsewhere.

use ash::vk;

use crate::dispatch::chain::slice;
use crate::state::device::Device;
use crate::state::registry::device_of;
use crate::state::submission::{Batch, Submission};

/// `vkQueueSubmit2`.
pub(crate) unsafe extern "system" fn queue_submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    // SAFETY: the app passes `count` structures.
    let submits = unsafe { slice(submits, count) };
    // SAFETY: the app passes valid structures.
    let copy = |info| unsafe { Batch::from_submit2(info) };
    device.submit(
        "vkQueueSubmit2",
        queue,
        submits.iter().map(copy).collect(),
        fence,
    )
}

/// `vkQueueSubmit`.
pub(crate) unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    // SAFETY: the app passes `count` structures.
    let submits = unsafe { slice(submits, count) };
    // SAFETY: the app passes valid structures.
    let copy = |info| unsafe { Batch::from_submit(info) };
    device.submit(
        "vkQueueSubmit",
        queue,
        submits.iter().map(copy).collect(),
        fence,
    )
}

/// `vkQueueBindSparse`.
pub(crate) unsafe extern "system" fn queue_bind_sparse(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    // SAFETY: the app passes `count` structures.
    let infos = unsafe { slice(infos, count) };
    // SAFETY: the app passes valid structures.
    let copy = |info| unsafe { Batch::from_sparse(info) };
    device.submit(
        "vkQueueBindSparse",
        queue,
        infos.iter().map(copy).collect(),
        fence,
    )
}

impl Device {
    fn submit(
        &self,
        command: &'static str,
        queue: vk::Queue,
        batches: Vec<Batch>,
        fence: vk::Fence,
    ) -> vk::Result {
        let position = self.position(queue);
        let virtual_queue = self.queues.at(position);
        let call = self
            .calls()
            .begin(command)
            .detail("family", virtual_queue.family)
            .detail("index", virtual_queue.index)
            .detail("batches", batches.len())
            .detail(
                "waits",
                batches.iter().map(|batch| batch.waits.len()).sum::<usize>(),
            )
            .detail(
                "signals",
                batches
                    .iter()
                    .map(|batch| batch.signals.len())
                    .sum::<usize>(),
            );
        for s_type in batches.iter().flat_map(|batch| &batch.left_out) {
            self.calls()
                .note("left out", &format!("{command}: a chained {s_type:?}"));
        }
        if self.is_lost() {
            return call.finish(vk::Result::ERROR_DEVICE_LOST, false);
        }
        let lost_by_result = call.injected() == Some(vk::Result::ERROR_DEVICE_LOST);
        if self.calls().next_submission_loses() || lost_by_result {
            self.work().lose(&self.driver);
            return call.finish(vk::Result::ERROR_DEVICE_LOST, true);
        }
        call.run(|| self.enqueue(position, batches, fence))
    }

    fn enqueue(&self, queue: usize, batches: Vec<Batch>, fence: vk::Fence) -> vk::Result {
        let fault = self.calls().next_fence(fence);
        let mut work = self.work();
        // Another thread may have lost the device since the call began. Work that reaches the driver now would still
        // execute when the app, which no longer waits, destroys its objects.
        if self.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let plain = |batch| Submission {
            batch: Some(batch),
            fence: vk::Fence::null(),
            fault: None,
        };
        let mut submissions: Vec<_> = batches.into_iter().map(plain).collect();
        if fence != vk::Fence::null() {
            // A fence waits for all earlier work of the queue, so it belongs to the last submission.
            match submissions.last_mut() {
                Some(last) => (last.fence, last.fault) = (fence, fault),
                None => submissions.push(Submission {
                    batch: None,
                    fence,
                    fault,
                }),
            }
        }
        for submission in submissions {
            work.push(queue, submission);
        }
        work.forward_unasked(&self.driver)
    }
}
