//! A window on an instance and a device that the program makes itself, as with OpenXR, whose runtime has a say
//! in both. Ends when the window is closed.

#![expect(unsafe_code, reason = "the device is made by Vulkan's own calls")]

use std::sync::Arc;

use bevy_app::{App, AppExit, PluginGroup as _};
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::device::{Gpu, ImportedDevice};
use quadrille_vulkan::instance::{ImportedInstance, Settings};
use quadrille_vulkan::{ash, vk};

/// The extensions of instances by which windows are drawn to, on the platforms that have them.
const SURFACES: [&std::ffi::CStr; 7] = [
    ash::khr::surface::NAME,
    ash::khr::get_surface_capabilities2::NAME,
    ash::khr::xlib_surface::NAME,
    ash::khr::xcb_surface::NAME,
    ash::khr::wayland_surface::NAME,
    ash::khr::win32_surface::NAME,
    ash::ext::metal_surface::NAME,
];

fn main() -> Result<AppExit, Box<dyn std::error::Error>> {
    // SAFETY: the loader is the system's.
    let entry = unsafe { ash::Entry::load() }?;
    // SAFETY: no layer is asked.
    let has = unsafe { entry.enumerate_instance_extension_properties(None) }?;
    let is_there = |name: &&std::ffi::CStr| {
        has.iter()
            .any(|it| it.extension_name_as_c_str() == Ok(*name))
    };
    let mut names: Vec<_> = SURFACES
        .into_iter()
        .filter(is_there)
        .map(|it| it.as_ptr())
        .collect();
    names.extend(
        Some(ash::ext::debug_utils::NAME)
            .filter(is_there)
            .map(|it| it.as_ptr()),
    );
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default()
        .application_info(&app)
        .enabled_extension_names(&names);
    // With OpenXR: xrCreateVulkanInstanceKHR.
    // SAFETY: what it is made by lives.
    let instance = unsafe { entry.create_instance(&info, None) }?;
    // With OpenXR: xrGetVulkanGraphicsDevice2KHR.
    // SAFETY: the instance lives.
    let devices = unsafe { instance.enumerate_physical_devices() }?;
    let &physical_device = devices.first().ok_or("there is no device")?;
    let of = ImportedInstance {
        entry: &entry,
        instance: &instance,
        info: &info,
        physical_device,
    };

    let settings = Settings::default();
    let in_use = Arc::new(());
    let keep = Box::new(Arc::clone(&in_use));
    let import = |info: &vk::DeviceCreateInfo<'_>| {
        // With OpenXR: xrCreateVulkanDeviceKHR.
        // SAFETY: the physical device has all of it.
        let device = unsafe { instance.create_device(physical_device, info, None) }?;
        let made = ImportedDevice {
            instance: of,
            device: &device,
            info,
            keep,
        };
        // SAFETY: the parts belong together, and live until the end of the program.
        let gpu = unsafe { Gpu::import(made, &settings) };
        Ok::<_, vk::Result>((device.clone(), gpu))
    };
    // SAFETY: as above.
    let (device, gpu) = unsafe { Gpu::with_device_info(of, &settings, import) }??;

    let plugins = QuadrillePlugins.set(QuadrillePlugin {
        gpu: Some(gpu?),
        settings,
        ..QuadrillePlugin::default()
    });
    let exit = App::new()
        .add_plugins(plugins)
        .add_systems(Render, draw)
        .run();

    // Nothing of Quadrille's is left, and the device is as alive as before.
    assert_eq!(Arc::strong_count(&in_use), 1, "the device is in use");
    // SAFETY: nothing uses it any more.
    unsafe { device.destroy_device(None) };
    // SAFETY: likewise.
    unsafe { instance.destroy_instance(None) };
    Ok(exit)
}

/// The left half in another color.
fn draw(mut recorder: Recorder, window: ColorTarget<PrimaryWindowImage>) {
    let [width, height] = window.size();
    let left = [0, 0, width / 2, height];
    let mut rendering = recorder.render(window.clear([0.05, 0.1, 0.2, 1.0]));
    rendering.clear_color(0, left, [0.8, 0.4, 0.1, 1.0]);
}
