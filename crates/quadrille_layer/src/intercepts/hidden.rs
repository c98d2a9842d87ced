//! Queries of extensions, features and memory types, without hidden ones.

use std::ffi::c_char;

use ash::vk;

use crate::state::registry::instance_of;

/// `vkEnumerateDeviceExtensionProperties`, without hidden extensions.
pub(crate) unsafe extern "system" fn device_extensions(
    physical_device: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    let enumerate = instance
        .next
        .core
        .fp_v1_0()
        .enumerate_device_extension_properties;
    let call = instance.calls.begin("vkEnumerateDeviceExtensionProperties");
    call.run(|| {
        let (hidden, emulated) = (&instance.settings.hidden, instance.settings.emulated);
        if !layer.is_null() || !(hidden.has_extensions() || emulated.is_any()) {
            // SAFETY: the app's own arguments.
            return unsafe { enumerate(physical_device, layer, count, properties) };
        }
        let mut visible = match all_extensions(|count, properties| {
            // SAFETY: the count is valid; the array has as many elements, or is null.
            unsafe { enumerate(physical_device, std::ptr::null(), count, properties) }
        }) {
            Ok(all) => all,
            Err(result) => return result,
        };
        visible.extend(emulated.extensions().flat_map(|name| {
            let extension = vk::ExtensionProperties::default().spec_version(1);
            extension.extension_name(name)
        }));
        visible.retain(|extension| !hidden.hides(extension));
        // SAFETY: the app passes a valid count.
        let count = unsafe { &mut *count };
        if properties.is_null() {
            *count = visible.len() as u32;
            return vk::Result::SUCCESS;
        }
        let fits = visible.len().min(*count as usize);
        // SAFETY: the app's array has `count` elements, and does not overlap ours.
        unsafe { properties.copy_from_nonoverlapping(visible.as_ptr(), fits) };
        *count = fits as u32;
        if fits < visible.len() {
            vk::Result::INCOMPLETE
        } else {
            vk::Result::SUCCESS
        }
    })
}

/// Returns all extensions of the next layer.
fn all_extensions(
    enumerate: impl Fn(&mut u32, *mut vk::ExtensionProperties) -> vk::Result,
) -> Result<Vec<vk::ExtensionProperties>, vk::Result> {
    let mut count = 0;
    enumerate(&mut count, std::ptr::null_mut()).result()?;
    let mut all = vec![vk::ExtensionProperties::default(); count as usize];
    enumerate(&mut count, all.as_mut_ptr()).result()?;
    all.truncate(count as usize);
    Ok(all)
}

/// `vkGetPhysicalDeviceFeatures`, without hidden features.
pub(crate) unsafe extern "system" fn features(
    physical_device: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures,
) {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    instance.calls.begin("vkGetPhysicalDeviceFeatures").done();
    let query = instance.next.core.fp_v1_0().get_physical_device_features;
    // SAFETY: the app's own arguments.
    unsafe { query(physical_device, features) };
    // SAFETY: the driver has written the structure.
    let features = unsafe { &mut *features };
    instance.settings.hidden.hide_core_features(features);
}

/// `vkGetPhysicalDeviceFeatures2`, without hidden features.
pub(crate) unsafe extern "system" fn features2(
    physical_device: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    instance.calls.begin("vkGetPhysicalDeviceFeatures2").done();
    let query = instance.next.core.fp_v1_1().get_physical_device_features2;
    // SAFETY: the app's own arguments.
    unsafe { query(physical_device, features) };
    // SAFETY: the driver has written the structure.
    let features = unsafe { &mut *features };
    // SAFETY: the app passes a valid chain, which no other thread uses during the call.
    unsafe { instance.settings.emulated.announce(features.p_next) };
    let hidden = &instance.settings.hidden;
    hidden.hide_core_features(&mut features.features);
    // SAFETY: as above.
    unsafe { hidden.hide_features(features.p_next) };
}

/// `vkGetPhysicalDeviceMemoryProperties`: no type is coherent if coherence is hidden.
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
    // SAFETY: the driver has written the structure.
    let properties = unsafe { &mut *properties };
    instance.settings.hidden.hide_coherence(properties);
}

/// `vkGetPhysicalDeviceMemoryProperties2`, likewise.
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
    // SAFETY: the driver has written the structure.
    let properties = unsafe { &mut *properties };
    instance
        .settings
        .hidden
        .hide_coherence(&mut properties.memory_properties);
}
