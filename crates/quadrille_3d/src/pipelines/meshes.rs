//! Pipelines of meshes.
//!
//! Without [`PipelineWait::EachFrame`](crate::PipelineWait), only pipelines of a camera's first frame are compiled synchronously, others in the
//! background. Until one is ready, its meshes are drawn by a fallback pipeline with more or fewer material features, or
//! not at all.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use bevy_platform::collections::HashMap;
use quadrille::prelude::{
    Blend, DepthState, GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, PipelineState,
    PrimitiveTopology,
};
use quadrille::vulkan::{BlendEquation, ShaderError, vk};
use quadrille_content::PrimitiveKind;

use super::to_cull;
use crate::scene::formats::PipelineTarget;
use crate::scene::keys::{BlendMode, MaterialFeatures, PipelineKey};
use crate::tables::mesh_vertex::Vertex;

/// Pipelines of meshes by key.
pub(crate) struct MeshPipelines {
    shader: GpuShader,
    compiled: HashMap<PipelineVariant, GraphicsPipeline>,
    /// Background compilations, each on its own thread, so that tasks of the app cannot delay them.
    compiling: HashMap<PipelineVariant, JoinHandle<CompileResult>>,
    /// Whether rectangular lights exist.
    has_rect_lights: bool,
    waits: bool,
    /// [`crate::Quadrille3dPlugin::dfg_lut`].
    dfg_lut: bool,
    /// Targets that pipelines are compiled for.
    targets: Vec<PipelineTarget>,
    /// Targets that frames have drawn to, not yet compiled for.
    pending_targets: Mutex<Vec<PipelineTarget>>,
}

type CompileResult = Result<GraphicsPipeline, ShaderError>;

/// Pipeline key with the rectangular-light variant. Code for rectangular lights costs occupancy and changes rounding of
/// other lights, so only frames with such lights use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PipelineVariant {
    key: PipelineKey,
    has_rect_lights: bool,
    /// Output is display-referred. The method is no part of the key, so that a camera changes it without new pipelines.
    maps_tones: bool,
}

/// Order of fallbacks, most features first.
const FALLBACK_ORDER: [MaterialFeatures; 3] = [
    MaterialFeatures::Extended,
    MaterialFeatures::Textured,
    MaterialFeatures::Base,
];

impl MeshPipelines {
    pub(super) fn new(shader: GpuShader, waits: bool, dfg_lut: bool) -> Self {
        Self {
            shader,
            compiled: HashMap::default(),
            compiling: HashMap::default(),
            has_rect_lights: false,
            waits,
            dfg_lut,
            targets: Vec::new(),
            pending_targets: Mutex::default(),
        }
    }

    /// Compiles missing pipelines for keys, in the rectangular-light variant if such lights exist, and with tone mapping
    /// in the shader or without it.
    pub(crate) fn prepare(
        &mut self,
        gpu: &GpuDevice,
        keys: impl Iterator<Item = PipelineKey>,
        has_rect_lights: bool,
        maps_tones: bool,
    ) -> Result<(), ShaderError> {
        self.has_rect_lights = has_rect_lights;
        self.compile_new_targets();
        self.collect_compiled()?;
        let has_none = !self.compiled.keys().any(|it| it.maps_tones == maps_tones);
        for key in keys {
            let variant = PipelineVariant {
                key,
                has_rect_lights,
                maps_tones,
            };
            if self.compiled.contains_key(&variant) || self.compiling.contains_key(&variant) {
                continue;
            }
            if !self.waits && !has_none && self.compile_in_background(gpu, variant) {
                continue;
            }
            let compiled = create_pipeline(gpu, &self.shader, variant, self.dfg_lut)?;
            self.compiled.insert(variant, compiled);
        }
        Ok(())
    }

    /// Begins compilation in the background; false if no thread can be spawned.
    fn compile_in_background(&mut self, gpu: &GpuDevice, variant: PipelineVariant) -> bool {
        let (gpu, shader, dfg_lut) = (gpu.clone(), self.shader.clone(), self.dfg_lut);
        let thread = Builder::new().name("quadrille 3d pipeline".to_owned());
        let thread = thread.spawn(move || create_pipeline(&gpu, &shader, variant, dfg_lut));
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
        let with = |has_rect_lights, key| {
            self.compiled.get(&PipelineVariant {
                key,
                has_rect_lights,
                maps_tones: target.maps_tones,
            })
        };
        let own = with(self.has_rect_lights, key);
        if self.waits {
            return own;
        }
        let others = FALLBACK_ORDER.map(|features| PipelineKey { features, ..key });
        let stand_ins = others.iter().copied();
        let mut all = (own.into_iter())
            .chain(with(!self.has_rect_lights, key))
            .chain(
                stand_ins
                    .clone()
                    .filter_map(|key| with(self.has_rect_lights, key)),
            )
            .chain(stand_ins.filter_map(|key| with(!self.has_rect_lights, key)));
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
                if variant.maps_tones == target.maps_tones {
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
            let targets = self.targets.iter();
            for target in targets.filter(|it| it.maps_tones == variant.maps_tones) {
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
    shader: &GpuShader,
    PipelineVariant {
        key,
        has_rect_lights,
        maps_tones,
    }: PipelineVariant,
    dfg_lut: bool,
) -> CompileResult {
    let (name, blend) = match key.blend_mode {
        BlendMode::Opaque => ("3d opaque", Blend::Opaque),
        BlendMode::Mask => ("3d mask", Blend::Opaque),
        BlendMode::AlphaToCoverage => ("3d samples", ALPHA_TO_COVERAGE_BLEND),
        BlendMode::Blend => ("3d transparent", Blend::Premultiplied),
        BlendMode::Multiply => ("3d multiply", MULTIPLY_BLEND),
    };
    gpu.graphics_pipeline(&GraphicsPipelineDesc {
        vertex_buffers: vec![Vertex::layout()],
        topology: match key.primitive {
            PrimitiveKind::Points => PrimitiveTopology::Points,
            PrimitiveKind::Lines => PrimitiveTopology::Lines,
            PrimitiveKind::Triangles => PrimitiveTopology::Triangles,
        },
        cull: to_cull(key.cull),
        blend,
        depth: Some(DepthState {
            compare: vk::CompareOp::GREATER_OR_EQUAL,
            write: !key.blend_mode.is_transparent(),
        }),
        constants: vec![
            (
                "HAS_ALPHA_MASK".to_owned(),
                (key.blend_mode != BlendMode::Opaque).into(),
            ),
            (
                "HAS_TEXTURES".to_owned(),
                (key.features != MaterialFeatures::Base).into(),
            ),
            ("HAS_RECT_LIGHTS".to_owned(), has_rect_lights.into()),
            ("DFG_LUT".to_owned(), dfg_lut.into()),
            ("MAPS_TONES".to_owned(), maps_tones.into()),
            (
                "HAS_EXTENDED_FEATURES".to_owned(),
                (key.features == MaterialFeatures::Extended).into(),
            ),
            (
                "HAS_ALPHA_TO_COVERAGE".to_owned(),
                (key.blend_mode == BlendMode::AlphaToCoverage).into(),
            ),
        ],
        state: PipelineState {
            alpha_to_coverage: key.blend_mode == BlendMode::AlphaToCoverage,
            ..PipelineState::default()
        },
        ..GraphicsPipelineDesc::of(name, shader)
    })
}

/// Replaces the color of covered samples, and composites alpha "over", so that an opaque target stays opaque.
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
