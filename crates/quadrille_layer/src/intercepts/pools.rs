//! Command pools, created for the real family.

use ash::vk;

use crate::dispatch::chain::slice;
use crate::state::registry::device_of;

/// `vkCreateCommandPool`, on the real family.
pub(crate) unsafe extern "system" fn create_command_pool(
    device: vk::Device,
    create_info: *const vk::CommandPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::CommandPool,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let mut info = unsafe { *create_info };
    let family = std::mem::replace(&mut info.queue_family_index, device.driver.family);
    let call = device
        .calls()
        .begin("vkCreateCommandPool")
        .detail("family", family);
    let create = device.driver.next.core.fp_v1_0().create_command_pool;
    // SAFETY: the app's own arguments, on the real family.
    let result = call.run(|| unsafe { create(device.handle(), &info, allocator, out) });
    if result == vk::Result::SUCCESS {
        // SAFETY: the driver has written the handle.
        device.pools.add(unsafe { *out }, family);
    }
    result
}

/// `vkDestroyCommandPool`.
pub(crate) unsafe extern "system" fn destroy_command_pool(
    device: vk::Device,
    pool: vk::CommandPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkDestroyCommandPool").done();
    device.pools.remove(pool);
    // SAFETY: the app's own arguments.
    unsafe {
        (device.driver.next.core.fp_v1_0().destroy_command_pool)(device.handle(), pool, allocator)
    };
}

/// `vkAllocateCommandBuffers`.
pub(crate) unsafe extern "system" fn allocate_command_buffers(
    device: vk::Device,
    allocate_info: *const vk::CommandBufferAllocateInfo<'_>,
    out: *mut vk::CommandBuffer,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*allocate_info };
    let call = device.calls().begin("vkAllocateCommandBuffers");
    let allocate = device.driver.next.core.fp_v1_0().allocate_command_buffers;
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { allocate(device.handle(), info, out) });
    if result == vk::Result::SUCCESS {
        // SAFETY: the driver has written this many handles.
        let buffers = unsafe { slice(out, info.command_buffer_count) };
        device.pools.add_buffers(info.command_pool, buffers);
    }
    result
}
