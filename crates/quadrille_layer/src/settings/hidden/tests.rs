use ash::vk;

use super::{Hidden, Switch as _, switch_off_chained, switch_off_core};

fn extension(name: &std::ffi::CStr) -> vk::ExtensionProperties {
    vk::ExtensionProperties::default()
        .extension_name(name)
        .unwrap()
}

#[test]
fn extensions_and_features_are_parsed() {
    let hidden = Hidden::parse("VK_KHR_push_descriptor, timelineSemaphore,robustBufferAccess");
    let hidden = hidden.unwrap();
    assert!(hidden.hides(&extension(c"VK_KHR_push_descriptor")));
    assert!(!hidden.hides(&extension(c"VK_KHR_push")), "a part of it");
    assert!(!hidden.hides(&extension(c"VK_KHR_swapchain")));
    assert_eq!(hidden.features, ["timelineSemaphore", "robustBufferAccess"]);
    assert!(!hidden.coherent && Hidden::parse("hostCoherent").unwrap().coherent);
    assert_eq!(Hidden::parse(""), Ok(Hidden::default()));
}

#[test]
fn descriptor_indexing_is_off_in_both_of_its_structures() {
    let mut all = vk::PhysicalDeviceVulkan12Features::default()
        .shader_sampled_image_array_non_uniform_indexing(true);
    let mut alone = vk::PhysicalDeviceDescriptorIndexingFeatures::default()
        .shader_sampled_image_array_non_uniform_indexing(true)
        .runtime_descriptor_array(true);
    let features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut all)
        .push_next(&mut alone);
    // SAFETY: the chain is local to this test.
    unsafe { switch_off_chained(features.p_next, "shaderSampledImageArrayNonUniformIndexing") };
    let of_all = all.shader_sampled_image_array_non_uniform_indexing;
    let of_alone = alone.shader_sampled_image_array_non_uniform_indexing;
    assert_eq!((of_all, of_alone), (vk::FALSE, vk::FALSE));
    assert_eq!(alone.runtime_descriptor_array, vk::TRUE);
}

#[test]
fn an_unknown_feature_is_refused_with_the_known_ones() {
    let refusal = Hidden::parse("timelineSemaphores").unwrap_err().to_string();
    assert!(refusal.contains("timelineSemaphores"), "{refusal}");
    assert!(refusal.contains("timelineSemaphore,"), "{refusal}");
}

#[test]
fn only_the_feature_is_switched_off() {
    let mut features = vk::PhysicalDeviceVulkan12Features::default()
        .timeline_semaphore(true)
        .descriptor_indexing(true);
    features.switch_off("timelineSemaphore");
    assert_eq!(features.timeline_semaphore, vk::FALSE);
    assert_eq!(features.descriptor_indexing, vk::TRUE);
    let mut core = vk::PhysicalDeviceFeatures::default()
        .shader_int64(true)
        .shader_int16(true);
    switch_off_core(&mut core, "shaderInt64");
    assert_eq!(
        (core.shader_int64, core.shader_int16),
        (vk::FALSE, vk::TRUE)
    );
}

#[test]
fn a_feature_is_off_in_each_structure_that_has_it() {
    let mut all = vk::PhysicalDeviceVulkan13Features::default()
        .synchronization2(true)
        .maintenance4(true);
    let mut alone = vk::PhysicalDeviceSynchronization2Features::default().synchronization2(true);
    let mut other = vk::PhysicalDeviceMaintenance4Features::default().maintenance4(true);
    let features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut all)
        .push_next(&mut alone)
        .push_next(&mut other);
    // SAFETY: the chain is local to this test.
    unsafe { switch_off_chained(features.p_next, "synchronization2") };
    assert_eq!(
        (all.synchronization2, alone.synchronization2),
        (vk::FALSE, vk::FALSE)
    );
    assert_eq!(
        (all.maintenance4, other.maintenance4),
        (vk::TRUE, vk::TRUE),
        "others stay"
    );
}
