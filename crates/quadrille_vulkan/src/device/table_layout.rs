//! Layouts of the descriptor sets of tables, and the maximum capacity of tables.

use ash::vk;

use crate::device::Device;
use crate::shader::{BOUNDS, Members, SHIFT, TableBinding};

/// Descriptor limits of a device.
pub(crate) struct Limits {
    /// Maximum number of images of one table, so that a pipeline can have a table in each group.
    images: u32,
    /// Maximum number of buffers of one table, likewise.
    buffers: u32,
    /// Maximum number of descriptors in all tables.
    pub all: u32,
}

impl Limits {
    /// Returns the maximum number of members of one table of this kind.
    pub(crate) fn of(&self, members: Members) -> u32 {
        match members {
            Members::Images => self.images,
            Members::Buffers => self.buffers,
        }
    }
}

/// Upper bound of the entries of any table.
const MAX_ENTRIES: u32 = 1 << 20;

/// Upper bound for software devices: Mesa's lavapipe 25.0 allocates each set for the maximum of its layout, 325 bytes
/// per member, and ignores the variable count.
const MAX_ENTRIES_IN_SOFTWARE: u32 = 1 << 14;

/// Returns the maximum capacity of a table: `wanted` or the default, within the device's limit.
pub(super) fn most_entries(wanted: Option<u32>, software: bool) -> u32 {
    let usual = if software {
        MAX_ENTRIES_IN_SOFTWARE
    } else {
        MAX_ENTRIES
    };
    wanted.unwrap_or(usual).max(1)
}

/// Size of the inline uniform block with a table's last index, in bytes.
pub(crate) const BOUNDS_BYTES: u32 = 4;

/// Number of descriptors reserved for set 0 and the samplers of all tables.
const OTHERS: u32 = 16 + TableBinding::LAST_GROUP * TableBinding::MAX_SAMPLERS;

pub(crate) fn limits(device: &Device) -> Limits {
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut vulkan12);
    let instance = &device.instance.raw;
    // SAFETY: the physical device was enumerated from this instance, which is of version 1.3.
    unsafe { instance.get_physical_device_properties2(device.physical, &mut all) };
    let of_a_table = |of_sets: u32, of_stages: u32| {
        let of_a_pipeline = of_sets
            .min(of_stages)
            .min(vulkan12.max_per_stage_update_after_bind_resources);
        let most = of_a_pipeline.saturating_sub(OTHERS) / TableBinding::LAST_GROUP;
        most.min(device.most_table_entries)
    };
    Limits {
        images: of_a_table(
            vulkan12.max_descriptor_set_update_after_bind_sampled_images,
            vulkan12.max_per_stage_descriptor_update_after_bind_sampled_images,
        ),
        buffers: of_a_table(
            vulkan12.max_descriptor_set_update_after_bind_storage_buffers,
            vulkan12.max_per_stage_descriptor_update_after_bind_storage_buffers,
        ),
        all: vulkan12.max_update_after_bind_descriptors_in_all_pools,
    }
}

/// Creates the layout of the set of any table of images, or of buffers. Its last binding has a variable descriptor
/// count.
///
/// The layout has the flag `UPDATE_AFTER_BIND`. Bound descriptors are never updated, but without the flag the much
/// lower limits of ordinary bindings would apply.
pub(crate) fn layout(
    device: &Device,
    members: Members,
) -> Result<vk::DescriptorSetLayout, vk::Result> {
    let most = limits(device).of(members);
    let binding = |binding: u32, kind, count: u32| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(kind)
            .descriptor_count(count)
            .stage_flags(vk::ShaderStageFlags::ALL_GRAPHICS | vk::ShaderStageFlags::COMPUTE)
    };
    let bindings = [
        // The size of an inline uniform block is its descriptor count, in bytes.
        binding(
            BOUNDS,
            vk::DescriptorType::INLINE_UNIFORM_BLOCK,
            BOUNDS_BYTES,
        ),
        binding(
            TableBinding::SAMPLERS + SHIFT,
            vk::DescriptorType::SAMPLER,
            TableBinding::MAX_SAMPLERS,
        ),
        binding(members.binding() + SHIFT, members.descriptor(), most),
    ];
    let partial = vk::DescriptorBindingFlags::PARTIALLY_BOUND;
    let flags = [
        vk::DescriptorBindingFlags::empty(),
        partial,
        partial | vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT,
    ];
    // Only tables of images have samplers.
    let (bindings, flags) = match members {
        Members::Images => (bindings.to_vec(), flags.to_vec()),
        Members::Buffers => (vec![bindings[0], bindings[2]], vec![flags[0], flags[2]]),
    };
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
        .bindings(&bindings)
        .push_next(&mut flags);
    // SAFETY: the counts are within the limits; the features of the flags are enabled on every device.
    let layout = unsafe { device.raw.create_descriptor_set_layout(&info, None) };
    device.note("vkCreateDescriptorSetLayout", layout)
}
