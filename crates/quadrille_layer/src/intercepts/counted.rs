//! Commands that are only counted, logged, and failed by the script.

use std::ffi::c_void;

use ash::vk;

use crate::state::registry::{device_of, instance_of};

macro_rules! counted {
    ($($function:ident $command:literal $table:ident.$call:ident
        ($first:ident: $first_ty:ty $(, $arg:ident: $ty:ty)*);)*) => {$(
        #[doc = concat!("`", $command, "`.")]
        pub(crate) unsafe extern "system" fn $function(
            $first: $first_ty,
            $($arg: $ty),*
        ) -> vk::Result {
            // SAFETY: the app passes a valid handle.
            let owner = unsafe { device_of($first) };
            let real = owner.driver.next.core.$table().$call;
            // SAFETY: the app's own arguments.
            owner.calls().begin($command).run(|| unsafe { real($first, $($arg),*) })
        }
    )*};
}

macro_rules! of_instance {
    ($($function:ident $command:literal $table:ident.$call:ident
        ($first:ident: $first_ty:ty $(, $arg:ident: $ty:ty)*);)*) => {$(
        #[doc = concat!("`", $command, "`.")]
        pub(crate) unsafe extern "system" fn $function(
            $first: $first_ty,
            $($arg: $ty),*
        ) -> vk::Result {
            // SAFETY: the app passes a valid handle.
            let owner = unsafe { instance_of($first) };
            let real = owner.next.$table.$call;
            // SAFETY: the app's own arguments.
            owner.calls.begin($command).run(|| unsafe { real($first, $($arg),*) })
        }
    )*};
}

macro_rules! pipelines {
    ($($function:ident $command:literal $call:ident $info:ty;)*) => {$(
        #[doc = concat!("`", $command, "`; pipelines that are not made are null.")]
        pub(crate) unsafe extern "system" fn $function(
            device: vk::Device,
            cache: vk::PipelineCache,
            count: u32,
            infos: *const $info,
            allocator: Allocator<'_>,
            out: *mut vk::Pipeline,
        ) -> vk::Result {
            // SAFETY: the app passes a valid handle.
            let owner = unsafe { device_of(device) };
            let real = owner.driver.next.core.fp_v1_0().$call;
            // SAFETY: the app passes memory for this many handles, for which null is all zeros.
            unsafe { out.write_bytes(0, count as usize) };
            owner.calls().begin($command).run(|| {
                // SAFETY: the app's own arguments.
                unsafe { real(device, cache, count, infos, allocator, out) }
            })
        }
    )*};
}

pipelines! {
    create_graphics_pipelines "vkCreateGraphicsPipelines" create_graphics_pipelines
        vk::GraphicsPipelineCreateInfo<'_>;
    create_compute_pipelines "vkCreateComputePipelines" create_compute_pipelines
        vk::ComputePipelineCreateInfo<'_>;
}

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

counted! {
    create_fence "vkCreateFence" fp_v1_0.create_fence
        (device: vk::Device, info: *const vk::FenceCreateInfo<'_>, allocator: Allocator<'_>,
         out: *mut vk::Fence);
    create_query_pool "vkCreateQueryPool" fp_v1_0.create_query_pool
        (device: vk::Device, info: *const vk::QueryPoolCreateInfo<'_>, allocator: Allocator<'_>,
         out: *mut vk::QueryPool);
    create_shader_module "vkCreateShaderModule" fp_v1_0.create_shader_module
        (device: vk::Device, info: *const vk::ShaderModuleCreateInfo<'_>,
         allocator: Allocator<'_>, out: *mut vk::ShaderModule);
    create_sampler "vkCreateSampler" fp_v1_0.create_sampler
        (device: vk::Device, info: *const vk::SamplerCreateInfo<'_>, allocator: Allocator<'_>,
         out: *mut vk::Sampler);
    create_pipeline_cache "vkCreatePipelineCache" fp_v1_0.create_pipeline_cache
        (device: vk::Device, info: *const vk::PipelineCacheCreateInfo<'_>,
         allocator: Allocator<'_>, out: *mut vk::PipelineCache);
    create_pipeline_layout "vkCreatePipelineLayout" fp_v1_0.create_pipeline_layout
        (device: vk::Device, info: *const vk::PipelineLayoutCreateInfo<'_>,
         allocator: Allocator<'_>, out: *mut vk::PipelineLayout);
    create_descriptor_set_layout "vkCreateDescriptorSetLayout" fp_v1_0.create_descriptor_set_layout
        (device: vk::Device, info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
         allocator: Allocator<'_>, out: *mut vk::DescriptorSetLayout);
    create_descriptor_pool "vkCreateDescriptorPool" fp_v1_0.create_descriptor_pool
        (device: vk::Device, info: *const vk::DescriptorPoolCreateInfo<'_>,
         allocator: Allocator<'_>, out: *mut vk::DescriptorPool);
    allocate_descriptor_sets "vkAllocateDescriptorSets" fp_v1_0.allocate_descriptor_sets
        (device: vk::Device, info: *const vk::DescriptorSetAllocateInfo<'_>,
         out: *mut vk::DescriptorSet);
    map_memory "vkMapMemory" fp_v1_0.map_memory
        (device: vk::Device, memory: vk::DeviceMemory, offset: vk::DeviceSize,
         size: vk::DeviceSize, flags: vk::MemoryMapFlags, data: *mut *mut c_void);
    flush_mapped_memory_ranges "vkFlushMappedMemoryRanges" fp_v1_0.flush_mapped_memory_ranges
        (device: vk::Device, count: u32, ranges: *const vk::MappedMemoryRange<'_>);
    invalidate_mapped_memory_ranges "vkInvalidateMappedMemoryRanges"
        fp_v1_0.invalidate_mapped_memory_ranges
        (device: vk::Device, count: u32, ranges: *const vk::MappedMemoryRange<'_>);
    bind_buffer_memory "vkBindBufferMemory" fp_v1_0.bind_buffer_memory
        (device: vk::Device, buffer: vk::Buffer, memory: vk::DeviceMemory,
         offset: vk::DeviceSize);
    bind_image_memory "vkBindImageMemory" fp_v1_0.bind_image_memory
        (device: vk::Device, image: vk::Image, memory: vk::DeviceMemory,
         offset: vk::DeviceSize);
    reset_command_pool "vkResetCommandPool" fp_v1_0.reset_command_pool
        (device: vk::Device, pool: vk::CommandPool, flags: vk::CommandPoolResetFlags);
    begin_command_buffer "vkBeginCommandBuffer" fp_v1_0.begin_command_buffer
        (buffer: vk::CommandBuffer, info: *const vk::CommandBufferBeginInfo<'_>);
    end_command_buffer "vkEndCommandBuffer" fp_v1_0.end_command_buffer
        (buffer: vk::CommandBuffer);
}

of_instance! {
    create_headless_surface "vkCreateHeadlessSurfaceEXT"
        headless_surface.create_headless_surface_ext
        (instance: vk::Instance, info: *const vk::HeadlessSurfaceCreateInfoEXT<'_>,
         allocator: Allocator<'_>, out: *mut vk::SurfaceKHR);
    surface_formats "vkGetPhysicalDeviceSurfaceFormatsKHR"
        surface.get_physical_device_surface_formats_khr
        (physical_device: vk::PhysicalDevice, surface: vk::SurfaceKHR, count: *mut u32,
         formats: *mut vk::SurfaceFormatKHR);
    surface_present_modes "vkGetPhysicalDeviceSurfacePresentModesKHR"
        surface.get_physical_device_surface_present_modes_khr
        (physical_device: vk::PhysicalDevice, surface: vk::SurfaceKHR, count: *mut u32,
         modes: *mut vk::PresentModeKHR);
}
