//! The table of intercepted commands, with the reason for each.
//!
//! A test derives from the registry in ash which commands take a queue or a family index, directly or in a structure,
//! and compares them with this table.

use std::ffi::CStr;

use ash::vk;

use crate::intercepts::counted;
use crate::intercepts::device;
use crate::intercepts::device_fault;
use crate::intercepts::hidden;
use crate::intercepts::instance;
use crate::intercepts::names;
use crate::intercepts::pools;
use crate::intercepts::present_wait;
use crate::intercepts::presentation;
use crate::intercepts::record;
use crate::intercepts::resources;
use crate::intercepts::semaphores;
use crate::intercepts::submit;
use crate::intercepts::wait;

/// Type of the handle that a command is dispatched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Global,
    Instance,
    PhysicalDevice,
    Device,
}

/// Reason for intercepting a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Creates or destroys objects that the layer tracks.
    Lifetime,
    /// Takes or returns a queue.
    Queue,
    /// Takes or returns a family index, directly or in a structure.
    Family,
    /// Waits, signals or polls, for which held work may have to be forwarded.
    HoldBack,
    /// Leaves contents undefined, or creates objects that poison tracks.
    Poison,
    /// The script can replace its result.
    Script,
    /// Queries extensions, features or memory types, of which some may be hidden.
    Hide,
}

/// An intercepted command.
pub(crate) struct Command {
    /// Name, and former names as an extension. Calls are counted under the first.
    pub(super) names: &'static [&'static CStr],
    pub(super) scope: Scope,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "read by the test of completeness")
    )]
    pub(super) reason: Reason,
    pub(super) returns_result: bool,
    /// The layer's function.
    pub(crate) function: vk::PFN_vkVoidFunction,
}

impl Command {
    /// Whether it can be looked up without an instance.
    pub(crate) fn is_global(&self) -> bool {
        self.scope == Scope::Global
    }

    /// Whether its first argument is a physical device.
    pub(crate) fn is_of_physical_device(&self) -> bool {
        self.scope == Scope::PhysicalDevice
    }

    /// Whether it can be looked up with a device.
    pub(crate) fn is_of_device(&self) -> bool {
        self.scope == Scope::Device
    }
}

/// Commands that take a queue or a family and are not translated. They are reported as missing, so that no virtual
/// handle reaches a driver.
pub(super) const HIDDEN: [&CStr; 24] = [
    // Used only between Android's loader and its drivers.
    c"vkQueueSignalReleaseImageANDROID",
    // Would export the single real queue.
    c"vkExportMetalObjectsEXT",
    c"vkSetBufferCollectionImageConstraintsFUCHSIA",
    c"vkSetBufferCollectionBufferConstraintsFUCHSIA",
    // Window systems on which the layer is not tested.
    c"vkGetPhysicalDeviceWin32PresentationSupportKHR",
    c"vkGetPhysicalDeviceDirectFBPresentationSupportEXT",
    c"vkGetPhysicalDeviceScreenPresentationSupportQNX",
    c"vkCreateSharedSwapchainsKHR",
    // Extensions that no tested program enables.
    c"vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR",
    c"vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR",
    c"vkQueueSetPerformanceConfigurationINTEL",
    c"vkGetQueueCheckpointDataNV",
    c"vkGetQueueCheckpointData2NV",
    c"vkQueueNotifyOutOfBandNV",
    c"vkCreateVideoSessionKHR",
    c"vkDebugMarkerSetObjectNameEXT",
    c"vkDebugMarkerSetObjectTagEXT",
    // Semaphores of another process or API would end waits without the hold-back model's knowledge.
    c"vkImportSemaphoreFdKHR",
    c"vkGetSemaphoreFdKHR",
    // Barriers of events, which no tested program records.
    c"vkCmdWaitEvents",
    c"vkCmdWaitEvents2",
    c"vkCmdWaitEvents2KHR",
    c"vkCmdSetEvent2",
    c"vkCmdSetEvent2KHR",
];

/// Queries that create nothing: a sharing list in them or in their chain reaches the driver unchanged. It has no effect
/// on a driver with one family.
#[cfg(test)]
pub(super) const QUERIES: [&CStr; 5] = [
    c"vkGetPhysicalDeviceImageFormatProperties2",
    c"vkGetDeviceBufferMemoryRequirements",
    c"vkGetDeviceImageMemoryRequirements",
    c"vkGetDeviceImageSparseMemoryRequirements",
    c"vkGetDeviceImageSubresourceLayoutKHR",
];

/// Whether the layer reports this command as missing.
pub(super) fn is_hidden(name: &CStr) -> bool {
    HIDDEN.contains(&name)
}

macro_rules! commands {
    ($($scope:ident $reason:ident $returns:ident $pfn:ident [$($name:literal)+] $function:path;)*) => {
        &[$(Command {
            names: &[$($name),+],
            scope: Scope::$scope,
            reason: Reason::$reason,
            returns_result: returns_result!($returns),
            function: {
                let typed: vk::$pfn = $function;
                // SAFETY: all function pointers have the same size; callers cast back by name.
                Some(unsafe {
                    std::mem::transmute::<vk::$pfn, unsafe extern "system" fn()>(typed)
                })
            },
        }),*]
    };
}

macro_rules! returns_result {
    (result) => {
        true
    };
    (nothing) => {
        false
    };
}

pub(super) use {commands, returns_result};

#[rustfmt::skip]
pub(super) static COMMANDS: &[Command] = commands! {
    Instance Lifetime nothing PFN_vkDestroyInstance [c"vkDestroyInstance"] instance::destroy_instance;
    PhysicalDevice Family result PFN_vkCreateDevice [c"vkCreateDevice"] device::create_device;
    PhysicalDevice Family nothing PFN_vkGetPhysicalDeviceQueueFamilyProperties [c"vkGetPhysicalDeviceQueueFamilyProperties"] instance::queue_family_properties;
    PhysicalDevice Family nothing PFN_vkGetPhysicalDeviceQueueFamilyProperties2 [c"vkGetPhysicalDeviceQueueFamilyProperties2" c"vkGetPhysicalDeviceQueueFamilyProperties2KHR"] instance::queue_family_properties2;
    PhysicalDevice Family result PFN_vkGetPhysicalDeviceSurfaceSupportKHR [c"vkGetPhysicalDeviceSurfaceSupportKHR"] presentation::surface_support;
    PhysicalDevice Family nothing PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR [c"vkGetPhysicalDeviceXlibPresentationSupportKHR"] presentation::xlib_presentation_support;
    PhysicalDevice Family nothing PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR [c"vkGetPhysicalDeviceXcbPresentationSupportKHR"] presentation::xcb_presentation_support;
    PhysicalDevice Family nothing PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR [c"vkGetPhysicalDeviceWaylandPresentationSupportKHR"] presentation::wayland_presentation_support;
    PhysicalDevice Script result PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR [c"vkGetPhysicalDeviceSurfaceCapabilitiesKHR"] presentation::surface_capabilities;
    PhysicalDevice Script result PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR [c"vkGetPhysicalDeviceSurfaceCapabilities2KHR"] presentation::surface_capabilities2;
    PhysicalDevice Script result PFN_vkGetPhysicalDeviceSurfaceFormatsKHR [c"vkGetPhysicalDeviceSurfaceFormatsKHR"] counted::surface_formats;
    PhysicalDevice Script result PFN_vkGetPhysicalDeviceSurfacePresentModesKHR [c"vkGetPhysicalDeviceSurfacePresentModesKHR"] counted::surface_present_modes;
    Instance Script result PFN_vkCreateHeadlessSurfaceEXT [c"vkCreateHeadlessSurfaceEXT"] counted::create_headless_surface;
    PhysicalDevice Hide result PFN_vkEnumerateDeviceExtensionProperties [c"vkEnumerateDeviceExtensionProperties"] hidden::device_extensions;
    PhysicalDevice Hide nothing PFN_vkGetPhysicalDeviceFeatures [c"vkGetPhysicalDeviceFeatures"] hidden::features;
    PhysicalDevice Hide nothing PFN_vkGetPhysicalDeviceFeatures2 [c"vkGetPhysicalDeviceFeatures2" c"vkGetPhysicalDeviceFeatures2KHR"] hidden::features2;
    PhysicalDevice Hide nothing PFN_vkGetPhysicalDeviceMemoryProperties [c"vkGetPhysicalDeviceMemoryProperties"] hidden::memory_properties;
    PhysicalDevice Hide nothing PFN_vkGetPhysicalDeviceMemoryProperties2 [c"vkGetPhysicalDeviceMemoryProperties2" c"vkGetPhysicalDeviceMemoryProperties2KHR"] hidden::memory_properties2;

    Device Lifetime nothing PFN_vkDestroyDevice [c"vkDestroyDevice"] device::destroy_device;
    Device Queue nothing PFN_vkGetDeviceQueue [c"vkGetDeviceQueue"] device::device_queue;
    Device Queue nothing PFN_vkGetDeviceQueue2 [c"vkGetDeviceQueue2"] device::device_queue2;
    Device Queue result PFN_vkQueueSubmit [c"vkQueueSubmit"] submit::queue_submit;
    Device Queue result PFN_vkQueueSubmit2 [c"vkQueueSubmit2" c"vkQueueSubmit2KHR"] submit::queue_submit2;
    Device Queue result PFN_vkQueueBindSparse [c"vkQueueBindSparse"] submit::queue_bind_sparse;
    Device Queue result PFN_vkQueueWaitIdle [c"vkQueueWaitIdle"] wait::queue_wait_idle;
    Device Queue result PFN_vkQueuePresentKHR [c"vkQueuePresentKHR"] presentation::queue_present;
    Device Queue nothing PFN_vkQueueBeginDebugUtilsLabelEXT [c"vkQueueBeginDebugUtilsLabelEXT"] names::queue_begin_label;
    Device Queue nothing PFN_vkQueueEndDebugUtilsLabelEXT [c"vkQueueEndDebugUtilsLabelEXT"] names::queue_end_label;
    Device Queue nothing PFN_vkQueueInsertDebugUtilsLabelEXT [c"vkQueueInsertDebugUtilsLabelEXT"] names::queue_insert_label;
    Device Queue result PFN_vkSetDebugUtilsObjectNameEXT [c"vkSetDebugUtilsObjectNameEXT"] names::set_object_name;
    Device Queue result PFN_vkSetDebugUtilsObjectTagEXT [c"vkSetDebugUtilsObjectTagEXT"] names::set_object_tag;

    Device Family result PFN_vkCreateCommandPool [c"vkCreateCommandPool"] pools::create_command_pool;
    Device Family nothing PFN_vkDestroyCommandPool [c"vkDestroyCommandPool"] pools::destroy_command_pool;
    Device Family result PFN_vkAllocateCommandBuffers [c"vkAllocateCommandBuffers"] pools::allocate_command_buffers;
    Device Family nothing PFN_vkCmdPipelineBarrier [c"vkCmdPipelineBarrier"] record::pipeline_barrier;
    Device Family nothing PFN_vkCmdPipelineBarrier2 [c"vkCmdPipelineBarrier2" c"vkCmdPipelineBarrier2KHR"] record::pipeline_barrier2;
    Device Family result PFN_vkCreateBuffer [c"vkCreateBuffer"] resources::create_buffer;
    Device Family result PFN_vkCreateImage [c"vkCreateImage"] resources::create_image;
    Device Script result PFN_vkCreateQueryPool [c"vkCreateQueryPool"] counted::create_query_pool;
    Device Family result PFN_vkCreateSwapchainKHR [c"vkCreateSwapchainKHR"] presentation::create_swapchain;
    Device Lifetime nothing PFN_vkDestroySwapchainKHR [c"vkDestroySwapchainKHR"] presentation::destroy_swapchain;

    Device Script result PFN_vkWaitForPresentKHR [c"vkWaitForPresentKHR"] present_wait::wait_for_present;
    Device Script nothing PFN_vkGetBufferDeviceAddress [c"vkGetBufferDeviceAddress" c"vkGetBufferDeviceAddressKHR" c"vkGetBufferDeviceAddressEXT"] device_fault::buffer_device_address;
    Device Script result PFN_vkGetDeviceFaultInfoEXT [c"vkGetDeviceFaultInfoEXT"] device_fault::device_fault_info;

    Device HoldBack result PFN_vkDeviceWaitIdle [c"vkDeviceWaitIdle"] wait::device_wait_idle;
    Device HoldBack result PFN_vkWaitForFences [c"vkWaitForFences"] wait::wait_for_fences;
    Device HoldBack result PFN_vkGetFenceStatus [c"vkGetFenceStatus"] wait::fence_status;
    Device HoldBack result PFN_vkResetFences [c"vkResetFences"] wait::reset_fences;
    Device HoldBack nothing PFN_vkDestroyFence [c"vkDestroyFence"] wait::destroy_fence;
    Device HoldBack result PFN_vkCreateSemaphore [c"vkCreateSemaphore"] semaphores::create_semaphore;
    Device HoldBack nothing PFN_vkDestroySemaphore [c"vkDestroySemaphore"] semaphores::destroy_semaphore;
    Device HoldBack result PFN_vkWaitSemaphores [c"vkWaitSemaphores" c"vkWaitSemaphoresKHR"] wait::wait_semaphores;
    Device HoldBack result PFN_vkSignalSemaphore [c"vkSignalSemaphore" c"vkSignalSemaphoreKHR"] semaphores::signal_semaphore;
    Device HoldBack result PFN_vkGetSemaphoreCounterValue [c"vkGetSemaphoreCounterValue" c"vkGetSemaphoreCounterValueKHR"] semaphores::semaphore_value;
    Device HoldBack result PFN_vkGetQueryPoolResults [c"vkGetQueryPoolResults"] semaphores::query_pool_results;
    Device HoldBack result PFN_vkAcquireNextImageKHR [c"vkAcquireNextImageKHR"] presentation::acquire_next_image;

    Device Poison result PFN_vkAllocateMemory [c"vkAllocateMemory"] resources::allocate_memory;
    Device Poison nothing PFN_vkDestroyImage [c"vkDestroyImage"] resources::destroy_image;
    Device Poison result PFN_vkCreateImageView [c"vkCreateImageView"] resources::create_image_view;
    Device Poison nothing PFN_vkDestroyImageView [c"vkDestroyImageView"] resources::destroy_image_view;
    Device Poison nothing PFN_vkCmdBeginRendering [c"vkCmdBeginRendering" c"vkCmdBeginRenderingKHR"] record::begin_rendering;

    Device Script result PFN_vkCreateFence [c"vkCreateFence"] counted::create_fence;
    Device Script result PFN_vkCreateShaderModule [c"vkCreateShaderModule"] counted::create_shader_module;
    Device Script result PFN_vkCreateSampler [c"vkCreateSampler"] counted::create_sampler;
    Device Script result PFN_vkCreatePipelineCache [c"vkCreatePipelineCache"] counted::create_pipeline_cache;
    Device Script result PFN_vkCreatePipelineLayout [c"vkCreatePipelineLayout"] counted::create_pipeline_layout;
    Device Script result PFN_vkCreateGraphicsPipelines [c"vkCreateGraphicsPipelines"] counted::create_graphics_pipelines;
    Device Script result PFN_vkCreateComputePipelines [c"vkCreateComputePipelines"] counted::create_compute_pipelines;
    Device Script result PFN_vkCreateDescriptorSetLayout [c"vkCreateDescriptorSetLayout"] counted::create_descriptor_set_layout;
    Device Script result PFN_vkCreateDescriptorPool [c"vkCreateDescriptorPool"] counted::create_descriptor_pool;
    Device Script result PFN_vkAllocateDescriptorSets [c"vkAllocateDescriptorSets"] counted::allocate_descriptor_sets;
    Device Script result PFN_vkMapMemory [c"vkMapMemory"] counted::map_memory;
    Device Script result PFN_vkFlushMappedMemoryRanges [c"vkFlushMappedMemoryRanges"] counted::flush_mapped_memory_ranges;
    Device Script result PFN_vkInvalidateMappedMemoryRanges [c"vkInvalidateMappedMemoryRanges"] counted::invalidate_mapped_memory_ranges;
    Device Script result PFN_vkBindBufferMemory [c"vkBindBufferMemory"] counted::bind_buffer_memory;
    Device Script result PFN_vkBindImageMemory [c"vkBindImageMemory"] counted::bind_image_memory;
    Device Script result PFN_vkResetCommandPool [c"vkResetCommandPool"] counted::reset_command_pool;
    Device Script result PFN_vkBeginCommandBuffer [c"vkBeginCommandBuffer"] counted::begin_command_buffer;
    Device Script result PFN_vkEndCommandBuffer [c"vkEndCommandBuffer"] counted::end_command_buffer;
    Device Poison result PFN_vkGetSwapchainImagesKHR [c"vkGetSwapchainImagesKHR"] presentation::swapchain_images;
};
