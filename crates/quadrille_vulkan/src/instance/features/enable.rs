//! Creation of a device with the features that it supports.

use std::ffi::c_void;

use ash::vk::{self, TaggedStructure as _};

use super::Support;
use crate::error::SetupError;
use crate::instance::extension::FeatureNode;
use crate::instance::{Instance, vulkan};

impl Support {
    /// Returns the features of Vulkan 1.2 to enable.
    fn vulkan12(&self) -> vk::PhysicalDeviceVulkan12Features<'static> {
        vk::PhysicalDeviceVulkan12Features::default()
            .draw_indirect_count(self.optional.draw_indirect_count)
            .sampler_filter_minmax(self.optional.sampler_minmax)
            .timeline_semaphore(true)
            .descriptor_indexing(true)
            .runtime_descriptor_array(true)
            .descriptor_binding_partially_bound(true)
            .descriptor_binding_variable_descriptor_count(true)
            .shader_sampled_image_array_non_uniform_indexing(true)
            .shader_storage_buffer_array_non_uniform_indexing(true)
            .buffer_device_address(true)
            .host_query_reset(true)
            // Plans have separate layouts for depth and stencil.
            .separate_depth_stencil_layouts(true)
            .scalar_block_layout(self.scalar_block_layout)
            .vulkan_memory_model(self.vulkan_memory_model)
            .vulkan_memory_model_device_scope(self.vulkan_memory_model)
    }

    /// Creates the device with all supported extensions and features.
    pub(crate) fn create_device(
        &self,
        instance: &Instance,
        physical: vk::PhysicalDevice,
        queues: &[vk::DeviceQueueCreateInfo<'_>],
    ) -> Result<ash::Device, SetupError> {
        self.with_create_info(queues, |info| {
            // SAFETY: every enabled feature and extension was reported; all pointers in `info` are valid.
            unsafe { instance.raw.create_device(physical, info, None) }
                .map_err(vulkan("vkCreateDevice"))
        })
    }

    /// Calls a function with the create info of the device.
    pub(crate) fn with_create_info<R>(
        &self,
        queues: &[vk::DeviceQueueCreateInfo<'_>],
        create: impl FnOnce(&vk::DeviceCreateInfo<'_>) -> R,
    ) -> R {
        let names: Vec<_> = self.extensions.iter().map(|name| name.as_ptr()).collect();
        let mut own = OwnFeatures::new(self);
        let mut rest = own.add(self);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(queues)
            .enabled_extension_names(&names)
            .enabled_features(&self.core)
            .push_next(&mut own.vulkan11)
            .push_next(&mut own.vulkan12)
            .push_next(&mut own.vulkan13);
        if self.present_fences {
            info = info.push_next(&mut own.fences);
        }
        if self.present_wait {
            info = info
                .push_next(&mut own.present_ids)
                .push_next(&mut own.present_waits);
        }
        if self.device_fault {
            info = info.push_next(&mut own.fault);
        }
        if self.conditional_rendering {
            info = info.push_next(&mut own.conditional);
        }
        if self.optional.local_read {
            info = info.push_next(&mut own.local_read);
        }
        if self.maintenance8 {
            info = info.push_next(&mut own.maintenance8);
        }
        for node in &mut rest {
            info = info.push_next(node);
        }
        create(&info)
    }
}

/// Feature structures of Quadrille's own chain; those of Vulkan versions are always included.
struct OwnFeatures {
    vulkan11: vk::PhysicalDeviceVulkan11Features<'static>,
    vulkan12: vk::PhysicalDeviceVulkan12Features<'static>,
    vulkan13: vk::PhysicalDeviceVulkan13Features<'static>,
    fences: vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT<'static>,
    present_ids: vk::PhysicalDevicePresentIdFeaturesKHR<'static>,
    present_waits: vk::PhysicalDevicePresentWaitFeaturesKHR<'static>,
    fault: vk::PhysicalDeviceFaultFeaturesEXT<'static>,
    conditional: vk::PhysicalDeviceConditionalRenderingFeaturesEXT<'static>,
    local_read: vk::PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR<'static>,
    maintenance8: Maintenance8Features,
}

impl OwnFeatures {
    fn new(support: &Support) -> Self {
        Self {
            vulkan11: vk::PhysicalDeviceVulkan11Features::default()
                .shader_draw_parameters(support.optional.draw_parameters)
                .multiview(support.optional.multiview),
            vulkan12: support.vulkan12(),
            vulkan13: vk::PhysicalDeviceVulkan13Features::default()
                .synchronization2(true)
                .inline_uniform_block(true)
                .dynamic_rendering(true)
                .maintenance4(true)
                .robust_image_access(true)
                .shader_zero_initialize_workgroup_memory(true)
                .shader_demote_to_helper_invocation(true),
            fences: vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default()
                .swapchain_maintenance1(true),
            present_ids: vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true),
            present_waits: vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true),
            fault: vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true),
            conditional: vk::PhysicalDeviceConditionalRenderingFeaturesEXT::default()
                .conditional_rendering(true),
            local_read: vk::PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR::default()
                .dynamic_rendering_local_read(true),
            maintenance8: Maintenance8Features {
                maintenance8: vk::TRUE,
                ..Maintenance8Features::default()
            },
        }
    }

    /// Merges the program's features into these structures. Returns further structures for the others, since a chain
    /// must have only one structure of each type.
    fn add(&mut self, support: &Support) -> Vec<FeatureNode> {
        let mut rest = support.granted.clone();
        let of_core = vk::StructureType::PHYSICAL_DEVICE_FEATURES_2;
        rest.features.retain(|it| it.s_type != of_core);
        rest.move_to(&mut self.vulkan11);
        rest.move_to(&mut self.vulkan12);
        rest.move_to(&mut self.vulkan13);
        if support.present_fences {
            rest.move_to(&mut self.fences);
        }
        if support.present_wait {
            rest.move_to(&mut self.present_ids);
            rest.move_to(&mut self.present_waits);
        }
        if support.device_fault {
            rest.move_to(&mut self.fault);
        }
        if support.conditional_rendering {
            rest.move_to(&mut self.conditional);
        }
        if support.optional.local_read {
            rest.move_to(&mut self.local_read);
        }
        if support.maintenance8 {
            rest.move_to(&mut self.maintenance8);
        }
        rest.features.iter().map(|it| it.node()).collect()
    }
}

/// `VkPhysicalDeviceMaintenance8FeaturesKHR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Maintenance8Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    pub(super) maintenance8: vk::Bool32,
}

impl Default for Maintenance8Features {
    fn default() -> Self {
        Self {
            s_type: Self::STRUCTURE_TYPE,
            p_next: std::ptr::null_mut(),
            maintenance8: vk::FALSE,
        }
    }
}

// SAFETY: the structure has the layout in the specification.
unsafe impl vk::TaggedStructure for Maintenance8Features {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_574_000);
}
// SAFETY: the structure has the layout in the specification, and may be in this chain.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Maintenance8Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for Maintenance8Features {}
