use super::is_swallowed;

#[test]
fn recorded_commands_and_no_others() {
    for name in [
        c"vkCmdDispatch",
        c"vkCmdPipelineBarrier2",
        c"vkCmdPushDescriptorSetKHR",
    ] {
        assert!(is_swallowed(name), "{name:?}");
    }
    for name in [
        c"vkBeginCommandBuffer",
        c"vkQueueSubmit2",
        c"vkCreateCommandPool",
    ] {
        assert!(!is_swallowed(name), "{name:?}");
    }
}
