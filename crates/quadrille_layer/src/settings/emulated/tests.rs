use super::MadeUp;

#[test]
fn only_what_is_asked_for_is_made_up() {
    assert!(!MadeUp::default().is_any());
    let made_up = MadeUp {
        device_fault: true,
        ..MadeUp::default()
    };
    assert!(made_up.is_any());
    let names: Vec<_> = made_up.extensions().collect();
    assert_eq!(names, [c"VK_EXT_device_fault"]);
    assert!(made_up.has_command(c"vkGetDeviceFaultInfoEXT"));
    assert!(!made_up.has_command(c"vkWaitForPresentKHR"));
}

#[test]
fn features_are_announced_in_the_structures_that_are_asked() {
    use ash::vk;
    let made_up = MadeUp {
        present_wait: true,
        ..MadeUp::default()
    };
    let mut fault = vk::PhysicalDeviceFaultFeaturesEXT::default();
    let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut fault)
        .push_next(&mut ids);
    let chain = std::ptr::from_mut(&mut features).cast();
    // SAFETY: the chain is of locals, which no other thread uses.
    unsafe { made_up.announce(chain) };
    assert_eq!([ids.present_id, fault.device_fault], [vk::TRUE, vk::FALSE]);
}
