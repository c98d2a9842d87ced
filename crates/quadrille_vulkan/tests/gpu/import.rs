//! Imported devices that lack a requirement.

use std::sync::Arc;

use ash::{khr, vk};
use quadrille_vulkan::device::{Gpu, ImportedDevice};
use quadrille_vulkan::instance::ImportedInstance;

use crate::rig::settings;

/// An instance for the length of a call.
fn with_instance(version: u32, call: impl FnOnce(ImportedInstance<'_>)) {
    // SAFETY: the loader is the system's.
    let entry = unsafe { ash::Entry::load() }.unwrap();
    let app = vk::ApplicationInfo::default().api_version(version);
    let info = vk::InstanceCreateInfo::default().application_info(&app);
    // SAFETY: what it is made by lives.
    let instance = unsafe { entry.create_instance(&info, None) }.unwrap();
    // SAFETY: the instance lives.
    let devices = unsafe { instance.enumerate_physical_devices() }.unwrap();
    call(ImportedInstance {
        entry: &entry,
        instance: &instance,
        info: &info,
        physical_device: devices[0],
    });
    // SAFETY: all that was made of it is gone.
    unsafe { instance.destroy_instance(None) };
}

/// Imports a device with this create info; returns its error or its name.
fn says(of: ImportedInstance<'_>, info: &vk::DeviceCreateInfo<'_>) -> String {
    // SAFETY: the physical device has all of it.
    let device = unsafe { of.instance.create_device(of.physical_device, info, None) }.unwrap();
    let kept = Arc::new(());
    let made = ImportedDevice {
        instance: of,
        device: &device,
        info,
        keep: Box::new(Arc::clone(&kept)),
    };
    // SAFETY: the parts belong together and live until nothing is left of the import.
    let imported = unsafe { Gpu::import(made, &settings()) };
    let said = imported.map_or_else(|error| error.to_string(), |gpu| gpu.info().name.clone());
    assert_eq!(
        Arc::strong_count(&kept),
        1,
        "nothing is kept after an error"
    );
    // SAFETY: nothing is left of it; were it destroyed already, the validation layer would say so.
    unsafe { device.destroy_device(None) };
    said
}

#[test]
#[ignore = "needs a Vulkan device"]
fn missing_features_of_an_imported_device_are_one_error() {
    with_instance(vk::API_VERSION_1_3, |of| {
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let bare = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let said = says(of, &bare);
        // SAFETY: the physical device was enumerated from this instance.
        let properties = unsafe {
            of.instance
                .get_physical_device_properties(of.physical_device)
        };
        let name = properties.device_name_as_c_str().unwrap();
        for word in [
            name.to_str().unwrap(),
            "VK_KHR_push_descriptor",
            "timelineSemaphore",
            "robustBufferAccess",
        ] {
            assert!(said.contains(word), "{said}");
        }
        // SAFETY: the parts belong together.
        let said = unsafe {
            Gpu::with_device_info(of, &settings(), |info| {
                let mut less = *info;
                let names = [khr::push_descriptor::NAME.as_ptr()];
                less.enabled_extension_count = 1;
                less.pp_enabled_extension_names = names.as_ptr();
                let core = vk::PhysicalDeviceFeatures::default();
                less.p_enabled_features = &raw const core;
                // Structures of disabled extensions are first in the chain.
                less.p_next = versions(info.p_next);
                says(of, &less)
            })
        };
        let said = said.unwrap();
        assert!(
            said.contains("it was made without: robustBufferAccess. "),
            "{said}"
        );
    });
}

/// Returns the part of a chain from the features of Vulkan 1.3 on, followed by those of 1.2 and 1.1.
fn versions(chain: *const std::ffi::c_void) -> *const std::ffi::c_void {
    let mut at = chain.cast::<vk::BaseInStructure<'_>>();
    // SAFETY: the chain lives, and consists of Vulkan's structures.
    while let Some(structure) = unsafe { at.as_ref() } {
        if structure.s_type == vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES {
            break;
        }
        at = structure.p_next;
    }
    at.cast()
}

#[test]
#[ignore = "needs a Vulkan device"]
fn an_older_instance_is_an_error() {
    with_instance(vk::API_VERSION_1_1, |of| {
        // SAFETY: the parts belong together.
        let made = unsafe { Gpu::with_device_info(of, &settings(), |_| ()) };
        let said = made.unwrap_err().to_string();
        assert!(
            said.starts_with("the instance that the program made"),
            "{said}"
        );
        assert!(said.contains("Vulkan 1.3 as the `apiVersion`"), "{said}");
    });
}
