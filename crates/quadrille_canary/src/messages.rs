//! Messages of the validation layer, by their names.

use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

use ash::vk;

/// The names of the messages received so far.
#[derive(Default)]
pub(crate) struct Messages(Mutex<Vec<String>>);

impl Messages {
    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.take();
    }

    /// Takes all out.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, name: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(name);
    }

    /// A messenger's description that sends warnings and errors about wrong use here.
    ///
    /// `self` must stay where it is for as long as a messenger made with it lives.
    pub(crate) fn messenger(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        let here: *const Self = self;
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
                    | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            )
            // Not GENERAL: that is the loader telling which layers it found.
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(receive))
            .user_data(here.cast_mut().cast())
    }
}

/// Called by the layer, from any thread.
unsafe extern "system" fn receive(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid callback data or, broken, none; it is not kept.
    let name = unsafe { data.as_ref() }.map_or(std::ptr::null(), |data| data.p_message_id_name);
    let name = if name.is_null() {
        "unnamed".to_owned()
    } else {
        // SAFETY: the specification makes it a null-terminated string that lives through the call.
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    };
    // SAFETY: `messenger` stored the address of a boxed `Messages` that outlives the messenger,
    // and all access to it is shared and behind its lock.
    if let Some(messages) = unsafe { user.cast::<Messages>().as_ref() } {
        messages.push(name);
    }
    vk::FALSE
}
