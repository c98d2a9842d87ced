//! The required baseline of features, and the optional features that are used if available.
//!
//! Baseline: Vulkan 1.3 with `synchronization2`, `timelineSemaphore`, `dynamicRendering`,
//! `maintenance4`, `descriptorIndexing`, `inlineUniformBlock`, `bufferDeviceAddress`, `separateDepthStencilLayouts`,
//! `robustBufferAccess`, and `VK_KHR_push_descriptor`.

mod enable;

use std::ffi::{CStr, CString};

use ash::{ext, khr, vk};

use crate::error::SetupError;
use crate::instance::environment;
use crate::instance::extension::Granted;
use crate::instance::settings::Settings;
use crate::instance::source::Source;
use crate::instance::version_text;

use enable::Maintenance8Features;

/// Extensions for memory and semaphores of other owners, enabled where a device has them.
#[cfg(any(target_os = "linux", target_os = "android"))]
const EXTERNAL: [&CStr; 6] = [
    khr::external_memory_fd::NAME,
    khr::external_semaphore_fd::NAME,
    ext::external_memory_dma_buf::NAME,
    ext::external_memory_host::NAME,
    ext::image_drm_format_modifier::NAME,
    ext::queue_family_foreign::NAME,
];

/// `VK_KHR_swapchain_maintenance1`: the promoted name of the `EXT` extension, with the same structures.
const KHR_SWAPCHAIN_MAINTENANCE1: &CStr = c"VK_KHR_swapchain_maintenance1";
/// `VK_KHR_surface_maintenance1`, likewise.
pub(crate) const KHR_SURFACE_MAINTENANCE1: &CStr = c"VK_KHR_surface_maintenance1";
/// `VK_KHR_maintenance8`, which ash lacks.
const MAINTENANCE8: &CStr = c"VK_KHR_maintenance8";
/// `VK_KHR_portability_subset`, which must be enabled where it is supported.
const PORTABILITY_SUBSET: &CStr = khr::portability_subset::NAME;

/// A physical device's support for the extensions and features that Quadrille enables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Support {
    /// Missing baseline features.
    pub missing: Vec<String>,
    /// The extensions to enable.
    pub extensions: Vec<CString>,
    /// The supported requests of the program.
    pub granted: Granted,
    /// Whether presents can have fences.
    pub present_fences: bool,
    /// Whether presents can have ids, with waits until one is displayed.
    pub present_wait: bool,
    /// Whether the driver can report the reason of a lost device.
    pub device_fault: bool,
    /// Whether stage masks of ownership transfers are effective (`VK_KHR_maintenance8`).
    pub maintenance8: bool,
    /// Whether conditional rendering is supported.
    pub conditional_rendering: bool,
    pub core: vk::PhysicalDeviceFeatures,
    /// The optional features of later versions.
    pub optional: Optional,
    scalar_block_layout: bool,
    vulkan_memory_model: bool,
}

/// Optional features of Vulkan 1.1 and later that commands and pipelines use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Optional {
    /// `drawIndirectCount`
    pub draw_indirect_count: bool,
    /// `shaderDrawParameters`
    pub draw_parameters: bool,
    /// `multiview`
    pub multiview: bool,
    /// `samplerFilterMinmax`
    pub sampler_minmax: bool,
    /// `dynamicRenderingLocalRead` of `VK_KHR_dynamic_rendering_local_read`
    pub local_read: bool,
}

/// Queries the support of a device.
pub(crate) fn probe(source: &Source<'_>, settings: &Settings) -> Result<Support, SetupError> {
    let instance = source.instance;
    // SAFETY: the physical device is of this instance.
    let properties = unsafe { instance.raw.get_physical_device_properties(source.physical) };
    let mut support = Support::default();
    if properties.api_version < vk::API_VERSION_1_3 {
        let has = version_text(properties.api_version);
        support.missing.push(format!("Vulkan 1.3 (it has {has})"));
        return Ok(support);
    }
    support.need_extension(khr::push_descriptor::NAME, source);
    if settings.windows {
        support.want_extension(khr::swapchain::NAME, source.has(khr::swapchain::NAME));
    }
    for name in [PORTABILITY_SUBSET, ext::calibrated_timestamps::NAME] {
        support.want_extension(name, source.has(name));
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    for name in EXTERNAL {
        support.want_extension(name, source.has(name));
    }
    support.probe_features(source);
    support.probe_present_fences(source, settings.windows)?;
    support.probe_present_wait(source);
    support.probe_device_fault(source);
    support.probe_conditional_rendering(source);
    support.grant(Granted::of(&settings.extensions, source));
    Ok(support)
}

impl Support {
    fn need_extension(&mut self, name: &CStr, source: &Source<'_>) {
        if !self.want_extension(name, source.has(name)) {
            self.missing.push(name.to_string_lossy().into_owned());
        }
    }

    fn want_extension(&mut self, name: &CStr, present: bool) -> bool {
        if present {
            self.extensions.push(name.to_owned());
        }
        present
    }

    /// Adds extensions that are already enabled.
    pub(crate) fn add_extensions(&mut self, names: &[CString]) {
        for name in names {
            if !self.has(name) {
                self.extensions.push(name.clone());
            }
        }
    }

    /// Whether an extension of the device is to be enabled.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.extensions.iter().any(|it| it.as_c_str() == name)
    }

    /// Adds the program's requests.
    fn grant(&mut self, granted: Granted) {
        self.add_extensions(&granted.names);
        let mut core = vk::PhysicalDeviceFeatures2::default().features(self.core);
        granted.add_to(&mut core);
        self.core = core.features;
        self.granted = granted;
    }

    fn need_feature(&mut self, name: &str, present: vk::Bool32) {
        if present == vk::FALSE {
            self.missing.push(name.to_owned());
        }
    }

    fn probe_features(&mut self, source: &Source<'_>) {
        let core = source.core();
        let vulkan11: vk::PhysicalDeviceVulkan11Features<'_> = source.read();
        let vulkan12: vk::PhysicalDeviceVulkan12Features<'_> = source.read();
        let vulkan13: vk::PhysicalDeviceVulkan13Features<'_> = source.read();
        self.need_feature("synchronization2", vulkan13.synchronization2);
        // For the bounds of tables.
        self.need_feature("inlineUniformBlock", vulkan13.inline_uniform_block);
        self.need_feature("dynamicRendering", vulkan13.dynamic_rendering);
        self.need_feature("maintenance4", vulkan13.maintenance4);
        self.need_feature("timelineSemaphore", vulkan12.timeline_semaphore);
        self.need_feature("descriptorIndexing", vulkan12.descriptor_indexing);
        // Devices with descriptorIndexing have all features that tables need.
        self.need_feature("runtimeDescriptorArray", vulkan12.runtime_descriptor_array);
        self.need_feature(
            "descriptorBindingPartiallyBound",
            vulkan12.descriptor_binding_partially_bound,
        );
        self.need_feature(
            "descriptorBindingVariableDescriptorCount",
            vulkan12.descriptor_binding_variable_descriptor_count,
        );
        self.need_feature(
            "shaderSampledImageArrayNonUniformIndexing",
            vulkan12.shader_sampled_image_array_non_uniform_indexing,
        );
        self.need_feature(
            "shaderStorageBufferArrayNonUniformIndexing",
            vulkan12.shader_storage_buffer_array_non_uniform_indexing,
        );
        self.need_feature("bufferDeviceAddress", vulkan12.buffer_device_address);
        // Like most of these, guaranteed by Vulkan 1.2 and later (section "Feature Requirements").
        self.need_feature("hostQueryReset", vulkan12.host_query_reset);
        let separate = vulkan12.separate_depth_stencil_layouts;
        self.need_feature("separateDepthStencilLayouts", separate);
        self.need_feature("robustBufferAccess", core.robust_buffer_access);
        self.need_feature("robustImageAccess", vulkan13.robust_image_access);
        self.need_feature(
            "shaderZeroInitializeWorkgroupMemory",
            vulkan13.shader_zero_initialize_workgroup_memory,
        );
        self.need_feature(
            "shaderDemoteToHelperInvocation",
            vulkan13.shader_demote_to_helper_invocation,
        );
        self.core = optional_core(&core);
        self.optional = Optional {
            draw_indirect_count: vulkan12.draw_indirect_count == vk::TRUE,
            draw_parameters: vulkan11.shader_draw_parameters == vk::TRUE,
            multiview: vulkan11.multiview == vk::TRUE,
            sampler_minmax: vulkan12.sampler_filter_minmax == vk::TRUE,
            local_read: self.probe_local_read(source),
        };
        self.scalar_block_layout = vulkan12.scalar_block_layout == vk::TRUE;
        self.vulkan_memory_model = vulkan12.vulkan_memory_model == vk::TRUE
            && vulkan12.vulkan_memory_model_device_scope == vk::TRUE;
        if source.has(MAINTENANCE8) {
            let features: Maintenance8Features = source.read();
            self.maintenance8 = features.maintenance8 == vk::TRUE;
            self.want_extension(MAINTENANCE8, self.maintenance8);
        }
    }

    /// Queries support of present fences, which need the maintenance extensions of surface and swapchain, both by their
    /// promoted or both by their old names.
    fn probe_present_fences(
        &mut self,
        source: &Source<'_>,
        windows: bool,
    ) -> Result<(), SetupError> {
        let windows = windows && self.has(khr::swapchain::NAME);
        if !windows || environment::leaves_out_present_fences()? {
            return Ok(());
        }
        let pairs = [
            (KHR_SURFACE_MAINTENANCE1, KHR_SWAPCHAIN_MAINTENANCE1),
            (
                ext::surface_maintenance1::NAME,
                ext::swapchain_maintenance1::NAME,
            ),
        ];
        let pair = pairs
            .iter()
            .find(|(surface, device)| source.instance.has(surface) && source.has(device));
        if let Some((_, extension)) = pair {
            let features: vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT<'_> = source.read();
            self.present_fences = features.swapchain_maintenance1 == vk::TRUE;
            self.want_extension(extension, self.present_fences);
        }
        Ok(())
    }

    /// Queries support of present waits, which need two extensions with a feature each, and swapchains.
    fn probe_present_wait(&mut self, source: &Source<'_>) {
        let names = [khr::present_id::NAME, khr::present_wait::NAME];
        let windows = self.has(khr::swapchain::NAME);
        if !windows || !names.iter().all(|name| source.has(name)) {
            return;
        }
        let ids: vk::PhysicalDevicePresentIdFeaturesKHR<'_> = source.read();
        let waits: vk::PhysicalDevicePresentWaitFeaturesKHR<'_> = source.read();
        self.present_wait = ids.present_id == vk::TRUE && waits.present_wait == vk::TRUE;
        if self.present_wait {
            self.extensions.extend(names.map(CStr::to_owned));
        }
    }

    fn probe_device_fault(&mut self, source: &Source<'_>) {
        if source.has(ext::device_fault::NAME) {
            let fault: vk::PhysicalDeviceFaultFeaturesEXT<'_> = source.read();
            self.device_fault = fault.device_fault == vk::TRUE;
            self.want_extension(ext::device_fault::NAME, self.device_fault);
        }
    }

    fn probe_conditional_rendering(&mut self, source: &Source<'_>) {
        let name = ext::conditional_rendering::NAME;
        if source.has(name) {
            let features: vk::PhysicalDeviceConditionalRenderingFeaturesEXT<'_> = source.read();
            self.conditional_rendering = features.conditional_rendering == vk::TRUE;
            self.want_extension(name, self.conditional_rendering);
        }
    }

    /// Whether draws can read attachments that earlier draws of the same rendering wrote.
    fn probe_local_read(&mut self, source: &Source<'_>) -> bool {
        let name = khr::dynamic_rendering_local_read::NAME;
        if !source.has(name) {
            return false;
        }
        let features: vk::PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR<'_> = source.read();
        self.want_extension(name, features.dynamic_rendering_local_read == vk::TRUE)
    }
}

/// Returns the features of Vulkan 1.0 to enable, as far as supported. Robust buffer access is always enabled: an index
/// out of bounds in a shader must not read another resource.
fn optional_core(has: &vk::PhysicalDeviceFeatures) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        robust_buffer_access: has.robust_buffer_access,
        full_draw_index_uint32: has.full_draw_index_uint32,
        image_cube_array: has.image_cube_array,
        independent_blend: has.independent_blend,
        sample_rate_shading: has.sample_rate_shading,
        alpha_to_one: has.alpha_to_one,
        multi_draw_indirect: has.multi_draw_indirect,
        draw_indirect_first_instance: has.draw_indirect_first_instance,
        depth_clamp: has.depth_clamp,
        depth_bias_clamp: has.depth_bias_clamp,
        depth_bounds: has.depth_bounds,
        logic_op: has.logic_op,
        fill_mode_non_solid: has.fill_mode_non_solid,
        occlusion_query_precise: has.occlusion_query_precise,
        pipeline_statistics_query: has.pipeline_statistics_query,
        sampler_anisotropy: has.sampler_anisotropy,
        texture_compression_etc2: has.texture_compression_etc2,
        texture_compression_astc_ldr: has.texture_compression_astc_ldr,
        texture_compression_bc: has.texture_compression_bc,
        vertex_pipeline_stores_and_atomics: has.vertex_pipeline_stores_and_atomics,
        fragment_stores_and_atomics: has.fragment_stores_and_atomics,
        // Devices with descriptorIndexing have both; they allow indexing of tables.
        shader_sampled_image_array_dynamic_indexing: has
            .shader_sampled_image_array_dynamic_indexing,
        shader_storage_buffer_array_dynamic_indexing: has
            .shader_storage_buffer_array_dynamic_indexing,
        shader_storage_image_extended_formats: has.shader_storage_image_extended_formats,
        shader_storage_image_read_without_format: has.shader_storage_image_read_without_format,
        shader_storage_image_write_without_format: has.shader_storage_image_write_without_format,
        shader_clip_distance: has.shader_clip_distance,
        shader_int64: has.shader_int64,
        shader_int16: has.shader_int16,
        shader_float64: has.shader_float64,
        ..Default::default()
    }
}
