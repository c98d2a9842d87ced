//! Pipelines that light the G-buffer of cameras with [`DeferredPrepass`](crate::DeferredPrepass).

use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::pipeline::DepthState;
use quadrille::vulkan::{ShaderError, vk};

use super::constants::lighting_constants;
use crate::scene::formats::PipelineTarget;
use crate::scene::keys::LightingFeatures;

/// Pipelines by features of lighting, and by whether the shader ends with tone mapping.
#[derive(Default)]
pub(crate) struct DeferredLighting {
    shader: Option<GpuShader>,
    compiled: HashMap<(LightingFeatures, bool), GraphicsPipeline>,
    /// Features of the frame's lighting.
    lighting: LightingFeatures,
}

impl DeferredLighting {
    /// Compiles the pipeline of a frame for a target, if it is missing.
    pub(crate) fn prepare(
        &mut self,
        gpu: &GpuDevice,
        (lighting, dfg_lut): (LightingFeatures, bool),
        target: &PipelineTarget,
    ) -> Result<(), ShaderError> {
        self.lighting = lighting;
        let maps_tones = target.maps_tones;
        if self.compiled.contains_key(&(lighting, maps_tones)) {
            return Ok(());
        }
        let shader = if let Some(shader) = &self.shader {
            shader.clone()
        } else {
            let source = include_str!("../../shaders/deferred_lighting.wgsl");
            let shader = GpuShader::wgsl("quadrille_3d/deferred_lighting.wgsl", source)?;
            self.shader.insert(shader).clone()
        };
        let mut constants = lighting_constants(lighting);
        constants.extend(
            [
                ("DFG_LUT", dfg_lut),
                ("MAPS_TONES", maps_tones),
                ("HAS_AMBIENT_OCCLUSION", lighting.ambient_occlusion),
                ("HAS_EXTENDED_FEATURES", false),
                ("HAS_SPECULAR_TRANSMISSION", false),
            ]
            .map(|(name, value)| (name.to_owned(), value.into())),
        );
        constants.retain(|(name, _)| shader.has_constant(name));
        let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc {
            depth: Some(DepthState {
                compare: vk::CompareOp::ALWAYS,
                write: false,
            }),
            constants,
            ..GraphicsPipelineDesc::of("3d deferred lighting", &shader)
        })?;
        pipeline.prepare(&target.formats);
        self.compiled.insert((lighting, maps_tones), pipeline);
        Ok(())
    }

    /// Features of the frame's lighting.
    pub(crate) fn lighting(&self) -> LightingFeatures {
        self.lighting
    }

    /// Returns the pipeline of the frame for a target.
    pub(crate) fn get(&self, target: &PipelineTarget) -> Option<&GraphicsPipeline> {
        self.compiled.get(&(self.lighting, target.maps_tones))
    }
}
