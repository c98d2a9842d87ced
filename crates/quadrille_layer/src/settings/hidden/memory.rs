//! Memory types that seem not to be coherent.
//!
//! Vulkan promises one that is, so no device is without; but many a phone has none that is cached
//! too, and software drivers have no other. With `hostCoherent` among what is hidden, what the host
//! maps has to be flushed and invalidated by the rules.

use ash::vk;

use crate::state::registry::instance_of;

/// The name in `QUADRILLE_LAYER_HIDE`: that of no feature, but of a property of memory.
pub(super) const HOST_COHERENT: &str = "hostCoherent";

/// `vkGetPhysicalDeviceMemoryProperties`: no type is coherent, if that is hidden.
pub(crate) unsafe extern "system" fn memory_properties(
    physical_device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceMemoryProperties,
) {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    let command = "vkGetPhysicalDeviceMemoryProperties";
    instance.calls.begin(command).done();
    let core = &instance.next.core;
    let query = core.fp_v1_0().get_physical_device_memory_properties;
    // SAFETY: the app's own arguments.
    unsafe { query(physical_device, properties) };
    if instance.settings.hidden.coherent {
        // SAFETY: the driver has written the structure.
        hide(unsafe { &mut *properties });
    }
}

/// `vkGetPhysicalDeviceMemoryProperties2`: as above.
pub(crate) unsafe extern "system" fn memory_properties2(
    physical_device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceMemoryProperties2<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    let command = "vkGetPhysicalDeviceMemoryProperties2";
    instance.calls.begin(command).done();
    let core = &instance.next.core;
    let query = core.fp_v1_1().get_physical_device_memory_properties2;
    // SAFETY: the app's own arguments.
    unsafe { query(physical_device, properties) };
    if instance.settings.hidden.coherent {
        // SAFETY: the driver has written the structure.
        hide(&mut unsafe { &mut *properties }.memory_properties);
    }
}

fn hide(properties: &mut vk::PhysicalDeviceMemoryProperties) {
    let count = properties.memory_type_count as usize;
    for kind in properties.memory_types.iter_mut().take(count) {
        kind.property_flags &= !vk::MemoryPropertyFlags::HOST_COHERENT;
    }
}
