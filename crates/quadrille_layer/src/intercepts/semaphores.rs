//! Semaphores: informs the hold-back model of their creation and of host signals.

use ash::vk::{self, Handle};

use crate::dispatch::chain::find;
use crate::queues::fifo::Point;
use crate::state::registry::device_of;

/// `vkCreateSemaphore`.
pub(crate) unsafe extern "system" fn create_semaphore(
    device: vk::Device,
    create_info: *const vk::SemaphoreCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Semaphore,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*create_info };
    // SAFETY: its chain is valid too.
    let kind = unsafe { find::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next) };
    let timeline = kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE);
    let call = device
        .calls()
        .begin("vkCreateSemaphore")
        .detail("timeline", u32::from(timeline.is_some()));
    let create = device.driver.next.core.fp_v1_0().create_semaphore;
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { create(device.handle(), info, allocator, out) });
    if result == vk::Result::SUCCESS {
        // SAFETY: the driver has written the handle.
        let semaphore = unsafe { *out }.as_raw();
        let fifo = &mut device.work().fifo;
        match timeline {
            Some(kind) => fifo.create_timeline(semaphore, kind.initial_value),
            None => fifo.create_binary(semaphore),
        }
    }
    result
}

/// `vkDestroySemaphore`.
pub(crate) unsafe extern "system" fn destroy_semaphore(
    device: vk::Device,
    semaphore: vk::Semaphore,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkDestroySemaphore").done();
    device.work().fifo.destroy(semaphore.as_raw());
    device.names.forget(semaphore.as_raw());
    let destroy = device.driver.next.core.fp_v1_0().destroy_semaphore;
    // SAFETY: the app's own arguments.
    unsafe { destroy(device.handle(), semaphore, allocator) };
}

/// `vkSignalSemaphore`: a host signal.
pub(crate) unsafe extern "system" fn signal_semaphore(
    device: vk::Device,
    signal_info: *const vk::SemaphoreSignalInfo<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*signal_info };
    device
        .calls()
        .begin("vkSignalSemaphore")
        .detail("value", info.value)
        .run(|| {
            if device.is_lost() {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            let mut work = device.work();
            // SAFETY: the app's own arguments.
            let result = unsafe {
                (device.driver.next.core.fp_v1_2().signal_semaphore)(device.handle(), info)
            };
            if result != vk::Result::SUCCESS {
                return result;
            }
            work.fifo.signal(Point {
                semaphore: info.semaphore.as_raw(),
                value: info.value,
            });
            work.forward_unasked(&device.driver)
        })
}

/// `vkGetSemaphoreCounterValue`.
pub(crate) unsafe extern "system" fn semaphore_value(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.run(device.calls().begin("vkGetSemaphoreCounterValue"), || {
        if device.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        match device.work().forward_polled(&device.driver) {
            vk::Result::SUCCESS => {}
            error => return error,
        }
        if device.calls().next_counter_is_max() {
            // SAFETY: the app passes a pointer for the value.
            unsafe { *value = u64::MAX };
            return vk::Result::SUCCESS;
        }
        let query = device
            .driver
            .next
            .core
            .fp_v1_2()
            .get_semaphore_counter_value;
        // SAFETY: the app's own arguments.
        unsafe { query(device.handle(), semaphore, value) }
    })
}

/// `vkGetQueryPoolResults`: may wait for queries in held work.
pub(crate) unsafe extern "system" fn query_pool_results(
    device: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    size: usize,
    data: *mut std::ffi::c_void,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.run(device.calls().begin("vkGetQueryPoolResults"), || {
        let forwarded = if flags.contains(vk::QueryResultFlags::WAIT) {
            device
                .work()
                .forward_until(&device.driver, |work| work.fifo.len() == 0)
                .map(|_| ())
        } else {
            device.work().forward_polled(&device.driver).result()
        };
        if let Err(error) = forwarded {
            return error;
        }
        let get = device.driver.next.core.fp_v1_0().get_query_pool_results;
        // SAFETY: the app's own arguments.
        unsafe {
            get(
                device.handle(),
                pool,
                first,
                count,
                size,
                data,
                stride,
                flags,
            )
        }
    })
}
