//! A Vulkan layer for tests: several queue families on a driver that has one queue.
//!
//! The layer sits below Khronos's validation layer and above the driver, and is configured by environment
//! variables (`README.md` lists them):
//!
//! - *virtual queues*: any families and counts. The validation layer above sees only these, so it validates ownership
//!   transfers and hazards between queues on a machine without a GPU.
//! - *hold-back*: every virtual queue is a FIFO. Its head is forwarded to the one real queue when
//!   all its waits are covered, so that a wait may be submitted before its signal.
//! - *schedule fuzzing*: the next queue to forward, and its delay, are random with a given seed.
//! - *poison*: undefined contents are overwritten with garbage.
//! - *null*: recorded commands never reach the driver, so that only the program's own cost remains.
//! - *injection*: a script makes calls fail, sets extents to zero, hangs fences, and loses the device.
//! - *log*: every intercepted call, as a line of JSON.
//!
//! # Model
//!
//! One real queue executes in the order of forwarding, which is decided by
//! `fifo` (heads that may be forwarded) and `schedule` (choice of the next one), both pure. All commands
//! with a queue or a family index are translated: `commands` is the list, and its test compares
//! it with the registry. Non-dispatchable handles are not wrapped.
//!
//! # Folders
//!
//! From the bottom to the top; each imports only earlier ones (`tests/rooms.rs`).
//!
//! | folder | contents |
//! | --- | --- |
//! | `dispatch` | the loader's interface, the commands of the next layer, structure chains |
//! | `settings` | environment variables and the script, with their grammars |
//! | `calls` | counting, log and injected results of calls |
//! | `queues` | virtual queues, the hold-back model and the schedule; pure |
//! | `state` | instances, devices, and the objects that the layer tracks |
//! | `intercepts` | the intercepted commands, one file per noun |
//! | `commands` | the table of intercepted commands and its lookups |
//!
//! # Decisions
//!
//! - Presents are not held, and report the driver's own result.
//! - Labels of queues are not forwarded: regions of several queues would interleave.
//! - A deadlock is distinguished from a slow app by a timeout: nothing submitted, forwarded or signalled
//!   for some seconds during a wait without a timeout.
//!
//! # Limitations
//!
//! - Only one real queue is used even if there are several: order is emulated, not timing.
//! - Held submissions keep known chained structures, and log the others.
#![expect(unsafe_code, reason = "a layer is called by, and calls, C functions")]

mod calls;
mod commands;
mod dispatch;
mod intercepts;
mod queues;
mod settings;
mod state;

use std::path::Path;

use ash::vk;

pub use dispatch::loader::NegotiateLayerInterface;

/// Name that enables the layer, as in `VK_INSTANCE_LAYERS=VK_LAYER_QUADRILLE_test`.
pub const NAME: &str = "VK_LAYER_QUADRILLE_test";

/// Returns the manifest with which the Vulkan loader finds the layer: the content of a JSON file in a folder of
/// `VK_LAYER_PATH`.
///
/// ```
/// # use std::path::Path;
/// let text = quadrille_layer::manifest(Path::new("/somewhere/libquadrille_layer.so"));
/// assert!(text.contains("VK_LAYER_QUADRILLE_test"));
/// ```
pub fn manifest(library: &Path) -> String {
    let library = calls::log::quoted(&library.to_string_lossy());
    let name = calls::log::quoted(NAME);
    format!(
        r#"{{
    "file_format_version": "1.2.0",
    "layer": {{
        "name": {name},
        "type": "GLOBAL",
        "library_path": {library},
        "api_version": "1.4.303",
        "implementation_version": "1",
        "description": "Virtual queues, hold-back, schedule fuzzing, poison, injected results",
        "device_extensions": [
            {{
                "name": "VK_KHR_present_id",
                "spec_version": "1"
            }},
            {{
                "name": "VK_KHR_present_wait",
                "spec_version": "1",
                "entrypoints": ["vkWaitForPresentKHR"]
            }},
            {{
                "name": "VK_EXT_device_fault",
                "spec_version": "2",
                "entrypoints": ["vkGetDeviceFaultInfoEXT"]
            }}
        ]
    }}
}}
"#
    )
}

/// Entry point of the loader, which returns the lookup functions of the layer.
///
/// # Safety
/// `interface` must point to the loader's `VkNegotiateLayerInterface`.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: valid by the caller's contract.
    let Some(interface) = (unsafe { interface.as_mut() }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    if interface.version < dispatch::loader::INTERFACE_VERSION {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.version = dispatch::loader::INTERFACE_VERSION;
    interface.instance_lookup = Some(commands::lookup::instance_lookup);
    interface.device_lookup = Some(commands::lookup::device_lookup);
    interface.physical_device_lookup = Some(commands::lookup::physical_device_lookup);
    vk::Result::SUCCESS
}
