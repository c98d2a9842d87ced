//! Names, tags and labels: a virtual queue's handle means nothing to the driver.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{PoisonError, RwLock};

use ash::vk;

use crate::registry::device_of;

/// The debug names of semaphores, for reports.
#[derive(Debug, Default)]
pub(crate) struct Names(RwLock<HashMap<u64, String>>);

impl Names {
    /// The name of a semaphore, or its handle.
    pub(crate) fn describe(&self, semaphore: u64) -> String {
        let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
        names
            .get(&semaphore)
            .map_or_else(|| format!("{semaphore:#x}"), |name| format!("`{name}`"))
    }

    /// The semaphore was destroyed.
    pub(crate) fn forget(&self, semaphore: u64) {
        self.set(semaphore, None);
    }

    /// The semaphore has this name from now on, or none.
    fn set(&self, semaphore: u64, name: Option<&CStr>) {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match name {
            Some(name) => names.insert(semaphore, name.to_string_lossy().into_owned()),
            None => names.remove(&semaphore),
        };
    }
}

/// `vkSetDebugUtilsObjectNameEXT`.
pub(crate) unsafe extern "system" fn set_object_name(
    device: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    device
        .calls()
        .begin("vkSetDebugUtilsObjectNameEXT")
        .run(|| {
            if info.object_type == vk::ObjectType::SEMAPHORE {
                // SAFETY: a C string, or null.
                let name = unsafe { info.object_name_as_c_str() };
                device.names.set(info.object_handle, name);
            }
            if info.object_type == vk::ObjectType::QUEUE {
                return vk::Result::SUCCESS;
            }
            // SAFETY: the app's own arguments.
            unsafe {
                (device.next.debug_utils.set_debug_utils_object_name_ext)(device.handle(), info)
            }
        })
}

/// `vkSetDebugUtilsObjectTagEXT`.
pub(crate) unsafe extern "system" fn set_object_tag(
    device: vk::Device,
    info: *const vk::DebugUtilsObjectTagInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    device.calls().begin("vkSetDebugUtilsObjectTagEXT").run(|| {
        if info.object_type == vk::ObjectType::QUEUE {
            return vk::Result::SUCCESS;
        }
        // SAFETY: the app's own arguments.
        unsafe { (device.next.debug_utils.set_debug_utils_object_tag_ext)(device.handle(), info) }
    })
}

/// `vkDebugMarkerSetObjectNameEXT`.
pub(crate) unsafe extern "system" fn set_marker_name(
    device: vk::Device,
    info: *const vk::DebugMarkerObjectNameInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    device
        .calls()
        .begin("vkDebugMarkerSetObjectNameEXT")
        .run(|| {
            if info.object_type == vk::DebugReportObjectTypeEXT::QUEUE {
                return vk::Result::SUCCESS;
            }
            // SAFETY: the app's own arguments.
            unsafe {
                (device.next.debug_marker.debug_marker_set_object_name_ext)(device.handle(), info)
            }
        })
}

/// `vkDebugMarkerSetObjectTagEXT`.
pub(crate) unsafe extern "system" fn set_marker_tag(
    device: vk::Device,
    info: *const vk::DebugMarkerObjectTagInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    device
        .calls()
        .begin("vkDebugMarkerSetObjectTagEXT")
        .run(|| {
            if info.object_type == vk::DebugReportObjectTypeEXT::QUEUE {
                return vk::Result::SUCCESS;
            }
            // SAFETY: the app's own arguments.
            unsafe {
                (device.next.debug_marker.debug_marker_set_object_tag_ext)(device.handle(), info)
            }
        })
}

/// `vkSetPrivateData`: the driver cannot store what belongs to a virtual queue.
pub(crate) unsafe extern "system" fn set_private_data(
    device: vk::Device,
    object_type: vk::ObjectType,
    object: u64,
    slot: vk::PrivateDataSlot,
    data: u64,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkSetPrivateData").run(|| {
        if object_type == vk::ObjectType::QUEUE {
            device.queues.set_private_data(object, slot, data);
            return vk::Result::SUCCESS;
        }
        let set = device.next.core.fp_v1_3().set_private_data;
        // SAFETY: the app's own arguments.
        unsafe { set(device.handle(), object_type, object, slot, data) }
    })
}

/// `vkGetPrivateData`.
pub(crate) unsafe extern "system" fn private_data(
    device: vk::Device,
    object_type: vk::ObjectType,
    object: u64,
    slot: vk::PrivateDataSlot,
    data: *mut u64,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkGetPrivateData").done();
    if object_type == vk::ObjectType::QUEUE {
        // SAFETY: the app passes a valid pointer.
        unsafe { data.write(device.queues.private_data(object, slot)) };
        return;
    }
    let get = device.next.core.fp_v1_3().get_private_data;
    // SAFETY: the app's own arguments.
    unsafe { get(device.handle(), object_type, object, slot, data) };
}

/// `vkQueueBeginDebugUtilsLabelEXT`: not forwarded, because the regions of several virtual queues
/// would interleave on the real one.
pub(crate) unsafe extern "system" fn queue_begin_label(
    queue: vk::Queue,
    _label: *const vk::DebugUtilsLabelEXT<'_>,
) {
    // SAFETY: the app passes a valid handle.
    unsafe { device_of(queue) }
        .calls()
        .begin("vkQueueBeginDebugUtilsLabelEXT")
        .done();
}

/// `vkQueueEndDebugUtilsLabelEXT`: not forwarded, as its beginning.
pub(crate) unsafe extern "system" fn queue_end_label(queue: vk::Queue) {
    // SAFETY: the app passes a valid handle.
    unsafe { device_of(queue) }
        .calls()
        .begin("vkQueueEndDebugUtilsLabelEXT")
        .done();
}

/// `vkQueueInsertDebugUtilsLabelEXT`: not forwarded, as the regions around it.
pub(crate) unsafe extern "system" fn queue_insert_label(
    queue: vk::Queue,
    _label: *const vk::DebugUtilsLabelEXT<'_>,
) {
    // SAFETY: the app passes a valid handle.
    unsafe { device_of(queue) }
        .calls()
        .begin("vkQueueInsertDebugUtilsLabelEXT")
        .done();
}
