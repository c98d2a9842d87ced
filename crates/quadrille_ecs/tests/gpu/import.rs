//! An app that draws with a device that the program made.

#![expect(unsafe_code, reason = "the device is made by Vulkan's own calls")]

use std::sync::Arc;

use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::device::{Gpu, ImportedDevice};
use quadrille_vulkan::instance::{ImportedInstance, Settings, validation_messages};
use quadrille_vulkan::{ash, vk};

use crate::common::{Rig, Squares, add, read, square};

#[test]
#[ignore = "needs a device"]
fn an_app_draws_with_a_device_that_the_program_made() {
    let before = validation_messages();
    // SAFETY: the loader is the system's.
    let entry = unsafe { ash::Entry::load() }.expect("there is a loader");
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let names = [ash::ext::debug_utils::NAME.as_ptr()];
    let instance_info = vk::InstanceCreateInfo::default()
        .application_info(&app)
        .enabled_extension_names(&names);
    // SAFETY: what it is made by lives.
    let instance = unsafe { entry.create_instance(&instance_info, None) }.expect("it is right");
    // SAFETY: the instance lives.
    let devices = unsafe { instance.enumerate_physical_devices() }.expect("there are some");
    let of = ImportedInstance {
        entry: &entry,
        instance: &instance,
        info: &instance_info,
        physical_device: devices[0],
    };
    let settings = Settings {
        pipeline_cache: None,
        ..Settings::headless("import")
    };
    let in_use = Arc::new(());
    let keep = Box::new(Arc::clone(&in_use));
    let import = |info: &vk::DeviceCreateInfo<'_>| {
        // SAFETY: the physical device has all of it.
        let device =
            unsafe { instance.create_device(devices[0], info, None) }.expect("it is right");
        let made = ImportedDevice {
            instance: of,
            device: &device,
            info,
            keep,
        };
        // SAFETY: the parts belong together, and live until the end of this test.
        let gpu = unsafe { Gpu::import(made, &settings) };
        (device.clone(), gpu)
    };
    // SAFETY: as above.
    let (device, gpu) = unsafe { Gpu::with_device_info(of, &settings, import) }.expect("it suits");
    let gpu = gpu.expect("it suits");

    let mut rig = Rig::with(|plugins| plugins.gpu = Some(gpu.clone()));
    rig.app.add_systems(
        Render,
        (add, square.on_queue(QueuePreference::Async).after(add)),
    );
    rig.update(3);
    rig.expect_no_errors();
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    assert_eq!(squares[..4], [16, 25, 36, 49]);
    assert_eq!(
        rig.app.world().resource::<GpuDevice>().device().handle(),
        device.handle()
    );

    let error = gpu
        .rebuild(&settings)
        .expect_err("it is not Quadrille's to make");
    assert!(
        error
            .to_string()
            .starts_with("the device was made by the program"),
        "{error}"
    );
    drop(rig);
    assert_eq!(Arc::strong_count(&in_use), 2, "the device is in use");
    drop(gpu);
    assert_eq!(Arc::strong_count(&in_use), 1, "nothing uses the device");
    // The device is as alive as before.
    let info = vk::FenceCreateInfo::default();
    // SAFETY: the device is the test's own.
    let fence = unsafe { device.create_fence(&info, None) }.expect("it can be made");
    // SAFETY: nothing uses it.
    unsafe { device.destroy_fence(fence, None) };
    // SAFETY: nothing is left of it.
    unsafe { device.destroy_device(None) };
    // SAFETY: likewise.
    unsafe { instance.destroy_instance(None) };
    assert_eq!(validation_messages(), before);
}
