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
use quadrille_content::Shape;

use super::to_cull;
use crate::material_row::{Detail, Mix};
use crate::mesh_vertex::Vertex;
use crate::scene::PipelineKey;

/// Those that meshes are drawn with.
pub(crate) struct MeshPipelines {
    shader: GpuShader,
    made: HashMap<Variant, GraphicsPipeline>,
    /// Those that are being made, each on a thread of its own: they come in a few milliseconds, whatever the app's
    /// tasks do.
    coming: HashMap<Variant, JoinHandle<Made>>,
    /// There are lights that are rectangles.
    has_rects: bool,
    waits: bool,
    /// [`crate::Quadrille3dPlugin::dfg_lut`].
    dfg_lut: bool,
    /// The formats of images that they are compiled for.
    formats: Vec<Formats>,
    /// Further formats that a frame has drawn to.
    new_formats: Mutex<Vec<Formats>>,
}

type Made = Result<GraphicsPipeline, ShaderError>;

/// Key of a pipeline. Light of rectangles costs all scenes, and code for it lets a compiler round other light
/// otherwise, so that only frames with such lights are drawn with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Variant {
    key: PipelineKey,
    has_rects: bool,
}

/// In the order in which they stand in for others: what shows more first.
const DETAILS: [Detail; 3] = [Detail::Rich, Detail::Images, Detail::Plain];

impl MeshPipelines {
    pub(super) fn new(shader: GpuShader, waits: bool, dfg_lut: bool) -> Self {
        Self {
            shader,
            made: HashMap::default(),
            coming: HashMap::default(),
            has_rects: false,
            waits,
            dfg_lut,
            formats: Vec::new(),
            new_formats: Mutex::default(),
        }
    }

    /// Makes those with these keys, as far as they are not there: others while there are lights that are
    /// rectangles.
    pub(crate) fn prepare(
        &mut self,
        gpu: &GpuDevice,
        keys: impl Iterator<Item = PipelineKey>,
        has_rects: bool,
    ) -> Result<(), ShaderError> {
        self.has_rects = has_rects;
        self.take_formats();
        self.take_finished()?;
        let has_none = self.made.is_empty();
        for key in keys {
            let has_rects = self.has_rects;
            let variant = Variant { key, has_rects };
            if self.made.contains_key(&variant) || self.coming.contains_key(&variant) {
                continue;
            }
            if !self.waits && !has_none && self.begin(gpu, variant) {
                continue;
            }
            let made = make(gpu, &self.shader, variant, self.dfg_lut)?;
            self.made.insert(variant, made);
        }
        Ok(())
    }

    /// Begins to make one in the background; false if there is no thread for it.
    fn begin(&mut self, gpu: &GpuDevice, variant: Variant) -> bool {
        let (gpu, shader, dfg_lut) = (gpu.clone(), self.shader.clone(), self.dfg_lut);
        let thread = Builder::new().name("quadrille 3d pipeline".to_owned());
        let thread = thread.spawn(move || make(&gpu, &shader, variant, dfg_lut));
        let Ok(thread) = thread else {
            return false;
        };
        self.coming.insert(variant, thread);
        true
    }

    /// The one that draws meshes with a key to images of these formats; none while there is none.
    pub(crate) fn get(&self, key: PipelineKey, formats: &Formats) -> Option<&GraphicsPipeline> {
        let with = |has_rects, key| self.made.get(&Variant { key, has_rects });
        let own = with(self.has_rects, key);
        if self.waits {
            return own;
        }
        let others = DETAILS.map(|detail| PipelineKey { detail, ..key });
        let stand_ins = others.iter().copied();
        let mut all = (own.into_iter())
            .chain(with(!self.has_rects, key))
            .chain(
                stand_ins
                    .clone()
                    .filter_map(|key| with(self.has_rects, key)),
            )
            .chain(stand_ins.filter_map(|key| with(!self.has_rects, key)));
        if self.formats.contains(formats) {
            return all.find(|it| it.is_ready(formats));
        }
        // The first frame of a camera waits.
        let mut new = self
            .new_formats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !new.contains(formats) {
            new.push(*formats);
        }
        all.next()
    }

    /// Compiles all for the formats of images that frames have begun to draw to.
    fn take_formats(&mut self) {
        let new = self
            .new_formats
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for formats in new.drain(..) {
            for pipeline in self.made.values() {
                pipeline.prepare(&formats);
            }
            self.formats.push(formats);
        }
    }

    /// Takes those that were made in the background. The driver compiles them from now on.
    fn take_finished(&mut self) -> Result<(), ShaderError> {
        let finished = self.coming.extract_if(|_, thread| thread.is_finished());
        for (variant, thread) in finished {
            // A thread that panicked has said so; its pipeline is made again.
            let Ok(made) = thread.join() else {
                continue;
            };
            let made = made?;
            for formats in &self.formats {
                made.prepare(formats);
            }
            self.made.insert(variant, made);
        }
        Ok(())
    }
}

impl Drop for MeshPipelines {
    /// No thread keeps the device any longer than they are there.
    fn drop(&mut self) {
        for (_, thread) in self.coming.drain() {
            // What it made, or why it could not, is of no use any more.
            let _ = thread.join();
        }
    }
}

fn make(
    gpu: &GpuDevice,
    shader: &GpuShader,
    Variant { key, has_rects }: Variant,
    dfg_lut: bool,
) -> Made {
    let (name, blend) = match key.mix {
        Mix::Hide => ("3d opaque", Blend::Opaque),
        Mix::Mask => ("3d mask", Blend::Opaque),
        Mix::Samples => ("3d samples", COVERED),
        Mix::Cover => ("3d transparent", Blend::Premultiplied),
        Mix::Multiply => ("3d multiply", MULTIPLIED),
    };
    gpu.graphics_pipeline(&GraphicsPipelineDesc {
        vertex_buffers: vec![Vertex::layout()],
        topology: match key.shape {
            Shape::Points => PrimitiveTopology::Points,
            Shape::Lines => PrimitiveTopology::Lines,
            Shape::Triangles => PrimitiveTopology::Triangles,
        },
        cull: to_cull(key.cull),
        blend,
        depth: Some(DepthState {
            compare: vk::CompareOp::GREATER_OR_EQUAL,
            write: !key.mix.is_transparent(),
        }),
        constants: vec![
            ("HAS_HOLES".to_owned(), (key.mix != Mix::Hide).into()),
            (
                "HAS_IMAGES".to_owned(),
                (key.detail != Detail::Plain).into(),
            ),
            ("HAS_RECTS".to_owned(), has_rects.into()),
            ("DFG_LUT".to_owned(), dfg_lut.into()),
            ("IS_RICH".to_owned(), (key.detail == Detail::Rich).into()),
            (
                "COVERS_SAMPLES".to_owned(),
                (key.mix == Mix::Samples).into(),
            ),
        ],
        state: PipelineState {
            alpha_to_coverage: key.mix == Mix::Samples,
            ..PipelineState::default()
        },
        ..GraphicsPipelineDesc::of(name, shader)
    })
}

/// Colours of samples that are covered. Their alpha said which those are; what was opaque stays so.
const COVERED: Blend = Blend::Custom {
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
const MULTIPLIED: Blend = Blend::Custom {
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
