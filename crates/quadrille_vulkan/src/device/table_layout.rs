//! The layout of the descriptor sets of tables, and how many images a table may have.

use ash::vk;

use crate::device::Device;
use crate::shader::TableBinding;

/// What a device has of descriptors.
pub(crate) struct Limits {
    /// The images of one table: of as many tables as a pipeline has groups for, all may be in one
    /// pipeline.
    pub images: u32,
    /// The descriptors of all tables.
    pub all: u32,
}

/// What no table needs more of.
const MOST_IMAGES: u32 = 1 << 20;

/// The same for devices in software: Mesa's lavapipe 25.0 allocates each set for all images of its
/// layout, 325 bytes each, and ignores the variable count.
const MOST_IMAGES_IN_SOFTWARE: u32 = 1 << 14;

/// How many images a table may have room for, within the device's limit.
pub(super) fn most_images(wanted: Option<u32>, software: bool) -> u32 {
    let usual = if software {
        MOST_IMAGES_IN_SOFTWARE
    } else {
        MOST_IMAGES
    };
    wanted.unwrap_or(usual).max(1)
}

/// What is left to the descriptors of set 0 and to samplers.
const OTHERS: u32 = 64;

pub(crate) fn limits(device: &Device) -> Limits {
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut vulkan12);
    let instance = &device.instance.raw;
    // SAFETY: the physical device was enumerated from this instance, which is of version 1.3.
    unsafe { instance.get_physical_device_properties2(device.physical, &mut all) };
    let of_a_pipeline = vulkan12
        .max_descriptor_set_update_after_bind_sampled_images
        .min(vulkan12.max_per_stage_descriptor_update_after_bind_sampled_images)
        .min(vulkan12.max_per_stage_update_after_bind_resources);
    let images = of_a_pipeline.saturating_sub(OTHERS) / TableBinding::LAST_GROUP;
    Limits {
        images: images.min(device.most_table_images),
        all: vulkan12.max_update_after_bind_descriptors_in_all_pools,
    }
}

/// The layout of the set of any table: how many images there are is given when the set is made.
///
/// It is one whose descriptors may be updated after they are bound, which they are not: the limits of
/// the others are those of single bindings.
pub(crate) fn layout(device: &Device) -> Result<vk::DescriptorSetLayout, vk::Result> {
    let stages = vk::ShaderStageFlags::ALL_GRAPHICS | vk::ShaderStageFlags::COMPUTE;
    let bindings = [
        vk::DescriptorSetLayoutBinding::default()
            .binding(TableBinding::SAMPLERS)
            .descriptor_type(vk::DescriptorType::SAMPLER)
            .descriptor_count(TableBinding::MOST_SAMPLERS)
            .stage_flags(stages),
        vk::DescriptorSetLayoutBinding::default()
            .binding(TableBinding::IMAGES)
            .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
            .descriptor_count(limits(device).images)
            .stage_flags(stages),
    ];
    let partial = vk::DescriptorBindingFlags::PARTIALLY_BOUND;
    let flags = [
        partial,
        partial | vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT,
    ];
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
        .bindings(&bindings)
        .push_next(&mut flags);
    // SAFETY: the counts are within the limits; the flags' features are enabled on every device.
    let layout = unsafe { device.raw.create_descriptor_set_layout(&info, None) };
    device.note("vkCreateDescriptorSetLayout", layout)
}
