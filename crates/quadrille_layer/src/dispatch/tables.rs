//! Commands of the next layer, looked up once.
//!
//! All commands are looked up at creation: a later lookup through the next layer may return the top of the chain, which
//! is this layer.

use std::ffi::{CStr, CString, c_char, c_void};

use ash::{ext, khr, vk};

/// The commands of an instance and its physical devices.
pub(crate) struct InstanceTable {
    pub(crate) core: ash::Instance,
    pub(crate) surface: khr::surface::InstanceFn,
    pub(crate) surface_capabilities2: khr::get_surface_capabilities2::InstanceFn,
    pub(crate) headless_surface: ext::headless_surface::InstanceFn,
    pub(crate) xlib_surface: khr::xlib_surface::InstanceFn,
    pub(crate) xcb_surface: khr::xcb_surface::InstanceFn,
    pub(crate) wayland_surface: khr::wayland_surface::InstanceFn,
}

impl InstanceTable {
    /// # Safety
    /// `lookup` must be the next layer's, during the `vkCreateInstance` that created `instance`.
    pub(crate) unsafe fn load(
        instance: vk::Instance,
        lookup: vk::PFN_vkGetInstanceProcAddr,
    ) -> Self {
        // SAFETY: the lookup is valid by the caller's contract; the name is a C string.
        let next = |name: *const c_char| unsafe { lookup(instance, name) };
        let get = |name: &CStr| find(name, next);
        Self {
            // SAFETY: the pointers belong to this instance.
            core: unsafe { ash::Instance::load_with(get, instance) },
            surface: khr::surface::InstanceFn::load(get),
            surface_capabilities2: khr::get_surface_capabilities2::InstanceFn::load(get),
            headless_surface: ext::headless_surface::InstanceFn::load(get),
            xlib_surface: khr::xlib_surface::InstanceFn::load(get),
            xcb_surface: khr::xcb_surface::InstanceFn::load(get),
            wayland_surface: khr::wayland_surface::InstanceFn::load(get),
        }
    }
}

/// The commands of a device.
pub(crate) struct DeviceTable {
    pub(crate) core: ash::Device,
    pub(crate) swapchain: khr::swapchain::DeviceFn,
    pub(crate) debug_utils: ext::debug_utils::DeviceFn,
}

impl DeviceTable {
    /// # Safety
    /// `lookup` must be the next layer's, during the `vkCreateDevice` that created `device`.
    pub(crate) unsafe fn load(device: vk::Device, lookup: vk::PFN_vkGetDeviceProcAddr) -> Self {
        // SAFETY: the lookup is valid by the caller's contract; the name is a C string.
        let next = |name: *const c_char| unsafe { lookup(device, name) };
        let get = |name: &CStr| find(name, next);
        Self {
            // SAFETY: the pointers belong to this device.
            core: unsafe { ash::Device::load_with(get, device) },
            swapchain: khr::swapchain::DeviceFn::load(get),
            debug_utils: ext::debug_utils::DeviceFn::load(get),
        }
    }
}

/// Looks up a command by its name, or by a former name as an extension.
fn find(name: &CStr, lookup: impl Fn(*const c_char) -> vk::PFN_vkVoidFunction) -> *const c_void {
    let aliases = ["", "KHR", "EXT"]
        .iter()
        .map_while(|suffix| CString::new([name.to_bytes(), suffix.as_bytes()].concat()).ok());
    let mut found = aliases.filter_map(|alias| lookup(alias.as_ptr()));
    found
        .next()
        .map_or(std::ptr::null(), |function| function as *const c_void)
}
