use ash::vk;

use super::{Extension, FeatureStructure, Granted, camel_case, problem};

#[test]
fn features_are_named_as_in_vulkan() {
    for (name, written) in [
        ("multi_draw", "multiDraw"),
        ("texture_compression_astc_ldr", "textureCompressionASTC_LDR"),
        ("texture_compression_etc2", "textureCompressionETC2"),
        ("texture_compression_bc", "textureCompressionBC"),
    ] {
        assert_eq!(camel_case(name), written);
    }
}

#[test]
fn features_are_read_by_name() {
    let features = vk::PhysicalDeviceVulkan11Features::default()
        .multiview(true)
        .shader_draw_parameters(true);
    let read = FeatureStructure::of(&features);
    let wanted = read.members.iter().filter(|it| it.1);
    let wanted: Vec<_> = wanted.map(|(name, _)| name.as_str()).collect();
    assert_eq!(wanted, ["multiview", "shaderDrawParameters"]);
    assert_eq!(read.members.len(), 12);
    assert_eq!(read.name, "PhysicalDeviceVulkan11Features");
}

#[test]
fn every_feature_of_vulkan_1_0_is_read_in_its_order() {
    let first = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
    let last = vk::PhysicalDeviceFeatures::default().inherited_queries(true);
    assert!(FeatureStructure::core(&first).members[0].1);
    let members = FeatureStructure::core(&last).members;
    assert_eq!(members.len(), 55);
    assert_eq!(members[54], ("inheritedQueries".to_owned(), true));
}

/// Features that are requested twice become one structure, merged with features that are enabled already.
#[test]
fn features_join_those_of_a_structure() {
    let mut granted = Granted::default();
    let int8 = vk::PhysicalDeviceVulkan12Features::default().shader_int8(true);
    let minmax = vk::PhysicalDeviceVulkan12Features::default().sampler_filter_minmax(true);
    let mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default().mesh_shader(true);
    granted.add(&FeatureStructure::of(&int8));
    granted.add(&FeatureStructure::of(&mesh));
    granted.add(&FeatureStructure::of(&minmax));
    let mut own = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    granted.move_to(&mut own);
    let flags = [
        own.shader_int8,
        own.sampler_filter_minmax,
        own.timeline_semaphore,
        own.host_query_reset,
    ];
    assert_eq!(flags, [vk::TRUE, vk::TRUE, vk::TRUE, vk::FALSE]);
    assert_eq!(granted.features.len(), 1, "the mesh shader is left");
    let wanted = FeatureStructure::of(&mesh);
    assert!(granted.features[0].covers(&wanted));
    let more = FeatureStructure::of(&mesh.task_shader(true));
    assert!(!granted.features[0].covers(&more));
}

#[test]
fn meaningless_features_are_reported() {
    let says = |extension: Extension| problem(&[extension]).unwrap_or_default();
    let old = vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_float16(true);
    assert_eq!(
        says(Extension::optional().features(old)),
        "the features of `PhysicalDeviceShaderFloat16Int8Features` belong to Vulkan 1.2 by now; ask for them in \
         `PhysicalDeviceVulkan12Features`"
    );
    let none = vk::PhysicalDeviceMultiDrawFeaturesEXT::default();
    assert_eq!(
        says(Extension::required().features(none)),
        "`PhysicalDeviceMultiDrawFeaturesEXT` has no feature that is true"
    );
    assert_eq!(says(Extension::required().device(c"VK_EXT_multi_draw")), "");
}
