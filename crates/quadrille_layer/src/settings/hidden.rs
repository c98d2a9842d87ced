//! Device extensions and features that are hidden from the app.
//!
//! `QUADRILLE_LAYER_HIDE=VK_KHR_push_descriptor,timelineSemaphore` reports a device without them. A name that begins
//! with `VK_` is a device extension, any other a feature by its Vulkan name, or `hostCoherent`: then no memory is
//! coherent. So a machine with all features can test the behavior of a program without them.

use std::ffi::c_void;

use ash::vk;

use crate::dispatch::chain::find_mut;
use crate::settings::refusal::Refusal;

/// Name in `QUADRILLE_LAYER_HIDE` that makes no memory coherent: a property, not a feature.
///
/// Vulkan guarantees a coherent type. Many phones have none that is also cached, and software drivers have no other.
/// Without coherence, mapped memory has to be flushed and invalidated as the specification requires.
const HOST_COHERENT: &str = "hostCoherent";

/// Hidden extensions, features and memory property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden {
    extensions: Vec<String>,
    features: Vec<&'static str>,
    /// Whether coherence of memory is hidden.
    coherent: bool,
}

/// Features of later Vulkan versions, with the structure of their version and the structure of their own that programs
/// may query instead.
macro_rules! features {
    ($($structure:ident [$($name:literal $field:ident $($alone:ident)?)*])*) => {
        /// The features that can be hidden.
        const FEATURES: &[&str] = &[$($($name),*),*];

        $(impl Switch for vk::$structure<'_> {
            fn switch_off(&mut self, feature: &str) {
                match feature {
                    $($name => self.$field = vk::FALSE,)*
                    _ => {}
                }
            }
        })*
        $($($(impl Switch for vk::$alone<'_> {
            fn switch_off(&mut self, feature: &str) {
                if feature == $name {
                    self.$field = vk::FALSE;
                }
            }
        })?)*)*

        /// Clears a feature in all structures of a chain that have it.
        ///
        /// # Safety
        /// The chain must be valid, and no other thread may use it.
        unsafe fn switch_off_chained(chain: *mut c_void, feature: &str) {
            $(
                // SAFETY: by the caller's contract.
                unsafe { switch_off::<vk::$structure<'_>>(chain, feature) };
                $($(
                    // SAFETY: by the caller's contract.
                    unsafe { switch_off::<vk::$alone<'_>>(chain, feature) };
                )?)*
            )*
        }
    };
}

/// A feature structure.
trait Switch {
    /// Clears a feature, if the structure has it.
    fn switch_off(&mut self, feature: &str);
}

/// Features of Vulkan 1.0, which have a structure without a chain.
macro_rules! core_features {
    ($($name:literal $field:ident)*) => {
        /// The features of Vulkan 1.0 that can be hidden.
        const CORE_FEATURES: &[&str] = &[$($name),*];

        fn switch_off_core(features: &mut vk::PhysicalDeviceFeatures, feature: &str) {
            match feature {
                $($name => features.$field = vk::FALSE,)*
                _ => {}
            }
        }
    };
}

core_features! {
    "robustBufferAccess" robust_buffer_access
    "fullDrawIndexUint32" full_draw_index_uint32
    "imageCubeArray" image_cube_array
    "independentBlend" independent_blend
    "sampleRateShading" sample_rate_shading
    "alphaToOne" alpha_to_one
    "multiDrawIndirect" multi_draw_indirect
    "drawIndirectFirstInstance" draw_indirect_first_instance
    "depthClamp" depth_clamp
    "depthBiasClamp" depth_bias_clamp
    "depthBounds" depth_bounds
    "logicOp" logic_op
    "fillModeNonSolid" fill_mode_non_solid
    "samplerAnisotropy" sampler_anisotropy
    "vertexPipelineStoresAndAtomics" vertex_pipeline_stores_and_atomics
    "fragmentStoresAndAtomics" fragment_stores_and_atomics
    "shaderStorageImageExtendedFormats" shader_storage_image_extended_formats
    "shaderStorageImageReadWithoutFormat" shader_storage_image_read_without_format
    "shaderStorageImageWriteWithoutFormat" shader_storage_image_write_without_format
    "shaderClipDistance" shader_clip_distance
    "shaderInt64" shader_int64
    "shaderInt16" shader_int16
    "shaderFloat64" shader_float64
}

features! {
    PhysicalDeviceVulkan11Features [
        "shaderDrawParameters" shader_draw_parameters PhysicalDeviceShaderDrawParametersFeatures
    ]
    PhysicalDeviceVulkan12Features [
        "drawIndirectCount" draw_indirect_count
        "samplerFilterMinmax" sampler_filter_minmax
        "timelineSemaphore" timeline_semaphore PhysicalDeviceTimelineSemaphoreFeatures
        "descriptorIndexing" descriptor_indexing
        "bufferDeviceAddress" buffer_device_address PhysicalDeviceBufferDeviceAddressFeatures
        "hostQueryReset" host_query_reset PhysicalDeviceHostQueryResetFeatures
        "scalarBlockLayout" scalar_block_layout PhysicalDeviceScalarBlockLayoutFeatures
        "vulkanMemoryModel" vulkan_memory_model PhysicalDeviceVulkanMemoryModelFeatures
        "separateDepthStencilLayouts" separate_depth_stencil_layouts
            PhysicalDeviceSeparateDepthStencilLayoutsFeatures
        "runtimeDescriptorArray" runtime_descriptor_array
        "descriptorBindingPartiallyBound" descriptor_binding_partially_bound
        "descriptorBindingVariableDescriptorCount" descriptor_binding_variable_descriptor_count
        "shaderSampledImageArrayNonUniformIndexing" shader_sampled_image_array_non_uniform_indexing
        "shaderStorageBufferArrayNonUniformIndexing" shader_storage_buffer_array_non_uniform_indexing
    ]
    PhysicalDeviceDescriptorIndexingFeatures [
        "runtimeDescriptorArray" runtime_descriptor_array
        "descriptorBindingPartiallyBound" descriptor_binding_partially_bound
        "descriptorBindingVariableDescriptorCount" descriptor_binding_variable_descriptor_count
        "shaderSampledImageArrayNonUniformIndexing" shader_sampled_image_array_non_uniform_indexing
        "shaderStorageBufferArrayNonUniformIndexing" shader_storage_buffer_array_non_uniform_indexing
    ]
    PhysicalDeviceVulkan13Features [
        "synchronization2" synchronization2 PhysicalDeviceSynchronization2Features
        "dynamicRendering" dynamic_rendering PhysicalDeviceDynamicRenderingFeatures
        "maintenance4" maintenance4 PhysicalDeviceMaintenance4Features
        "inlineUniformBlock" inline_uniform_block PhysicalDeviceInlineUniformBlockFeatures
        "robustImageAccess" robust_image_access PhysicalDeviceImageRobustnessFeatures
        "shaderZeroInitializeWorkgroupMemory" shader_zero_initialize_workgroup_memory
            PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures
        "shaderDemoteToHelperInvocation" shader_demote_to_helper_invocation
            PhysicalDeviceShaderDemoteToHelperInvocationFeatures
    ]
}

impl Hidden {
    /// Parses a comma-separated list of names.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let mut hidden = Self::default();
        for name in text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            let mut features = CORE_FEATURES.iter().chain(FEATURES);
            if name.starts_with("VK_") {
                hidden.extensions.push(name.to_owned());
            } else if let Some(feature) = features.find(|feature| **feature == name) {
                hidden.features.push(feature);
            } else if name == HOST_COHERENT {
                hidden.coherent = true;
            } else {
                let mut known = [CORE_FEATURES, FEATURES, &[HOST_COHERENT]].concat();
                known.sort_unstable();
                // A feature may be in several structures.
                known.dedup();
                let known = known.join(", ");
                let allowed = format!("a device extension (VK_..) or one of {known}");
                return Err(Refusal::of(name, &allowed));
            }
        }
        Ok(hidden)
    }

    /// Clears the hidden features of Vulkan 1.0.
    pub(crate) fn hide_core_features(&self, features: &mut vk::PhysicalDeviceFeatures) {
        for feature in &self.features {
            switch_off_core(features, feature);
        }
    }

    /// Clears the hidden features in a chain.
    ///
    /// # Safety
    /// The chain must be valid, and no other thread may use it.
    pub(crate) unsafe fn hide_features(&self, chain: *mut c_void) {
        for feature in &self.features {
            // SAFETY: by the caller's contract.
            unsafe { switch_off_chained(chain, feature) };
        }
    }

    /// Clears `HOST_COHERENT` of all memory types, if it is hidden.
    pub(crate) fn hide_coherence(&self, properties: &mut vk::PhysicalDeviceMemoryProperties) {
        let count = properties.memory_type_count as usize;
        for kind in properties
            .memory_types
            .iter_mut()
            .take(count)
            .filter(|_| self.coherent)
        {
            kind.property_flags &= !vk::MemoryPropertyFlags::HOST_COHERENT;
        }
    }

    /// Whether any extension is hidden.
    pub(crate) fn has_extensions(&self) -> bool {
        !self.extensions.is_empty()
    }

    /// Whether an extension is hidden.
    pub(crate) fn hides(&self, extension: &vk::ExtensionProperties) -> bool {
        let name = extension.extension_name_as_c_str().unwrap_or_default();
        self.extensions
            .iter()
            .any(|hidden| hidden.as_bytes() == name.to_bytes())
    }
}

/// Clears a feature in the structure of this type, if the chain has one.
///
/// # Safety
/// The chain must be valid, and no other thread may use it.
unsafe fn switch_off<T: vk::TaggedStructure + Switch>(chain: *mut c_void, feature: &str) {
    // SAFETY: valid by the caller's contract.
    if let Some(structure) = unsafe { find_mut::<T>(chain) } {
        structure.switch_off(feature);
    }
}

#[cfg(test)]
mod tests;
