//! Lookups of commands by the loader and by the layer above.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::null;
use super::table::{COMMANDS, Command, Reason, Scope, commands, is_hidden, returns_result};
use crate::intercepts::instance;
use crate::state::registry::{device_of, instance_of};

/// Commands that look up others, or that need a lookup to read the settings.
#[rustfmt::skip]
static LOOKUPS: &[Command] = commands! {
    Global Lifetime nothing PFN_vkGetInstanceProcAddr [c"vkGetInstanceProcAddr"] instance_lookup;
    Global Lifetime result PFN_vkCreateInstance [c"vkCreateInstance"] create_instance;
    Device Lifetime nothing PFN_vkGetDeviceProcAddr [c"vkGetDeviceProcAddr"] device_lookup;
};

/// All intercepted commands.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    LOOKUPS.iter().chain(COMMANDS)
}

/// Finds the intercepted command of this name.
pub(super) fn find(name: &CStr) -> Option<&'static Command> {
    all().find(|command| command.names.contains(&name))
}

/// Returns the name that a command is counted under, if the script can replace its result.
pub(super) fn injectable(name: &str) -> Option<&'static str> {
    let is_named = |known: &&CStr| known.to_bytes() == name.as_bytes();
    let command =
        all().find(|command| command.returns_result && command.names.iter().any(is_named))?;
    command.names.first().and_then(|first| first.to_str().ok())
}

/// `vkCreateInstance`; fails on invalid settings.
unsafe extern "system" fn create_instance(
    create_info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the arguments of the loader's call.
    unsafe { instance::create_instance(create_info, allocator, out, injectable) }
}

/// `vkGetInstanceProcAddr`, also when called through the loader interface.
pub(crate) unsafe extern "system" fn instance_lookup(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) };
    let own = find(name);
    // The loader looks up vkCreateInstance with an instance that does not exist yet.
    if let Some(command) = own.filter(|command| command.is_global()) {
        return command.function;
    }
    if instance == vk::Instance::null() || is_hidden(name) {
        return None;
    }
    // SAFETY: the caller passes a valid handle.
    let known = unsafe { instance_of(instance) };
    let next = known.next_command(name)?;
    let own = own.filter(|_| !known.leaves_alone(name));
    Some(own.and_then(|command| command.function).unwrap_or(next))
}

/// `vk_layerGetPhysicalDeviceProcAddr`.
pub(crate) unsafe extern "system" fn physical_device_lookup(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) };
    if is_hidden(name) {
        return None;
    }
    // SAFETY: the caller passes a valid handle.
    let known = unsafe { instance_of(instance) };
    let next = known.next_physical_device_command(name)?;
    let own = find(name).filter(|command| command.is_of_physical_device());
    Some(own.and_then(|command| command.function).unwrap_or(next))
}

/// `vkGetDeviceProcAddr`.
pub(crate) unsafe extern "system" fn device_lookup(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a valid handle.
    let known = unsafe { device_of(device) };
    // SAFETY: the caller passes a C string.
    let text = unsafe { CStr::from_ptr(name) };
    if known.driver.instance.settings.emulated.has_command(text) {
        // The driver does not have emulated commands.
        return find(text)?.function;
    }
    let next = known.driver.next_command(text)?;
    if known.driver.instance.leaves_alone(text) {
        return Some(next);
    }
    if is_hidden(text) {
        return None;
    }
    if known.driver.instance.settings.null && null::is_swallowed(text) {
        return null::swallow();
    }
    let own = find(text).filter(|command| command.is_of_device());
    Some(own.and_then(|command| command.function).unwrap_or(next))
}
