//! Instances, and the virtual queue families of physical devices.

use std::sync::Arc;

use ash::vk;

use crate::calls::log::Log;
use crate::calls::{Calls, complain};
use crate::dispatch::loader;
use crate::settings::refusal::Refusal;
use crate::settings::{Injectable, Settings};
use crate::state::instance::Instance;
use crate::state::registry::{add_instance, instance_of, remove_instance};

/// `vkCreateInstance`; fails on invalid settings. `injectable` maps names of commands in scripts.
///
/// # Safety
/// The arguments must be those of the loader's call of `vkCreateInstance`.
pub(crate) unsafe fn create_instance(
    create_info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
    injectable: Injectable,
) -> vk::Result {
    let (settings, log) = match read_settings(injectable) {
        Ok(read) => read,
        Err(refusal) => {
            complain(&refusal.to_string());
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
    };
    let calls = Calls::new(settings.script.clone(), log);
    let call = calls.begin("vkCreateInstance");
    let mut next = None;
    let result = call.run(|| {
        // SAFETY: the loader passes a valid structure.
        let info = unsafe { &*create_info };
        // SAFETY: the structure of the loader's call.
        next = unsafe { loader::next_instance(info) };
        let Some(next) = next else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: `vkCreateInstance` is looked up without an instance.
        let create =
            unsafe { (next.instance_lookup)(vk::Instance::null(), c"vkCreateInstance".as_ptr()) };
        let Some(create) = create else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: the lookup returned the function of this name.
        let create: vk::PFN_vkCreateInstance = unsafe { std::mem::transmute(create) };
        // SAFETY: the app's own arguments.
        unsafe { create(create_info, allocator, out) }
    });
    let (Some(lookups), vk::Result::SUCCESS) = (next, result) else {
        return result;
    };
    // SAFETY: the next layer has written the handle.
    let handle = unsafe { *out };
    // SAFETY: called within vkCreateInstance.
    let instance = unsafe { Instance::new(settings, calls, lookups, handle) };
    // SAFETY: the loader sets the first word of an instance before the chain is called.
    unsafe { add_instance(Arc::new(instance)) };
    result
}

fn read_settings(injectable: Injectable) -> Result<(Settings, Log), Refusal> {
    let settings = Settings::from_env(injectable)?;
    let log = match &settings.log {
        None => Log::default(),
        Some(path) => Log::open(path).map_err(|error| {
            let allowed = format!("a file that can be written ({error})");
            Refusal::of(&path.display().to_string(), &allowed).at("QUADRILLE_LAYER_LOG")
        })?,
    };
    Ok((settings, log))
}

/// `vkDestroyInstance`.
pub(crate) unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if instance == vk::Instance::null() {
        return;
    }
    // SAFETY: the app passes a valid handle.
    let Some(removed) = (unsafe { remove_instance(instance) }) else {
        return;
    };
    removed.calls.begin("vkDestroyInstance").done();
    // SAFETY: the app's own arguments.
    unsafe { (removed.next.core.fp_v1_0().destroy_instance)(instance, allocator) };
}

/// `vkGetPhysicalDeviceQueueFamilyProperties`: returns the virtual families.
pub(crate) unsafe extern "system" fn queue_family_properties(
    physical_device: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::QueueFamilyProperties,
) {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    instance
        .calls
        .begin("vkGetPhysicalDeviceQueueFamilyProperties")
        .done();
    // SAFETY: the app passes a valid handle.
    let real = unsafe {
        instance
            .next
            .core
            .get_physical_device_queue_family_properties(physical_device)
    };
    // SAFETY: the app passes a valid handle.
    let family = unsafe { instance.real_family(physical_device) }.unwrap_or(0);
    let carrier = real.get(family as usize).copied().unwrap_or_default();
    // SAFETY: the app passes an array of `count` elements, or null.
    let Some(out) = (unsafe { array(&instance, count, properties) }) else {
        return;
    };
    for (family, slot) in instance.settings.families.iter().zip(out) {
        *slot = family.properties(carrier);
    }
}

/// `vkGetPhysicalDeviceQueueFamilyProperties2`: returns the virtual families; the driver fills chained structures for
/// the real family.
pub(crate) unsafe extern "system" fn queue_family_properties2(
    physical_device: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::QueueFamilyProperties2<'_>,
) {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    instance
        .calls
        .begin("vkGetPhysicalDeviceQueueFamilyProperties2")
        .done();
    // SAFETY: the app passes a valid handle.
    let family = unsafe { instance.real_family(physical_device) }.unwrap_or(0) as usize;
    // SAFETY: the app passes an array of `count` elements, or null.
    let Some(out) = (unsafe { array(&instance, count, properties) }) else {
        return;
    };
    let query = instance
        .next
        .core
        .fp_v1_1()
        .get_physical_device_queue_family_properties2;
    let mut real_count = 0;
    // SAFETY: a null array queries the count.
    unsafe { query(physical_device, &mut real_count, std::ptr::null_mut()) };
    for (virtual_family, slot) in instance.settings.families.iter().zip(out) {
        let mut real = vec![vk::QueueFamilyProperties2::default(); real_count as usize];
        let Some(carrier) = real.get_mut(family) else {
            return;
        };
        carrier.p_next = slot.p_next;
        // SAFETY: `real` has `real_count` elements, one of them with the app's chain.
        unsafe { query(physical_device, &mut real_count, real.as_mut_ptr()) };
        slot.queue_family_properties =
            virtual_family.properties(real[family].queue_family_properties);
    }
}

/// Writes the count, or returns the app's array limited to the number of virtual families.
///
/// # Safety
/// `count` must be valid; `properties` must be null or point to `count` elements that outlive `'a`.
unsafe fn array<'a, T>(
    instance: &Instance,
    count: *mut u32,
    properties: *mut T,
) -> Option<&'a mut [T]> {
    // SAFETY: valid by the caller's contract.
    let count = unsafe { &mut *count };
    let families = u32::try_from(instance.settings.families.len()).unwrap_or(u32::MAX);
    if properties.is_null() {
        *count = families;
        return None;
    }
    *count = families.min(*count);
    // SAFETY: not null, and at most as long as the caller's array.
    Some(unsafe { std::slice::from_raw_parts_mut(properties, *count as usize) })
}
