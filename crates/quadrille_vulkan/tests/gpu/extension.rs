//! Extensions and features that programs request, and their use in the program's own commands.

use ash::{ext, vk};
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::{Extension, Settings};

use crate::rig::{Rig, settings};

fn asking(extensions: Vec<Extension>) -> Settings {
    Settings {
        extensions,
        ..settings()
    }
}

/// A feature of Vulkan 1.0 that the device lacks. No device has all of these: hardware decodes some families of
/// compressed images, and software has no sparse residency.
fn lacking_feature(gpu: &Gpu) -> (&'static str, vk::PhysicalDeviceFeatures) {
    let none = vk::PhysicalDeviceFeatures::default;
    // SAFETY: both belong together.
    let has = unsafe {
        gpu.instance()
            .get_physical_device_features(gpu.physical_device())
    };
    let candidates = [
        (
            has.sparse_residency16_samples,
            (
                "sparseResidency16Samples",
                none().sparse_residency16_samples(true),
            ),
        ),
        (
            has.texture_compression_astc_ldr,
            (
                "textureCompressionASTC_LDR",
                none().texture_compression_astc_ldr(true),
            ),
        ),
        (
            has.texture_compression_etc2,
            (
                "textureCompressionETC2",
                none().texture_compression_etc2(true),
            ),
        ),
    ];
    let lacking = candidates.into_iter().find(|(has, _)| *has == vk::FALSE);
    lacking.expect("the device lacks something").1
}

#[test]
#[ignore = "needs a Vulkan device"]
fn missing_required_extensions_are_one_error() {
    let says = |extension| match Gpu::new(&asking(vec![extension]), None) {
        Ok(gpu) => panic!("{gpu:?} has what there is not"),
        Err(error) => error.to_string(),
    };
    let rig = Rig::new();
    let device = &rig.gpu.info().name;
    let sentence = |lacking: &str| {
        format!(
            "the device `{device}` lacks what the program requires of it with `Settings::extensions`: {lacking}; \
             choose another device, or make that optional and do without"
        )
    };
    let none = Extension::required()
        .instance(c"VK_QUADRILLE_one")
        .device(c"VK_QUADRILLE_two");
    let lacking = "VK_QUADRILLE_one of the instance, VK_QUADRILLE_two";
    assert_eq!(says(none), sentence(lacking));
    let (name, features) = lacking_feature(&rig.gpu);
    let lacking = Extension::required().core_features(features);
    assert_eq!(says(lacking), sentence(name));
}

#[test]
#[ignore = "needs a Vulkan device"]
fn optional_extensions_are_enabled_where_available() {
    let int8 = vk::PhysicalDeviceVulkan12Features::default().shader_int8(true);
    let multi_draw = vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(true);
    let fault = vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true);
    let rig = Rig::with(&asking(vec![
        Extension::optional().features(int8),
        // One half of this is there.
        Extension::optional()
            .device(ext::multi_draw::NAME)
            .device(c"VK_QUADRILLE_none")
            .features(multi_draw),
        // Quadrille has its own use for it.
        Extension::optional()
            .device(ext::device_fault::NAME)
            .features(fault),
        Extension::optional().instance(ext::debug_utils::NAME),
    ]));
    assert!(rig.gpu.has_features(&int8));
    assert!(!rig.gpu.is_enabled(ext::multi_draw::NAME));
    assert!(!rig.gpu.has_features(&multi_draw));
    assert!(rig.gpu.is_enabled(ext::debug_utils::NAME));
}

#[test]
#[ignore = "needs a Vulkan device"]
fn queues_take_submissions_of_the_programs_own() {
    let rig = Rig::new();
    let gpu = &rig.gpu;
    let info = vk::FenceCreateInfo::default();
    // SAFETY: the device is alive.
    let fence = unsafe { gpu.device().create_fence(&info, None) }.unwrap();
    for index in 0..gpu.topology().queues.len() {
        // SAFETY: the queue is this thread's for the time of the call, and the fence is unsignalled.
        let submitted = gpu.with_queue(index, |queue| unsafe {
            gpu.device().queue_submit(queue, &[], fence)
        });
        assert_eq!(submitted, Some(Ok(())));
        // SAFETY: the fence is the device's.
        let waited = unsafe { gpu.device().wait_for_fences(&[fence], true, 10_000_000_000) };
        assert_eq!(waited, Ok(()));
        // SAFETY: nothing waits for it any more.
        let reset = unsafe { gpu.device().reset_fences(&[fence]) };
        assert_eq!(reset, Ok(()));
    }
    assert_eq!(gpu.with_queue(99, |_| ()), None);
    // SAFETY: nothing uses it any more.
    unsafe { gpu.device().destroy_fence(fence, None) };
    // SAFETY: both belong together.
    let properties = unsafe {
        let physical = gpu.physical_device();
        gpu.instance().get_physical_device_properties(physical)
    };
    let name = properties.device_name_as_c_str().unwrap();
    assert_eq!(name.to_str(), Ok(gpu.info().name.as_str()));
}
