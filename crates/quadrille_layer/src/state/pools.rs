//! Command pools: which virtual family a command buffer is recorded for.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use ash::vk;

use crate::dispatch::chain::slice;
use crate::state::registry::device_of;

/// The virtual families of command pools and their command buffers.
#[derive(Debug, Default)]
pub(crate) struct Pools(RwLock<Families>);

#[derive(Debug, Default)]
struct Families {
    pools: HashMap<vk::CommandPool, u32>,
    buffers: HashMap<vk::CommandBuffer, (vk::CommandPool, u32)>,
}

impl Pools {
    /// The virtual family that a command buffer is recorded for.
    pub(crate) fn family(&self, buffer: vk::CommandBuffer) -> u32 {
        let families = self.0.read().unwrap_or_else(PoisonError::into_inner);
        families
            .buffers
            .get(&buffer)
            .map_or(vk::QUEUE_FAMILY_IGNORED, |(_, family)| *family)
    }

    fn add(&self, pool: vk::CommandPool, family: u32) {
        self.write(|families| families.pools.extend([(pool, family)]));
    }

    fn add_buffers(&self, pool: vk::CommandPool, buffers: &[vk::CommandBuffer]) {
        self.write(|families| {
            let family = families
                .pools
                .get(&pool)
                .copied()
                .unwrap_or(vk::QUEUE_FAMILY_IGNORED);
            families
                .buffers
                .extend(buffers.iter().map(|buffer| (*buffer, (pool, family))));
        });
    }

    fn remove(&self, pool: vk::CommandPool) {
        self.write(|families| {
            families.pools.remove(&pool);
            families.buffers.retain(|_, (owner, _)| *owner != pool);
        });
    }

    fn write(&self, change: impl FnOnce(&mut Families)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

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
    let family = std::mem::replace(&mut info.queue_family_index, device.family);
    let call = device
        .calls()
        .begin("vkCreateCommandPool")
        .detail("family", family);
    let create = device.next.core.fp_v1_0().create_command_pool;
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
    unsafe { (device.next.core.fp_v1_0().destroy_command_pool)(device.handle(), pool, allocator) };
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
    let allocate = device.next.core.fp_v1_0().allocate_command_buffers;
    // SAFETY: the app's own arguments.
    let result = call.run(|| unsafe { allocate(device.handle(), info, out) });
    if result == vk::Result::SUCCESS {
        // SAFETY: the driver has written this many handles.
        let buffers = unsafe { slice(out, info.command_buffer_count) };
        device.pools.add_buffers(info.command_pool, buffers);
    }
    result
}
