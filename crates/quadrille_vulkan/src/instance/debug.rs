//! Messages of the validation layer, and object names for them.
//!
//! Messages become `tracing` events with the identifier of the violated rule (VUID) as a field. They are counted per
//! process, so that a program or a test can fail at exit; those in `allowed_messages.txt` do not count.

mod allowed;

use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use ash::{ext, vk};

/// Number of errors and warnings of the validation layer so far.
static MESSAGES: AtomicU64 = AtomicU64::new(0);

/// Returns the number of errors and warnings that the validation layer has reported in this process, over all
/// instances. It is always 0 if the layer is not active
/// ([`DeviceInfo::validation`](crate::device::DeviceInfo::validation)).
pub fn validation_messages() -> u64 {
    MESSAGES.load(Ordering::Relaxed)
}

/// Returns the create info of the messenger, for instance creation and for its lifetime.
pub(crate) fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::{
        DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type,
    };
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::ERROR | Severity::WARNING)
        .message_type(Type::GENERAL | Type::VALIDATION | Type::PERFORMANCE)
        .pfn_user_callback(Some(on_message))
}

/// Callback of the layer, on any thread, inside any Vulkan call.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes null, or a pointer that is valid during the call.
    let Some(data) = (unsafe { data.as_ref() }) else {
        return vk::FALSE;
    };
    // SAFETY: the identifier is null, or a C string that is valid during the call.
    let rule = unsafe { text(data.p_message_id_name) };
    // SAFETY: the message is null, or a C string that is valid during the call.
    let message = unsafe { text(data.p_message) };
    if !kind.contains(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION) {
        tracing::debug!(rule = %rule, "{message}");
        return vk::FALSE;
    }
    if allowed::is_allowed(&rule) {
        tracing::debug!(vuid = %rule, "allowed: {message}");
        return vk::FALSE;
    }
    MESSAGES.fetch_add(1, Ordering::Relaxed);
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        tracing::error!(vuid = %rule, "{message}");
    } else {
        tracing::warn!(vuid = %rule, "{message}");
    }
    vk::FALSE
}

/// Converts a C string; empty if null.
///
/// # Safety
/// `pointer` must be null, or a C string that outlives the result.
unsafe fn text<'a>(pointer: *const std::ffi::c_char) -> std::borrow::Cow<'a, str> {
    if pointer.is_null() {
        return "".into();
    }
    // SAFETY: not null, and by contract a C string that outlives the result.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy()
}

/// Maximum length of names that are copied to the stack instead of the heap, in bytes, with the terminator.
const SHORT_NAME: usize = 512;

/// Names of objects and labels of command buffers; without effect if `VK_EXT_debug_utils` is not enabled.
#[derive(Clone)]
pub(crate) struct DebugNames(pub Option<ext::debug_utils::Device>);

impl DebugNames {
    /// Names an object.
    pub(crate) fn name<T: vk::Handle>(&self, object: T, name: &str) {
        let Some(debug) = &self.0 else { return };
        let name = c_string(name);
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(&name);
        // SAFETY: the object was just created from this device, and no other thread accesses it yet.
        let result = unsafe { debug.set_debug_utils_object_name(&info) };
        if let Err(error) = result {
            tracing::debug!("vkSetDebugUtilsObjectNameEXT fails: {error}");
        }
    }

    /// Opens a label.
    pub(crate) fn begin<'n>(&self, buffer: vk::CommandBuffer, name: impl FnOnce() -> &'n str) {
        let Some(debug) = &self.0 else { return };
        let name = name();
        // Passes have labels in every frame, so typical names are copied to the stack.
        let mut short = [0; SHORT_NAME];
        let long;
        let name = match short.get_mut(..name.len()) {
            Some(start) if name.len() < SHORT_NAME => {
                start.copy_from_slice(name.as_bytes());
                CStr::from_bytes_until_nul(&short).unwrap_or_default()
            }
            _ => {
                long = c_string(name);
                &long
            }
        };
        let label = vk::DebugUtilsLabelEXT::default().label_name(name);
        // SAFETY: callers pass a command buffer of this device in the recording state.
        unsafe { debug.cmd_begin_debug_utils_label(buffer, &label) };
    }

    /// Closes the innermost label.
    pub(crate) fn end(&self, buffer: vk::CommandBuffer) {
        let Some(debug) = &self.0 else { return };
        // SAFETY: as in `begin`; each call of `end` has a matching `begin`.
        unsafe { debug.cmd_end_debug_utils_label(buffer) };
    }
}

/// Converts text up to its first NUL to a C string.
pub(crate) fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}
