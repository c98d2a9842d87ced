//! Commands of extensions that take a queue or a family, and need nothing but the real one.

use ash::vk;

use crate::memory::find;
use crate::registry::device_of;

/// `vkCreateQueryPool`: a performance query pool is made for the real family.
pub(crate) unsafe extern "system" fn create_query_pool(
    device: vk::Device,
    create_info: *const vk::QueryPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::QueryPool,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let mut info = unsafe { *create_info };
    // SAFETY: its chain is valid too.
    let performance = unsafe { find::<vk::QueryPoolPerformanceCreateInfoKHR<'_>>(info.p_next) };
    let mut real;
    if let Some(performance) = performance {
        // It is the only structure that a performance query pool has in its chain.
        real = *performance;
        real.queue_family_index = device.family;
        info.p_next = std::ptr::from_ref(&real).cast();
    }
    let call = device.calls().begin("vkCreateQueryPool");
    let create = device.next.core.fp_v1_0().create_query_pool;
    // SAFETY: the app's own arguments, on the real family.
    call.run(|| unsafe { create(device.handle(), &info, allocator, out) })
}

/// `vkCreateVideoSessionKHR`, on the real family.
pub(crate) unsafe extern "system" fn create_video_session(
    device: vk::Device,
    create_info: *const vk::VideoSessionCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::VideoSessionKHR,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let mut info = unsafe { *create_info };
    info.queue_family_index = device.family;
    let call = device.calls().begin("vkCreateVideoSessionKHR");
    let create = device.next.video_queue.create_video_session_khr;
    // SAFETY: the app's own arguments, on the real family.
    call.run(|| unsafe { create(device.handle(), &info, allocator, out) })
}

/// `vkGetQueueCheckpointDataNV`, of the real queue.
pub(crate) unsafe extern "system" fn queue_checkpoint_data(
    queue: vk::Queue,
    count: *mut u32,
    data: *mut vk::CheckpointDataNV<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    device.calls().begin("vkGetQueueCheckpointDataNV").done();
    // SAFETY: the app's own arguments, on the real queue.
    unsafe { (device.next.checkpoints.get_queue_checkpoint_data_nv)(device.queue, count, data) };
}

/// `vkGetQueueCheckpointData2NV`, of the real queue.
pub(crate) unsafe extern "system" fn queue_checkpoint_data2(
    queue: vk::Queue,
    count: *mut u32,
    data: *mut vk::CheckpointData2NV<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    device.calls().begin("vkGetQueueCheckpointData2NV").done();
    let get = device.next.synchronization2.get_queue_checkpoint_data2_nv;
    // SAFETY: the app's own arguments, on the real queue.
    unsafe { get(device.queue, count, data) };
}

/// `vkQueueSetPerformanceConfigurationINTEL`, on the real queue.
pub(crate) unsafe extern "system" fn queue_performance_configuration(
    queue: vk::Queue,
    configuration: vk::PerformanceConfigurationINTEL,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    device
        .calls()
        .begin("vkQueueSetPerformanceConfigurationINTEL")
        .run(|| {
            let _guards_the_real_queue = device.work();
            let set = device
                .next
                .performance_query
                .queue_set_performance_configuration_intel;
            // SAFETY: the app's own arguments, on the real queue.
            unsafe { set(device.queue, configuration) }
        })
}

/// `vkQueueNotifyOutOfBandNV`, on the real queue.
pub(crate) unsafe extern "system" fn queue_notify_out_of_band(
    queue: vk::Queue,
    info: *const vk::OutOfBandQueueTypeInfoNV<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(queue) };
    device.calls().begin("vkQueueNotifyOutOfBandNV").done();
    let _guards_the_real_queue = device.work();
    // SAFETY: the app's own arguments, on the real queue.
    unsafe { (device.next.low_latency2.queue_notify_out_of_band_nv)(device.queue, info) };
}
