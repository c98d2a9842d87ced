//! Interface between the Vulkan loader and a layer.
//!
//! The structures mirror `vk_layer.h` of the loader (interface version 2), which is not part of the Vulkan registry and
//! so not in ash.

use std::ffi::{c_char, c_void};

use ash::vk;

/// Supported version of the loader's layer interface.
pub(crate) const INTERFACE_VERSION: u32 = 2;

/// Value of a dispatchable object's first word before the loader initializes it.
pub(crate) const LOADER_MAGIC: usize = 0x01CD_C0DE;

const LOADER_INSTANCE_CREATE_INFO: vk::StructureType = vk::StructureType::from_raw(47);
const LOADER_DEVICE_CREATE_INFO: vk::StructureType = vk::StructureType::from_raw(48);

/// `VkLayerFunction`: the payload is the link to the next layer.
const LINK: u32 = 0;
/// `VkLayerFunction`: the payload is the function that initializes a dispatchable object.
const ADOPT: u32 = 1;

/// A function that looks up a command of a physical device.
pub(crate) type PhysicalDeviceLookup =
    unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;

/// `PFN_vkSetDeviceLoaderData`: writes the loader's dispatch table into a dispatchable object.
pub(crate) type Adopt = unsafe extern "system" fn(vk::Device, *mut c_void) -> vk::Result;

/// `VkNegotiateLayerInterface`: filled in when the loader opens the library.
#[repr(C)]
#[derive(Debug)]
pub struct NegotiateLayerInterface {
    pub(crate) s_type: u32,
    pub(crate) p_next: *mut c_void,
    pub(crate) version: u32,
    pub(crate) instance_lookup: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub(crate) device_lookup: Option<vk::PFN_vkGetDeviceProcAddr>,
    pub(crate) physical_device_lookup: Option<PhysicalDeviceLookup>,
}

/// `VkLayerInstanceLink`: lookups of the next layer.
#[repr(C)]
struct InstanceLink {
    next: *mut InstanceLink,
    instance_lookup: vk::PFN_vkGetInstanceProcAddr,
    physical_device_lookup: Option<PhysicalDeviceLookup>,
}

/// `VkLayerDeviceLink`: lookups of the next layer.
#[repr(C)]
struct DeviceLink {
    next: *mut DeviceLink,
    instance_lookup: vk::PFN_vkGetInstanceProcAddr,
    device_lookup: vk::PFN_vkGetDeviceProcAddr,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`, which differ only in their link.
#[repr(C)]
struct CreateInfo<Link> {
    s_type: vk::StructureType,
    p_next: *const c_void,
    function: u32,
    payload: Payload<Link>,
}

#[repr(C)]
union Payload<Link> {
    link: *mut Link,
    adopt: Option<Adopt>,
}

/// The next layer's lookups at instance creation.
#[derive(Clone, Copy)]
pub(crate) struct NextInstance {
    pub(crate) instance_lookup: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) physical_device_lookup: Option<PhysicalDeviceLookup>,
}

/// The next layer's lookups at device creation.
#[derive(Clone, Copy)]
pub(crate) struct NextDevice {
    pub(crate) instance_lookup: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) device_lookup: vk::PFN_vkGetDeviceProcAddr,
    pub(crate) adopt: Option<Adopt>,
}

/// Removes this layer's link from the chain, so that the next layer finds its own first.
///
/// # Safety
/// `create_info` must be the valid argument of the loader's call of `vkCreateInstance`.
pub(crate) unsafe fn next_instance(
    create_info: &vk::InstanceCreateInfo<'_>,
) -> Option<NextInstance> {
    // SAFETY: the caller passes the chain that the loader built.
    let info =
        unsafe { find::<InstanceLink>(create_info.p_next, LOADER_INSTANCE_CREATE_INFO, LINK) }?;
    // SAFETY: `function` identifies the member of the union.
    let payload = unsafe { &mut info.payload.link };
    // SAFETY: the loader keeps one link per layer alive during the call.
    let link = unsafe { payload.as_ref() }?;
    *payload = link.next;
    Some(NextInstance {
        instance_lookup: link.instance_lookup,
        physical_device_lookup: link.physical_device_lookup,
    })
}

/// Removes this layer's link from the chain, so that the next layer finds its own first.
///
/// # Safety
/// `create_info` must be the valid argument of the loader's call of `vkCreateDevice`.
pub(crate) unsafe fn next_device(create_info: &vk::DeviceCreateInfo<'_>) -> Option<NextDevice> {
    // SAFETY: the caller passes the chain that the loader built.
    let info = unsafe { find::<DeviceLink>(create_info.p_next, LOADER_DEVICE_CREATE_INFO, LINK) }?;
    // SAFETY: `function` identifies the member of the union.
    let payload = unsafe { &mut info.payload.link };
    // SAFETY: the loader keeps one link per layer alive during the call.
    let link = unsafe { payload.as_ref() }?;
    *payload = link.next;
    // SAFETY: the caller passes the chain that the loader built.
    let adopt = unsafe { find::<DeviceLink>(create_info.p_next, LOADER_DEVICE_CREATE_INFO, ADOPT) };
    Some(NextDevice {
        instance_lookup: link.instance_lookup,
        device_lookup: link.device_lookup,
        // SAFETY: `function` identifies the member of the union.
        adopt: adopt.and_then(|info| unsafe { info.payload.adopt }),
    })
}

/// Finds the loader's structure with this function.
///
/// # Safety
/// `p_next` must start a valid chain whose structures of type `s_type` are `CreateInfo<Link>`, and no other thread may
/// use these during `'a`.
unsafe fn find<'a, Link>(
    mut p_next: *const c_void,
    s_type: vk::StructureType,
    function: u32,
) -> Option<&'a mut CreateInfo<Link>> {
    // SAFETY: every structure of a valid chain begins with a type and a pointer.
    while let Some(base) = unsafe { p_next.cast::<vk::BaseInStructure<'_>>().as_ref() } {
        if base.s_type == s_type {
            let info = p_next.cast::<CreateInfo<Link>>().cast_mut();
            // SAFETY: `sType` identifies it; the loader lets layers modify its own structures.
            let info = unsafe { &mut *info };
            if info.function == function {
                return Some(info);
            }
        }
        p_next = base.p_next.cast();
    }
    None
}
