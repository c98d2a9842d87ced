//! Keeps drivers loaded in processes that create several instances in succession.
//!
//! The loader unloads drivers with the last instance and loads them again with the next one. Some drivers (such as
//! NVIDIA 580 with `libnvidia-tls.so`) need static thread-local storage. A process has little of it (glibc's surplus),
//! and unloading does not free it. So after about 30 instances `dlopen` fails with "cannot allocate memory in static
//! TLS block", and no device is found any more. An instance that lives as long as the process keeps the drivers loaded.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;

/// The instance that keeps drivers loaded, with its loader. Never destroyed; `None` if its creation failed.
static KEPT: OnceLock<Option<(ash::Entry, ash::Instance)>> = OnceLock::new();

/// Number of instances that the process has created.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Counts a created instance, and keeps drivers loaded from the second one on. Most programs create only one, even if
/// they recover from lost devices.
pub(super) fn keep_drivers(entry: &ash::Entry) {
    if MADE.fetch_add(1, Ordering::Relaxed) == 0 {
        return;
    }
    KEPT.get_or_init(|| {
        let app = vk::ApplicationInfo::default()
            .engine_name(c"quadrille")
            .api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        // SAFETY: all pointers in `info` are to locals that outlive the call.
        let instance = unsafe { entry.create_instance(&info, None) };
        match instance {
            Ok(instance) => Some((entry.clone(), instance)),
            Err(error) => {
                tracing::warn!(
                    "vkCreateInstance fails for the instance that keeps drivers loaded: {error}"
                );
                None
            }
        }
    });
}
