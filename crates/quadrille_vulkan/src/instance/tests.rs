use super::names_validation;

#[test]
fn layers_enabled_from_outside_are_found() {
    for value in [
        "VK_LAYER_KHRONOS_validation",
        "VK_LAYER_MESA_overlay:VK_LAYER_KHRONOS_validation",
        "*validation",
        "*KHRONOS*",
        "VK_LAYER_KHRONOS_*",
        "~all~",
    ] {
        assert!(names_validation(value), "{value}");
    }
    for value in ["", "VK_LAYER_MESA_overlay", "*overlay*", ","] {
        assert!(!names_validation(value), "{value:?}");
    }
}
