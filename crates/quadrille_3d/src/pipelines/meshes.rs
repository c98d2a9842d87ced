//! The pipelines that meshes are drawn with.
//!
//! Where frames do not wait for them, those of the first frame are made before it, and others in the
//! background: until one is ready, another draws its meshes with more or less detail, or they appear later.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use bevy_platform::collections::HashMap;
use quadrille::prelude::{
    Blend, DepthState, GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, PipelineState,
    PrimitiveTopology,
};
use quadrille::vulkan::{BlendEquation, Formats, ShaderError, vk};
use quadrille_content::PrimitiveKind;

use super::to_cull;
use crate::scene::keys::{BlendMode, MaterialFeatures, PipelineKey};
use crate::tables::mesh_vertex::Vertex;

/// Pipelines that meshes are drawn with.
pub(crate) struct MeshPipelines {
    shader: GpuShader,
    compiled: HashMap<PipelineVariant, GraphicsPipeline>,
    /// Pipelines in compilation, each on a thread of its own: they are ready in a few milliseconds, whatever the app's
    /// tasks do.
    compiling: HashMap<PipelineVariant, JoinHandle<CompileResult>>,
    /// There are lights that are rectangles.
    has_rect_lights: bool,
    waits: bool,
    /// [`crate::Quadrille3dPlugin::dfg_lut`].
    dfg_lut: bool,
    /// The formats of images that they are compiled for.
    formats: Vec<Formats>,
    /// Further formats that a frame has drawn to.
    pending_formats: Mutex<Vec<Formats>>,
}

type CompileResult = Result<GraphicsPipeline, ShaderError>;

/// Key of a pipeline. Light of rectangles costs all scenes, and code for it lets a compiler round other light
/// otherwise, so that only frames with such lights are drawn with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PipelineVariant {
    key: PipelineKey,
    has_rect_lights: bool,
}

/// In the order in which they stand in for others: what shows more first.
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
            formats: Vec::new(),
            pending_formats: Mutex::default(),
        }
    }

    /// Makes those with these keys, as far as they are not there: others while there are lights that are
    /// rectangles.
    pub(crate) fn prepare(
        &mut self,
        gpu: &GpuDevice,
        keys: impl Iterator<Item = PipelineKey>,
        has_rect_lights: bool,
    ) -> Result<(), ShaderError> {
        self.has_rect_lights = has_rect_lights;
        self.compile_new_formats();
        self.collect_compiled()?;
        let has_none = self.compiled.is_empty();
        for key in keys {
            let has_rect_lights = self.has_rect_lights;
            let variant = PipelineVariant {
                key,
                has_rect_lights,
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

    /// Begins to make one in the background; false if there is no thread for it.
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

    /// The one that draws meshes with a key to images of these formats; none while there is none.
    pub(crate) fn get(&self, key: PipelineKey, formats: &Formats) -> Option<&GraphicsPipeline> {
        let with = |has_rect_lights, key| {
            self.compiled.get(&PipelineVariant {
                key,
                has_rect_lights,
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
        if self.formats.contains(formats) {
            return all.find(|it| it.is_ready(formats));
        }
        // The first frame of a camera waits.
        let mut new = self
            .pending_formats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !new.contains(formats) {
            new.push(*formats);
        }
        all.next()
    }

    /// Compiles all for the formats of images that frames have begun to draw to.
    fn compile_new_formats(&mut self) {
        let new = self
            .pending_formats
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for formats in new.drain(..) {
            for pipeline in self.compiled.values() {
                pipeline.prepare(&formats);
            }
            self.formats.push(formats);
        }
    }

    /// Takes those that were made in the background. The driver compiles them from now on.
    fn collect_compiled(&mut self) -> Result<(), ShaderError> {
        let finished = self.compiling.extract_if(|_, thread| thread.is_finished());
        for (variant, thread) in finished {
            // A thread that panicked has said so; its pipeline is made again.
            let Ok(compiled) = thread.join() else {
                continue;
            };
            let compiled = compiled?;
            for formats in &self.formats {
                compiled.prepare(formats);
            }
            self.compiled.insert(variant, compiled);
        }
        Ok(())
    }
}

impl Drop for MeshPipelines {
    /// No thread keeps the device any longer than they are there.
    fn drop(&mut self) {
        for (_, thread) in self.compiling.drain() {
            // The result, a pipeline or an error, is of no use any more.
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

/// Colours of samples that are covered. Their alpha said which those are; what was opaque stays so.
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

/// Colours times those that are there. Alpha covers more of what comes behind later.
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
