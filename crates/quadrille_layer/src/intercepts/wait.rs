//! Host waits for work that may still be held.
//!
//! Every wait first lets the schedule forward the required work, then waits for the driver in short slices, since
//! another thread may submit or signal meanwhile. If there is no progress at all during the timeout of the settings, a
//! wait without a timeout is a deadlock: it is reported, and returns `VK_ERROR_DEVICE_LOST`.

use std::time::{Duration, Instant};

use ash::vk::{self, Handle};

use crate::dispatch::chain::slice;
use crate::queues::fifo::Point;
use crate::state::deadlock::ProgressTimeout;
use crate::state::device::Device;
use crate::state::registry::device_of;
use crate::state::work::Work;

/// Length of a wait for the driver.
const SLICE: Duration = Duration::from_millis(2);

/// `vkQueueWaitIdle`: waits for one virtual queue.
pub(crate) unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    let position = device.position(queue);
    let call = device
        .calls()
        .begin("vkQueueWaitIdle")
        .detail("queue", position);
    device.run(call, || {
        let empty = |work: &Work| work.fifo.pending(position).next().is_none();
        // SAFETY: called under the lock that guards the real queue.
        device.wait_idle("vkQueueWaitIdle", empty, || unsafe {
            (device.driver.next.core.fp_v1_0().queue_wait_idle)(device.driver.queue)
        })
    })
}

/// `vkDeviceWaitIdle`: waits for all virtual queues.
pub(crate) unsafe extern "system" fn device_wait_idle(device: vk::Device) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.run(device.calls().begin("vkDeviceWaitIdle"), || {
        // SAFETY: called under the lock that guards the real queue.
        device.wait_idle(
            "vkDeviceWaitIdle",
            |work| work.fifo.len() == 0,
            || unsafe { (device.driver.next.core.fp_v1_0().device_wait_idle)(device.handle()) },
        )
    })
}

/// `vkWaitForFences`.
pub(crate) unsafe extern "system" fn wait_for_fences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    wait_all: vk::Bool32,
    timeout_ns: u64,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes `count` handles.
    let fences = unsafe { slice(fences, count) };
    let call = device
        .calls()
        .begin("vkWaitForFences")
        .detail("fences", count);
    let ready = |work: &Work| -> Vec<vk::Fence> {
        fences
            .iter()
            .copied()
            .filter(|fence| work.may_signal(*fence))
            .collect()
    };
    let enough = |ready: usize| {
        if wait_all == vk::TRUE {
            ready == fences.len()
        } else {
            ready > 0
        }
    };
    device.run(call, || {
        let hopeless = Work::has_dead_fence;
        device.wait_in_slices("vkWaitForFences", timeout_ns, hopeless, |slice_ns| {
            let ready = {
                let mut work = device.work();
                work.forward_until(&device.driver, |work| enough(ready(work).len()))?;
                ready(&work)
            };
            if !enough(ready.len()) {
                return Ok(vk::Result::TIMEOUT);
            }
            let wait = device.driver.next.core.fp_v1_0().wait_for_fences;
            let count = u32::try_from(ready.len()).unwrap_or(u32::MAX);
            // SAFETY: the app's own handles.
            Ok(unsafe { wait(device.handle(), count, ready.as_ptr(), wait_all, slice_ns) })
        })
    })
}

/// `vkGetFenceStatus`.
pub(crate) unsafe extern "system" fn fence_status(
    device: vk::Device,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.run(device.calls().begin("vkGetFenceStatus"), || {
        if device.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let mut work = device.work();
        match work.forward_polled(&device.driver) {
            // SAFETY: the app's own handle.
            vk::Result::SUCCESS if work.may_signal(fence) => unsafe {
                (device.driver.next.core.fp_v1_0().get_fence_status)(device.handle(), fence)
            },
            vk::Result::SUCCESS => vk::Result::NOT_READY,
            error => error,
        }
    })
}

/// `vkResetFences`.
pub(crate) unsafe extern "system" fn reset_fences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device
        .calls()
        .begin("vkResetFences")
        .detail("fences", count)
        .run(|| {
            // SAFETY: the app passes `count` handles.
            for fence in unsafe { slice(fences, count) } {
                device.work().forget_fence(*fence);
            }
            // SAFETY: the app's own arguments.
            unsafe {
                (device.driver.next.core.fp_v1_0().reset_fences)(device.handle(), count, fences)
            }
        })
}

/// `vkDestroyFence`.
pub(crate) unsafe extern "system" fn destroy_fence(
    device: vk::Device,
    fence: vk::Fence,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkDestroyFence").done();
    device.work().forget_fence(fence);
    // SAFETY: the app's own arguments.
    unsafe { (device.driver.next.core.fp_v1_0().destroy_fence)(device.handle(), fence, allocator) };
}

/// `vkWaitSemaphores`.
pub(crate) unsafe extern "system" fn wait_semaphores(
    device: vk::Device,
    wait_info: *const vk::SemaphoreWaitInfo<'_>,
    timeout_ns: u64,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*wait_info };
    // SAFETY: as above.
    let semaphores = unsafe { slice(info.p_semaphores, info.semaphore_count) };
    // SAFETY: as above.
    let values = unsafe { slice(info.p_values, info.semaphore_count) };
    let points = semaphores.iter().zip(values);
    let points = points.map(|(semaphore, value)| Point {
        semaphore: semaphore.as_raw(),
        value: *value,
    });
    let points: Vec<_> = points.collect();
    let any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
    let covered = |work: &Work| {
        let mut covered = points.iter().map(|point| work.fifo.is_covered(*point));
        if any {
            covered.any(|one| one)
        } else {
            covered.all(|one| one)
        }
    };
    let call = device
        .calls()
        .begin("vkWaitSemaphores")
        .detail("semaphores", points.len());
    device.run(call, || {
        let hopeless = |work: &Work| !covered(work);
        device.wait_in_slices("vkWaitSemaphores", timeout_ns, hopeless, |slice_ns| {
            device.work().forward_until(&device.driver, covered)?;
            // SAFETY: the app's own arguments.
            Ok(unsafe {
                (device.driver.next.core.fp_v1_2().wait_semaphores)(device.handle(), info, slice_ns)
            })
        })
    })
}

impl Device {
    /// Forwards until `empty`, then waits for the real queue. The lock is held while the driver waits, because it also
    /// guards the real queue.
    fn wait_idle(
        &self,
        command: &str,
        empty: impl Fn(&Work) -> bool,
        wait: impl FnOnce() -> vk::Result,
    ) -> vk::Result {
        let mut progress = ProgressTimeout::new(self);
        loop {
            if self.is_lost() {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            let mut work = self.work();
            match work.forward_until(&self.driver, &empty) {
                Err(error) => return error,
                Ok(true) => return wait(),
                Ok(false) if progress.is_over(work.fifo.epoch()) => {
                    return self.report_deadlock(command, &mut work);
                }
                Ok(false) => {}
            }
            drop(work);
            std::thread::sleep(SLICE);
        }
    }

    /// Repeats `ask`, which gets its timeout, until it succeeds or the time is over. `hopeless` returns whether
    /// forwarded work can never end the wait.
    fn wait_in_slices(
        &self,
        command: &str,
        timeout_ns: u64,
        hopeless: impl Fn(&Work) -> bool,
        ask: impl Fn(u64) -> Result<vk::Result, vk::Result>,
    ) -> vk::Result {
        let start = Instant::now();
        let timeout = Duration::from_nanos(timeout_ns);
        let mut progress = ProgressTimeout::new(self);
        loop {
            if self.is_lost() {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            let rest = timeout.saturating_sub(start.elapsed());
            let slice = rest.min(SLICE);
            let asked = Instant::now();
            match ask(u64::try_from(slice.as_nanos()).unwrap_or(u64::MAX)) {
                Ok(vk::Result::TIMEOUT) => {}
                Ok(result) | Err(result) => return result,
            }
            if rest.is_zero() {
                return vk::Result::TIMEOUT;
            }
            let mut work = self.work();
            // Another thread may have lost the device while it held the lock.
            if self.is_lost() {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            let stuck = work.fifo.len() > 0 || hopeless(&work);
            let endless = timeout_ns == u64::MAX;
            if progress.is_over(work.fifo.epoch()) && endless && stuck {
                return self.report_deadlock(command, &mut work);
            }
            drop(work);
            std::thread::sleep(slice.saturating_sub(asked.elapsed()));
        }
    }
}
