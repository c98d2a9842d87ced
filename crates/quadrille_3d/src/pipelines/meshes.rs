//! Pipelines of meshes.
//!
//! Without [`PipelineWait::EachFrame`](crate::PipelineWait), only pipelines of a camera's first frame are compiled synchronously, others in the
//! background. Until one is ready, its meshes are drawn by a fallback pipeline with more or fewer material features, or
//! not at all.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::pipeline::{
    Blend, BlendEquation, DepthState, PipelineState, PrimitiveTopology,
};
use quadrille::vulkan::{ShaderError, vk};
use quadrille_content::meshes::PrimitiveKind;

use super::constants::pbr_constants;
use super::custom::{CustomPipelines, MaterialShaders};
use super::prepass::PrepassPipelines;
use super::to_cull;
use crate::scene::formats::PipelineTarget;
use crate::scene::keys::{
    BlendMode, LightingFeatures, MaterialFeatures, MaterialShader, PipelineKey, RendererMethod,
};
use crate::tables::mesh_vertex::Vertex;

/// Pipelines of meshes by key.
pub(crate) struct MeshPipelines {
    pub(super) shader: GpuShader,
    /// Fragment shader of order-independent transparency.
    fragment_lists: GpuShader,
    /// Shaders of materials with shaders of their own.
    pub(super) custom: CustomPipelines,
    /// Pipelines of prepasses.
    pub(super) prepass: PrepassPipelines,
    compiled: HashMap<PipelineVariant, GraphicsPipeline>,
    /// Background compilations, each on its own thread, so that tasks of the app cannot delay them.
    compiling: HashMap<PipelineVariant, JoinHandle<CompileResult>>,
    /// Features of the frame's lighting.
    lighting: LightingFeatures,
    /// All features that frames had so far, for fallbacks.
    known_lighting: Vec<LightingFeatures>,
    pub(super) waits: bool,
    /// [`crate::Quadrille3dPlugin::dfg_lut`].
    pub(crate) dfg_lut: bool,
    /// Targets that pipelines are compiled for.
    targets: Vec<PipelineTarget>,
    /// Targets that frames have drawn to, not yet compiled for.
    pending_targets: Mutex<Vec<PipelineTarget>>,
}

pub(super) type CompileResult = Result<GraphicsPipeline, ShaderError>;

/// Pipeline key with the state of the frame that affects the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PipelineVariant {
    pub(super) key: PipelineKey,
    /// Empty for shaders that do not import the lighting.
    pub(super) lighting: LightingFeatures,
    /// Output is display-referred. The tone mapping method is not part of the key, so a camera can change it without
    /// new pipelines.
    pub(super) maps_tones: bool,
}

impl PipelineVariant {
    pub(super) fn new(key: PipelineKey, lighting: LightingFeatures, maps_tones: bool) -> Self {
        let key = PipelineKey {
            shader: key.shader.shared(),
            renderer: RendererMethod::Auto,
            ..key
        };
        Self {
            key,
            lighting,
            maps_tones,
        }
    }
}

/// Order of fallbacks, most features first.
const FALLBACK_ORDER: [MaterialFeatures; 4] = [
    MaterialFeatures::Extended,
    MaterialFeatures::Textured,
    MaterialFeatures::BaseColorTexture,
    MaterialFeatures::Base,
];

impl MeshPipelines {
    pub(super) fn new(
        [shader, fragment_lists]: [GpuShader; 2],
        custom: CustomPipelines,
        waits: bool,
        dfg_lut: bool,
    ) -> Self {
        Self {
            shader,
            fragment_lists,
            custom,
            prepass: PrepassPipelines::default(),
            compiled: HashMap::default(),
            compiling: HashMap::default(),
            lighting: LightingFeatures::default(),
            known_lighting: Vec::new(),
            waits,
            dfg_lut,
            targets: Vec::new(),
            pending_targets: Mutex::default(),
        }
    }

    /// Adds the shaders of a material type.
    ///
    /// # Errors
    /// The message for the user if the shaders cannot be used in a pipeline, for instance because one reads an input that
    /// the stage before does not write, or a resource that is not bound when meshes are drawn.
    pub(crate) fn add_material_shader(
        &mut self,
        gpu: &GpuDevice,
        number: u32,
        shaders: MaterialShaders,
    ) -> Result<(), String> {
        self.custom
            .add(gpu, number, shaders, (&self.shader, self.dfg_lut))
    }

    /// Removes the shaders of a material type, and all pipelines with them.
    pub(crate) fn remove_material_shader(&mut self, number: u32) {
        let shader = MaterialShader::Custom {
            number,
            material: None,
        };
        self.custom.remove(number);
        self.prepass.remove(number);
        self.compiled.retain(|it, _| it.key.shader != shader);
        for (_, thread) in self.compiling.extract_if(|it, _| it.key.shader == shader) {
            // The result is no longer needed.
            let _ = thread.join();
        }
    }

    /// Returns the pipeline of a material's shadow casters; `None` for those that standard ones draw.
    pub(crate) fn custom_shadow(&self, shader: MaterialShader) -> Option<&GraphicsPipeline> {
        self.custom.shadow(shader)
    }

    /// The vertex shader of shadow casters that have a fragment shader alone.
    pub(crate) fn prepass_vertex(&self) -> &GpuShader {
        self.custom.prepass_vertex()
    }

    /// Whether fragments replace the color of the samples that they cover. Others need defined contents there.
    pub(crate) fn replaces_color(&self, gpu: &GpuDevice, key: PipelineKey) -> bool {
        let replaces = match key.blend_mode {
            BlendMode::Opaque | BlendMode::Mask => true,
            BlendMode::AlphaToCoverage => !leaves_translucent(gpu, key),
            _ => false,
        };
        replaces
            && match key.shader {
                MaterialShader::Standard => true,
                MaterialShader::Custom { number, .. } => self.custom.replaces_color(number),
            }
    }

    /// Whether a shader of a material reads the view or the time by bevy's names.
    pub(crate) fn reads_views(&self) -> bool {
        self.custom.reads_views() || self.prepass.reads_views()
    }

    /// Whether a shader of a material reads images of prepasses.
    pub(crate) fn reads_prepass(&self) -> bool {
        self.custom.reads_prepass()
    }

    /// Compiles missing pipelines for keys, with features of lighting, and with tone mapping in the shader or without it.
    pub(crate) fn prepare(
        &mut self,
        gpu: &GpuDevice,
        keys: impl Iterator<Item = PipelineKey>,
        lighting: LightingFeatures,
        maps_tones: bool,
    ) -> Result<(), ShaderError> {
        self.lighting = lighting;
        if !self.known_lighting.contains(&lighting) {
            self.known_lighting.push(lighting);
        }
        self.compile_new_targets();
        self.collect_compiled()?;
        let has_none = !self.compiled.keys().any(|it| it.maps_tones == maps_tones);
        for key in keys {
            let variant = self.variant(key, lighting, maps_tones);
            if self.compiled.contains_key(&variant) || self.compiling.contains_key(&variant) {
                continue;
            }
            if !self.waits && !has_none && self.compile_in_background(gpu, variant) {
                continue;
            }
            if let Some(compile) = self.compilation(gpu, variant) {
                self.compiled.insert(variant, compile()?);
            }
        }
        Ok(())
    }

    /// Variant that draws a key in a frame's lighting, if its shader imports that.
    fn variant(
        &self,
        key: PipelineKey,
        lighting: LightingFeatures,
        maps_tones: bool,
    ) -> PipelineVariant {
        let lighting = match key.shader {
            MaterialShader::Custom { number, .. } if !self.custom.is_lit(number) => {
                LightingFeatures::default()
            }
            _ => lighting,
        };
        PipelineVariant::new(key, lighting, maps_tones)
    }

    /// Returns the compilation of a pipeline; `None` for a shader that was removed.
    fn compilation(
        &self,
        gpu: &GpuDevice,
        variant: PipelineVariant,
    ) -> Option<Box<dyn FnOnce() -> CompileResult + Send>> {
        let (gpu, dfg_lut) = (gpu.clone(), self.dfg_lut);
        let compile: Box<dyn FnOnce() -> CompileResult + Send> = match variant.key.shader {
            MaterialShader::Standard => {
                let shaders = [self.shader.clone(), self.fragment_lists.clone()];
                Box::new(move || create_pipeline(&gpu, &shaders, variant, dfg_lut))
            }
            MaterialShader::Custom { number, .. } => {
                let shaders = self.custom.get(number)?;
                Box::new(move || shaders.compile(&gpu, variant, dfg_lut))
            }
        };
        Some(compile)
    }

    /// Begins compilation in the background; false if no thread can be spawned.
    fn compile_in_background(&mut self, gpu: &GpuDevice, variant: PipelineVariant) -> bool {
        let Some(compile) = self.compilation(gpu, variant) else {
            return false;
        };
        let thread = Builder::new().name("quadrille 3d pipeline".to_owned());
        let thread = thread.spawn(compile);
        let Ok(thread) = thread else {
            return false;
        };
        self.compiling.insert(variant, thread);
        true
    }

    /// Returns the pipeline of a key for a target, or a fallback; `None` while neither is compiled.
    pub(crate) fn get(
        &self,
        key: PipelineKey,
        target: &PipelineTarget,
    ) -> Option<&GraphicsPipeline> {
        let with = |lighting, key| {
            let variant = self.variant(key, lighting, target.maps_tones);
            self.compiled.get(&variant)
        };
        let own = with(self.lighting, key);
        if self.waits {
            return own;
        }
        // Fallbacks with all needed lighting first; among equals, the latest first.
        let known = || self.known_lighting.iter().rev().copied();
        let lightings = (known().filter(|it| it.covers(self.lighting)))
            .chain(known().filter(|it| !it.covers(self.lighting)));
        // The last ones are without refraction.
        let keys: [_; 2 * FALLBACK_ORDER.len()] = std::array::from_fn(|at| PipelineKey {
            features: FALLBACK_ORDER[at % FALLBACK_ORDER.len()],
            is_transmissive: key.is_transmissive && at < FALLBACK_ORDER.len(),
            ..key
        });
        let stand_ins = lightings.flat_map(|lighting| {
            let keys = [key].into_iter().chain(keys);
            keys.filter_map(move |key| with(lighting, key))
        });
        let mut all = own.into_iter().chain(stand_ins);
        if self.targets.contains(target) {
            return all.find(|it| it.is_ready(&target.formats));
        }
        // The first frame of a camera compiles synchronously.
        let mut new = self
            .pending_targets
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !new.contains(target) {
            new.push(*target);
        }
        all.next()
    }

    /// Compiles all pipelines for new targets.
    fn compile_new_targets(&mut self) {
        let new = self
            .pending_targets
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for target in new.drain(..) {
            for (variant, pipeline) in &self.compiled {
                if target.takes(variant.key.blend_mode, variant.maps_tones) {
                    pipeline.prepare(&target.formats);
                }
            }
            self.targets.push(target);
        }
    }

    /// Collects the results of finished threads, and prepares them for all attachment formats.
    fn collect_compiled(&mut self) -> Result<(), ShaderError> {
        let finished = self.compiling.extract_if(|_, thread| thread.is_finished());
        for (variant, thread) in finished {
            // The panic of a thread is already logged; its pipeline is compiled again.
            let Ok(compiled) = thread.join() else {
                continue;
            };
            let compiled = compiled?;
            let (blend_mode, maps_tones) = (variant.key.blend_mode, variant.maps_tones);
            let targets = self.targets.iter();
            for target in targets.filter(|it| it.takes(blend_mode, maps_tones)) {
                compiled.prepare(&target.formats);
            }
            self.compiled.insert(variant, compiled);
        }
        Ok(())
    }
}

impl Drop for MeshPipelines {
    /// Joins all threads, which keep the device alive.
    fn drop(&mut self) {
        for (_, thread) in self.compiling.drain() {
            // The result is no longer needed.
            let _ = thread.join();
        }
    }
}

fn create_pipeline(
    gpu: &GpuDevice,
    [shader, fragment_lists]: &[GpuShader; 2],
    PipelineVariant {
        key,
        lighting,
        maps_tones,
    }: PipelineVariant,
    dfg_lut: bool,
) -> CompileResult {
    let name = match key.blend_mode {
        BlendMode::Opaque => "3d opaque",
        BlendMode::Mask => "3d mask",
        BlendMode::AlphaToCoverage => "3d samples",
        BlendMode::Blend | BlendMode::StraightAlpha => "3d transparent",
        BlendMode::OrderIndependent => "3d order-independent",
        BlendMode::Multiply | BlendMode::PremultipliedMultiply => "3d multiply",
    };
    let fragment = match key.blend_mode {
        BlendMode::OrderIndependent => fragment_lists,
        _ => shader,
    };
    let shaders = ((shader, "vertex_main"), (fragment, "fragment_main"));
    let mut desc = GraphicsPipelineDesc {
        constants: pbr_constants((key, lighting), dfg_lut, maps_tones),
        ..mesh_pipeline_desc(key, GraphicsPipelineDesc::new(name, shaders.0, shaders.1))
    };
    replace_covered_samples(gpu, key, &mut desc);
    gpu.graphics_pipeline(&desc)
}

/// Makes covered samples opaque where the device can, without blending.
pub(super) fn replace_covered_samples(
    gpu: &GpuDevice,
    key: PipelineKey,
    desc: &mut GraphicsPipelineDesc<'_>,
) {
    if key.blend_mode == BlendMode::AlphaToCoverage && has_alpha_to_one(gpu) {
        desc.blend = Blend::Opaque;
        desc.state.alpha_to_one = true;
    }
}

/// Whether covered samples keep the alpha of the fragment.
pub(crate) fn leaves_translucent(gpu: &GpuDevice, key: PipelineKey) -> bool {
    key.blend_mode == BlendMode::AlphaToCoverage && !has_alpha_to_one(gpu)
}

fn has_alpha_to_one(gpu: &GpuDevice) -> bool {
    gpu.features().alpha_to_one == vk::TRUE
}

/// Sets the fixed state of a key.
pub(super) fn mesh_pipeline_desc<'a>(
    key: PipelineKey,
    desc: GraphicsPipelineDesc<'a>,
) -> GraphicsPipelineDesc<'a> {
    GraphicsPipelineDesc {
        vertex_buffers: vec![Vertex::layout()],
        topology: match key.primitive {
            PrimitiveKind::Points => PrimitiveTopology::Points,
            PrimitiveKind::Lines => PrimitiveTopology::Lines,
            PrimitiveKind::Triangles => PrimitiveTopology::Triangles,
        },
        cull: to_cull(key.cull),
        blend: match key.blend_mode {
            BlendMode::Opaque | BlendMode::Mask | BlendMode::OrderIndependent => Blend::Opaque,
            BlendMode::AlphaToCoverage => ALPHA_TO_COVERAGE_BLEND,
            BlendMode::Blend => Blend::Premultiplied,
            BlendMode::StraightAlpha => Blend::Alpha,
            BlendMode::Multiply => MULTIPLY_BLEND,
            BlendMode::PremultipliedMultiply => PREMULTIPLIED_MULTIPLY_BLEND,
        },
        depth: Some(DepthState {
            compare: vk::CompareOp::GREATER_OR_EQUAL,
            write: !key.blend_mode.is_transparent(),
        }),
        state: PipelineState {
            alpha_to_coverage: key.blend_mode == BlendMode::AlphaToCoverage,
            ..PipelineState::default()
        },
        ..desc
    }
}

/// Without the feature `alphaToOne`: replaces the color of covered samples, and composites alpha "over", so that an opaque
/// target stays opaque. Scene-referred colors begin with the background for that (`View3d::has_background`).
const ALPHA_TO_COVERAGE_BLEND: Blend = Blend::Custom {
    color: BlendEquation {
        src: vk::BlendFactor::ONE,
        dst: vk::BlendFactor::ZERO,
        op: vk::BlendOp::ADD,
    },
    alpha: BlendEquation {
        src: vk::BlendFactor::ONE,
        dst: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        op: vk::BlendOp::ADD,
    },
};

/// Multiplies color by the target's, and composites alpha "over".
const MULTIPLY_BLEND: Blend = Blend::Custom {
    color: BlendEquation {
        src: vk::BlendFactor::DST_COLOR,
        dst: vk::BlendFactor::ZERO,
        op: vk::BlendOp::ADD,
    },
    alpha: BlendEquation {
        src: vk::BlendFactor::ONE_MINUS_DST_ALPHA,
        dst: vk::BlendFactor::ONE,
        op: vk::BlendOp::ADD,
    },
};

/// As bevy's, for shaders that return color times alpha: where alpha is 0, nothing changes.
const PREMULTIPLIED_MULTIPLY_BLEND: Blend = Blend::Custom {
    color: BlendEquation {
        src: vk::BlendFactor::DST_COLOR,
        dst: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        op: vk::BlendOp::ADD,
    },
    alpha: BlendEquation {
        src: vk::BlendFactor::ONE_MINUS_DST_ALPHA,
        dst: vk::BlendFactor::ONE,
        op: vk::BlendOp::ADD,
    },
};
