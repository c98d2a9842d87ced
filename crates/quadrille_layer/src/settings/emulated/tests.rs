use super::Emulated;

#[test]
fn only_requested_extensions_are_emulated() {
    assert!(!Emulated::default().is_any());
    let emulated = Emulated {
        device_fault: true,
        ..Emulated::default()
    };
    assert!(emulated.is_any());
    let names: Vec<_> = emulated.extensions().collect();
    assert_eq!(names, [c"VK_EXT_device_fault"]);
    assert!(emulated.has_command(c"vkGetDeviceFaultInfoEXT"));
    assert!(!emulated.has_command(c"vkWaitForPresentKHR"));
}

#[test]
fn features_are_announced_in_the_structures_that_are_asked() {
    use ash::vk;
    let emulated = Emulated {
        present_wait: true,
        ..Emulated::default()
    };
    let mut fault = vk::PhysicalDeviceFaultFeaturesEXT::default();
    let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut fault)
        .push_next(&mut ids);
    let chain = std::ptr::from_mut(&mut features).cast();
    // SAFETY: the chain is of locals, which no other thread uses.
    unsafe { emulated.announce(chain) };
    assert_eq!([ids.present_id, fault.device_fault], [vk::TRUE, vk::FALSE]);
}
