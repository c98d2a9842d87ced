//! Devices and their queues: one real queue carries all virtual queues.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use ash::vk::{self, Handle};

use crate::calls::complain;
use crate::dispatch::chain::slice;
use crate::dispatch::loader;
use crate::queues::virtual_queue::VirtualQueues;
use crate::settings::emulated::Emulated;
use crate::state::deadlock::report_at_exit;
use crate::state::device::Device;
use crate::state::driver::Driver;
use crate::state::instance::Instance;
use crate::state::poison::Poison;
use crate::state::registry::{add_device, device_of, instance_of, remove_device};

/// `vkCreateDevice`: the requested virtual queues become one real queue.
pub(crate) unsafe extern "system" fn create_device(
    physical_device: vk::PhysicalDevice,
    create_info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    let calls = Arc::clone(&instance);
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*create_info };
    calls.calls.begin("vkCreateDevice").run(|| {
        // SAFETY: the app's own arguments.
        match unsafe { create(instance, physical_device, info, allocator, out) } {
            Ok(()) => vk::Result::SUCCESS,
            Err(result) => result,
        }
    })
}

/// # Safety
/// The arguments must be those of the loader's call of `vkCreateDevice`.
unsafe fn create(
    instance: Arc<Instance>,
    physical_device: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> Result<(), vk::Result> {
    let failed = vk::Result::ERROR_INITIALIZATION_FAILED;
    // SAFETY: the app passes `count` structures.
    let requests = unsafe { slice(info.p_queue_create_infos, info.queue_create_info_count) };
    let queues = VirtualQueues::new(&instance.settings.families, requests).ok_or_else(|| {
        complain("vkCreateDevice asks for queues that no virtual family has");
        failed
    })?;
    // SAFETY: the app passes a valid handle.
    let family = unsafe { instance.real_family(physical_device) }.ok_or_else(|| {
        complain("no queue family of this device can carry all of QUADRILLE_LAYER_FAMILIES");
        failed
    })?;
    let real = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let real_info = (*info).queue_create_infos(&real);

    // SAFETY: the structure of the loader's call.
    let next = unsafe { loader::next_device(info) }.ok_or(failed)?;
    let adopt = next.adopt.ok_or(failed)?;
    // SAFETY: the instance is valid, the name is a C string.
    let create = unsafe { (next.instance_lookup)(instance.handle(), c"vkCreateDevice".as_ptr()) };
    // SAFETY: the lookup returned the function of this name.
    let create: vk::PFN_vkCreateDevice = unsafe { std::mem::transmute(create.ok_or(failed)?) };
    let emulated = instance.settings.emulated;
    // SAFETY: the app passes a valid structure.
    let names = unsafe { real_extensions(info, emulated) };
    let real_info = real_info.enabled_extension_names(&names);
    // SAFETY: the app's own arguments, with other queues and without emulated extensions.
    let run = || unsafe { create(physical_device, &real_info, allocator, out) };
    // SAFETY: the app's chain is valid, and this is its call.
    unsafe { emulated.without_features(info.p_next, run) }.result()?;
    // SAFETY: the next layer has written the handle.
    let handle = unsafe { *out };
    let poison = instance.settings.poison.then(|| {
        // SAFETY: the physical device is that of the new device.
        unsafe { Poison::new(&instance, physical_device) }
    });
    // SAFETY: created above, within this vkCreateDevice.
    let driver = unsafe { Driver::new(instance, next, adopt, handle, family) };
    let queue = driver.queue;
    let device = Device::new(driver, queues, poison);
    let objects = device
        .queues
        .iter()
        .map(|virtual_queue| virtual_queue.object());
    for object in objects.chain([queue.as_raw() as *mut std::ffi::c_void]) {
        // SAFETY: dispatchable objects that the loader has not initialized.
        if let Err(error) = unsafe { device.driver.adopt(object) }.result() {
            let destroy = device.driver.next.core.fp_v1_0().destroy_device;
            // SAFETY: the app's allocator, and a device that has not been returned to the app.
            unsafe { destroy(handle, allocator) };
            return Err(error);
        }
    }
    // SAFETY: the loader has set the first word of the device.
    unsafe { add_device(Arc::new(device)) };
    report_at_exit();
    Ok(())
}

/// Returns the extensions for the driver: all except emulated ones.
///
/// # Safety
/// The structure must be valid.
unsafe fn real_extensions(
    info: &vk::DeviceCreateInfo<'_>,
    emulated: Emulated,
) -> Vec<*const c_char> {
    // SAFETY: valid by the caller's contract.
    let names = unsafe {
        slice(
            info.pp_enabled_extension_names,
            info.enabled_extension_count,
        )
    };
    let is_real = |name: &&*const c_char| {
        // SAFETY: the names are C strings.
        let name = unsafe { CStr::from_ptr(**name) };
        !emulated.extensions().any(|emulated| emulated == name)
    };
    names.iter().filter(is_real).copied().collect()
}

/// `vkDestroyDevice`; reports submissions that are still held.
pub(crate) unsafe extern "system" fn destroy_device(
    device: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if device == vk::Device::null() {
        return;
    }
    // SAFETY: the app passes a valid handle.
    let Some(removed) = (unsafe { remove_device(device) }) else {
        return;
    };
    removed.calls().begin("vkDestroyDevice").done();
    removed.report_left_over();
    if let Some(poison) = &removed.poison {
        // SAFETY: the app has waited for the device.
        unsafe { poison.destroy(&removed.driver) };
    }
    // SAFETY: the app's own arguments.
    unsafe { (removed.driver.next.core.fp_v1_0().destroy_device)(device, allocator) };
}

/// `vkGetDeviceQueue`.
pub(crate) unsafe extern "system" fn device_queue(
    device: vk::Device,
    family: u32,
    index: u32,
    out: *mut vk::Queue,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkGetDeviceQueue").done();
    let queue = device
        .queues
        .find(family, index, vk::DeviceQueueCreateFlags::empty());
    // SAFETY: the app passes a valid pointer.
    unsafe { out.write(queue) };
}

/// `vkGetDeviceQueue2`.
pub(crate) unsafe extern "system" fn device_queue2(
    device: vk::Device,
    info: *const vk::DeviceQueueInfo2<'_>,
    out: *mut vk::Queue,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkGetDeviceQueue2").done();
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    let queue = device
        .queues
        .find(info.queue_family_index, info.queue_index, info.flags);
    // SAFETY: the app passes a valid pointer.
    unsafe { out.write(queue) };
}
