//! Names, tags and labels. The driver must not receive handles of virtual queues.

use ash::vk;

use crate::state::registry::device_of;

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
                (device
                    .driver
                    .next
                    .debug_utils
                    .set_debug_utils_object_name_ext)(device.handle(), info)
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
        unsafe {
            (device
                .driver
                .next
                .debug_utils
                .set_debug_utils_object_tag_ext)(device.handle(), info)
        }
    })
}

/// `vkQueueBeginDebugUtilsLabelEXT`: not forwarded, because labels of several virtual queues would interleave on the
/// real one.
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

/// `vkQueueEndDebugUtilsLabelEXT`: not forwarded, like its begin.
pub(crate) unsafe extern "system" fn queue_end_label(queue: vk::Queue) {
    // SAFETY: the app passes a valid handle.
    unsafe { device_of(queue) }
        .calls()
        .begin("vkQueueEndDebugUtilsLabelEXT")
        .done();
}

/// `vkQueueInsertDebugUtilsLabelEXT`: not forwarded, like the regions around it.
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
