//! Public properties of a physical device.

use std::ffi::CStr;

use ash::vk;

use crate::device::DeviceInfo;
use crate::instance::features::Support;
use crate::instance::{Instance, version_text};

/// Reduces limits to the enabled features: drivers may report limits of unsupported features.
pub(super) fn limits(
    reported: vk::PhysicalDeviceLimits,
    enabled: &vk::PhysicalDeviceFeatures,
) -> vk::PhysicalDeviceLimits {
    let mut limits = reported;
    if enabled.sampler_anisotropy == vk::FALSE {
        limits.max_sampler_anisotropy = 1.0;
    }
    if enabled.multi_draw_indirect == vk::FALSE {
        limits.max_draw_indirect_count = 1;
    }
    limits
}

pub(super) fn max_buffer_bytes(instance: &Instance, physical: vk::PhysicalDevice) -> u64 {
    let mut vulkan13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut vulkan13);
    // SAFETY: `physical` was enumerated from this instance, which is of version 1.3.
    unsafe {
        instance
            .raw
            .get_physical_device_properties2(physical, &mut all)
    };
    vulkan13.max_buffer_size
}

pub(super) fn describe(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    properties: &vk::PhysicalDeviceProperties,
    support: &Support,
) -> DeviceInfo {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: `physical` was enumerated from this instance, which is of version 1.3.
    unsafe {
        instance
            .raw
            .get_physical_device_properties2(physical, &mut all)
    };
    // SAFETY: `physical` was enumerated from this instance.
    let memory = unsafe { instance.raw.get_physical_device_memory_properties(physical) };
    let is_local = |heap: &&vk::MemoryHeap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
    let heaps = memory.memory_heaps_as_slice().iter().filter(is_local);
    let driver_name = text(driver.driver_name_as_c_str().unwrap_or_default());
    let driver_version = text(driver.driver_info_as_c_str().unwrap_or_default());
    DeviceInfo {
        name: text(properties.device_name_as_c_str().unwrap_or_default()),
        driver: format!("{driver_name} {driver_version}"),
        api_version: version_text(properties.api_version),
        software: properties.device_type == vk::PhysicalDeviceType::CPU,
        memory_bytes: heaps.map(|heap| heap.size).max().unwrap_or(0),
        validation: instance.validation.clone(),
        extensions: support.extensions.iter().map(|name| text(name)).collect(),
    }
}

pub(super) fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}
