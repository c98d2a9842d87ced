//! Pipelines of prepasses, created when a camera first has one.

use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::ShaderError;
use quadrille::vulkan::pipeline::{Blend, ColorState, Formats, PipelineState, VertexLayout};
use quadrille::vulkan::shader::ShaderStage;
use quadrille::vulkan::vk;
use quadrille_content::materials::{MATERIAL_VERTEX, material_entry_point};

use super::constants::material_constants;
use super::custom::{MODULES, MaterialShaders, PrepassSupport, entry, reads_any};
use super::material_inputs::{Inputs, PREPASS_RESOURCES};
use super::meshes::{CompileResult, MeshPipelines, mesh_pipeline_desc};
use crate::scene::formats::prepass_formats;
use crate::scene::keys::{
    BlendMode, MaterialFeatures, MaterialShader, PipelineKey, RendererMethod,
};
use crate::scene::prepass::PrepassOutputs;

/// Images that a prepass draws to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrepassTarget {
    pub(crate) outputs: PrepassOutputs,
    pub(crate) samples: u32,
}

impl PrepassTarget {
    fn formats(self) -> Formats {
        prepass_formats(self.outputs, self.samples)
    }
}

/// Shaders of a material for prepasses with some outputs.
#[derive(Clone)]
pub(crate) struct PrepassShaders {
    pub(crate) vertex: GpuShader,
    /// `None`: depth of the whole surface.
    pub(crate) fragment: Option<GpuShader>,
    /// Attributes in the vertex buffer.
    pub(crate) vertex_layout: VertexLayout,
}

/// Key of a pipeline, without what prepasses do not depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PrepassVariant {
    key: PipelineKey,
    outputs: PrepassOutputs,
}

struct Compiled {
    pipeline: GraphicsPipeline,
    /// Formats that it is compiled for.
    formats: Vec<Formats>,
}

/// Pipelines of prepasses.
#[derive(Default)]
pub(crate) struct PrepassPipelines {
    /// Shaders of standard materials.
    standard: Option<GpuShader>,
    /// Shaders of materials by number; `None` for unusable ones.
    shaders: HashMap<(u32, PrepassOutputs), Option<PrepassShaders>>,
    compiled: HashMap<PrepassVariant, Compiled>,
}

impl PrepassPipelines {
    /// Removes shaders and pipelines of a material type.
    pub(super) fn remove(&mut self, number: u32) {
        let removed = MaterialShader::Custom {
            number,
            material: None,
        };
        self.shaders.retain(|(it, _), _| *it != number);
        self.compiled.retain(|it, _| it.key.shader != removed);
    }

    pub(super) fn reads_views(&self) -> bool {
        let shaders = self.shaders.values().flatten();
        let all = shaders.flat_map(|it| [Some(&it.vertex), it.fragment.as_ref()]);
        reads_any(all.flatten(), &["view", "globals"])
    }

    /// Shaders of standard materials.
    fn standard(&mut self) -> Result<GpuShader, ShaderError> {
        if let Some(shader) = &self.standard {
            return Ok(shader.clone());
        }
        let source = include_str!("../../shaders/prepass.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/prepass.wgsl", source)?;
        Ok(self.standard.insert(shader).clone())
    }
}

impl MeshPipelines {
    /// Whether the shaders of a material were translated for prepasses with these outputs.
    pub(crate) fn has_prepass_shaders(&self, number: u32, outputs: PrepassOutputs) -> bool {
        self.prepass.shaders.contains_key(&(number, outputs))
    }

    /// Adds the shaders of a material for prepasses with these outputs. The material is not in these prepasses if the
    /// shaders cannot be used.
    ///
    /// # Errors
    /// The message for the user if the shaders cannot be used.
    pub(crate) fn add_prepass_shaders(
        &mut self,
        gpu: &GpuDevice,
        (number, outputs): (u32, PrepassOutputs),
        shaders: Result<PrepassShaders, String>,
    ) -> Result<(), String> {
        let usable = shaders.and_then(|shaders| {
            let Some(material) = self.custom.find(number) else {
                return Ok(shaders);
            };
            let inputs = Inputs {
                standard: None,
                known: &PREPASS_RESOURCES,
                bound: &material.bound,
            };
            inputs.check_resources(entry(&shaders.vertex, ShaderStage::Vertex))?;
            if let Some(fragment) = &shaders.fragment {
                inputs.check_resources(entry(fragment, ShaderStage::Fragment))?;
            }
            let key = PipelineKey {
                primitive: quadrille_content::meshes::PrimitiveKind::Triangles,
                cull: crate::scene::keys::CullMode::Back,
                blend_mode: BlendMode::Opaque,
                features: MaterialFeatures::Base,
                is_transmissive: false,
                shader: MaterialShader::Standard,
                renderer: RendererMethod::Auto,
            };
            let compiled = shaders.compile(gpu, material, key, outputs);
            compiled.map_err(|error| error.to_string())?;
            Ok(shaders)
        });
        let (usable, result) = match usable {
            Ok(shaders) => (Some(shaders), Ok(())),
            Err(why) => (None, Err(why)),
        };
        self.prepass.shaders.insert((number, outputs), usable);
        result
    }

    /// Compiles missing pipelines for keys and a target.
    pub(crate) fn prepare_prepass(
        &mut self,
        gpu: &GpuDevice,
        keys: impl Iterator<Item = PipelineKey>,
        target: PrepassTarget,
    ) -> Result<(), ShaderError> {
        let formats = target.formats();
        for key in keys {
            let Some(variant) = self.prepass_variant(key, target.outputs) else {
                continue;
            };
            if !self.prepass.compiled.contains_key(&variant) {
                let Some(pipeline) = self.compile_prepass(gpu, variant)? else {
                    continue;
                };
                let compiled = Compiled {
                    pipeline,
                    formats: Vec::new(),
                };
                self.prepass.compiled.insert(variant, compiled);
            }
            if let Some(compiled) = self.prepass.compiled.get_mut(&variant)
                && !compiled.formats.contains(&formats)
            {
                compiled.pipeline.prepare(&formats);
                compiled.formats.push(formats);
            }
        }
        Ok(())
    }

    /// Returns the pipeline of a key for a target; `None` if it is not in prepasses, or while it is compiled.
    pub(crate) fn prepass(
        &self,
        key: PipelineKey,
        target: PrepassTarget,
    ) -> Option<&GraphicsPipeline> {
        let variant = self.prepass_variant(key, target.outputs)?;
        let pipeline = &self.prepass.compiled.get(&variant)?.pipeline;
        (self.waits || pipeline.is_ready(&target.formats())).then_some(pipeline)
    }

    /// Returns the variant that draws a key; `None` if the key is not in prepasses.
    fn prepass_variant(&self, key: PipelineKey, outputs: PrepassOutputs) -> Option<PrepassVariant> {
        let is_opaque = key.blend_mode == BlendMode::Opaque;
        let is_deferred = outputs.deferred && key.renderer == RendererMethod::Deferred;
        let mut features = match key.shader {
            MaterialShader::Standard => key.features,
            MaterialShader::Custom { .. } => MaterialFeatures::Base,
        };
        if let MaterialShader::Custom { number, .. } = key.shader
            && !is_deferred
        {
            let can_discard = match self.custom.find(number)?.prepass {
                PrepassSupport::Absent => return None,
                PrepassSupport::Standard { has_base } => {
                    if has_base {
                        features = key.features;
                    }
                    has_base
                }
                PrepassSupport::Own { has_fragment } => has_fragment,
            };
            // The main pass discards fragments, but not by a rule that is known here.
            if !(is_opaque || can_discard) {
                return None;
            }
        }
        if is_opaque && !outputs.normal && !is_deferred {
            features = MaterialFeatures::Base;
        }
        let variant = PrepassVariant {
            key: PipelineKey {
                features,
                is_transmissive: false,
                shader: key.shader.shared(),
                renderer: match is_deferred {
                    true => RendererMethod::Deferred,
                    false => RendererMethod::Auto,
                },
                ..key
            },
            outputs,
        };
        (!key.blend_mode.is_transparent()).then_some(variant)
    }

    /// Creates a pipeline; `None` for shaders that are not translated, or not usable.
    fn compile_prepass(
        &mut self,
        gpu: &GpuDevice,
        PrepassVariant { key, outputs }: PrepassVariant,
    ) -> Result<Option<GraphicsPipeline>, ShaderError> {
        let material = match key.shader {
            MaterialShader::Standard => None,
            MaterialShader::Custom { number, .. } => match self.custom.find(number) {
                Some(material) => Some((number, material)),
                None => return Ok(None),
            },
        };
        let is_deferred = key.renderer == RendererMethod::Deferred;
        if let Some((number, material)) = material
            && (is_deferred || matches!(material.prepass, PrepassSupport::Own { .. }))
        {
            let written = match is_deferred {
                true => outputs,
                false => outputs.without_gbuffer(),
            };
            let shaders = self.prepass.shaders.get(&(number, written));
            let Some(Some(shaders)) = shaders else {
                return Ok(None);
            };
            return shaders.compile(gpu, material, key, outputs).map(Some);
        }
        let standard = self.prepass.standard()?;
        let entry = match (outputs.normal, outputs.motion, key.blend_mode) {
            (true, true, _) if is_deferred => Some("normal_motion_deferred_main"),
            (true, false, _) if is_deferred => Some("normal_deferred_main"),
            (false, true, _) if is_deferred => Some("motion_deferred_main"),
            (false, false, _) if is_deferred => Some("deferred_main"),
            (true, true, _) => Some("normal_motion_main"),
            (true, false, _) => Some("normal_main"),
            (false, true, _) => Some("motion_main"),
            (false, false, BlendMode::Opaque) => None,
            (false, false, _) => Some("mask_main"),
        };
        let vertex = match outputs.motion {
            true => (&standard, "motion_vertex_main"),
            false => (&self.shader, "vertex_main"),
        };
        let desc = GraphicsPipelineDesc {
            fragment: entry.map(|entry| (&standard, entry)),
            constants: material_constants(key),
            ..GraphicsPipelineDesc::of("3d prepass", &self.shader)
        };
        let mut desc = GraphicsPipelineDesc {
            vertex,
            ..prepass_desc(key, desc)
        };
        if let Some((_, material)) = material {
            material.state.apply(&mut desc);
        }
        if outputs.deferred && !is_deferred {
            // Surfaces that are not in the G-buffer leave it as it is; they are drawn over what is lit from it.
            let written = outputs.without_gbuffer().count();
            desc.state.colors = (0..outputs.count())
                .map(|at| color_state(at < written))
                .collect();
        }
        gpu.graphics_pipeline(&desc).map(Some)
    }
}

/// State of an attachment that a shader writes, or leaves as it is.
fn color_state(is_written: bool) -> ColorState {
    match is_written {
        true => ColorState::new(Blend::Opaque),
        false => ColorState::new(Blend::Opaque).with_mask(vk::ColorComponentFlags::empty()),
    }
}

/// Sets the fixed state of a key: depth is tested and written as for opaque surfaces.
fn prepass_desc<'a>(key: PipelineKey, desc: GraphicsPipelineDesc<'a>) -> GraphicsPipelineDesc<'a> {
    let key = PipelineKey {
        blend_mode: BlendMode::Opaque,
        ..key
    };
    mesh_pipeline_desc(key, desc)
}

impl PrepassShaders {
    fn compile(
        &self,
        gpu: &GpuDevice,
        material: &MaterialShaders,
        key: PipelineKey,
        outputs: PrepassOutputs,
    ) -> CompileResult {
        let fragment = self.fragment.as_ref();
        let has = |name: &str| {
            let mut all = fragment.into_iter().chain([&self.vertex]);
            all.any(|shader| shader.has_constant(name))
        };
        let constants = material.constants.iter().filter(|(name, _)| has(name));
        // Fragments are discarded as in the main pass.
        let alpha_mask = fragment.and_then(|it| it.imported_constant(MODULES, "HAS_ALPHA_MASK"));
        let has_alpha_mask = key.blend_mode != BlendMode::Opaque;
        let alpha_mask = alpha_mask.map(|name| (name.to_owned(), has_alpha_mask.into()));
        let desc = GraphicsPipelineDesc {
            fragment: fragment.map(|shader| (shader, material_entry_point(shader))),
            constants: constants.cloned().chain(alpha_mask).collect(),
            ..GraphicsPipelineDesc::new(
                "3d material prepass",
                (&self.vertex, MATERIAL_VERTEX),
                (&self.vertex, ""),
            )
        };
        let mut desc = GraphicsPipelineDesc {
            vertex_buffers: vec![self.vertex_layout.clone()],
            ..prepass_desc(key, desc)
        };
        material.state.apply(&mut desc);
        let written = fragment.and_then(|shader| entry(shader, ShaderStage::Fragment));
        let is_written = |location: u32| {
            written.is_some_and(|entry| entry.outputs.iter().any(|it| it.location == location))
        };
        // Outputs that a shader does not write are undefined.
        let color = |location| color_state(is_written(location));
        let count = outputs.count();
        desc.state = PipelineState {
            colors: (0..count).map(color).collect(),
            ..desc.state
        };
        gpu.graphics_pipeline(&desc)
    }
}
