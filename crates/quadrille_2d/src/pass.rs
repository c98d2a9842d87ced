//! The pass: draws what was listed, for each camera.

use bevy_color::ColorToComponents as _;
use bevy_ecs::prelude::*;
use bevy_math::Mat4;
use quadrille::ecs::{AccessList, ColorAttachment as _, PassUse, Rendering, access_kind};
use quadrille::prelude::{
    Blend, GpuDevice, GraphicsPipeline, GraphicsPipelineDesc, IndexRead, IndexType, Recorder,
    Shader, VertexRead,
};
use quadrille::vulkan::{PrimitiveTopology, ShaderError};

use crate::images::Images2d;
use crate::instance::Instance;
use crate::mesh_data::{Shape, Vertex};
use crate::meshes::{Indices2d, Vertices2d};
use crate::msaa::Multisampled2d;
use crate::node::{Node, Nodes2d};
use crate::phase::{Batch, BatchKind, Instances2d, Phase2d, Textures2d, View2d};
use crate::target::Targets2d;

/// The pipelines of [`draw_2d`], by what vertices form.
#[derive(Resource)]
pub struct Pipelines2d {
    points: GraphicsPipeline,
    lines: GraphicsPipeline,
    triangles: GraphicsPipeline,
    nodes: GraphicsPipeline,
}

impl Pipelines2d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, ShaderError> {
        let source = include_str!("../../../shaders/quadrille_2d/draw.wgsl");
        let shader = Shader::wgsl("quadrille_2d/draw.wgsl", source)?;
        let source = include_str!("../../../shaders/quadrille_2d/node.wgsl");
        let node_shader = Shader::wgsl("quadrille_2d/node.wgsl", source)?;
        let nodes = gpu.graphics_pipeline(&GraphicsPipelineDesc {
            vertex_buffers: vec![Vertex::layout(), Node::layout()],
            blend: Blend::Alpha,
            ..GraphicsPipelineDesc::of("2d nodes", &node_shader)
        })?;
        let pipeline = |name, topology| {
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                vertex_buffers: vec![Vertex::layout(), Instance::layout()],
                topology,
                blend: Blend::Alpha,
                ..GraphicsPipelineDesc::of(name, &shader)
            })
        };
        Ok(Self {
            points: pipeline("2d points", PrimitiveTopology::Points)?,
            lines: pipeline("2d lines", PrimitiveTopology::Lines)?,
            triangles: pipeline("2d triangles", PrimitiveTopology::Triangles)?,
            nodes,
        })
    }

    fn of(&self, batch: &Batch) -> &GraphicsPipeline {
        match (batch.kind, batch.mesh.shape) {
            (BatchKind::Nodes, _) => &self.nodes,
            (_, Shape::Points) => &self.points,
            (_, Shape::Lines) => &self.lines,
            (_, Shape::Triangles) => &self.triangles,
        }
    }
}

/// What [`draw_2d`] draws, and with what.
#[derive(bevy_ecs::system::SystemParam)]
pub struct Drawn<'w> {
    phase: Res<'w, Phase2d>,
    images: Res<'w, Images2d>,
    pipelines: Res<'w, Pipelines2d>,
}

/// The buffers that [`draw_2d`] draws from.
#[derive(bevy_ecs::system::SystemParam)]
pub struct Geometry2d<'w> {
    vertices: VertexRead<'w, Vertices2d>,
    indices: IndexRead<'w, Indices2d>,
    instances: VertexRead<'w, Instances2d>,
    nodes: VertexRead<'w, Nodes2d>,
}

impl Geometry2d<'_> {
    /// Adds the buffers that batches read. Those of which nothing was ever needed hold nothing
    /// that could be read.
    fn add_uses(&self, batches: &[Batch], uses: &mut Vec<PassUse>) {
        if batches.is_empty() {
            return;
        }
        uses.extend([
            self.vertices.any().as_declared(),
            self.indices.any().as_declared(),
        ]);
        let is_node = |batch: &Batch| batch.kind == BatchKind::Nodes;
        if batches.iter().any(is_node) {
            uses.push(self.nodes.any().as_declared());
        }
        if !batches.iter().all(is_node) {
            uses.push(self.instances.any().as_declared());
        }
    }
}

/// The images that [`draw_2d`] draws to.
#[derive(bevy_ecs::system::SystemParam)]
pub struct ColorTargets2d<'w> {
    targets: AccessList<'w, Targets2d, access_kind::ColorTarget>,
    multisampled: AccessList<'w, Multisampled2d, access_kind::ColorTarget>,
}

/// The pass that draws all 2D cameras, in the order of `Camera::order`: one pass of the plan for
/// each. Order your own before or after it, or disable its entity and put your own in its place.
pub fn draw_2d(
    mut recorder: Recorder,
    targets: ColorTargets2d,
    textures: AccessList<Textures2d, access_kind::Sampled>,
    geometry: Geometry2d,
    drawn: Drawn,
    mut scratch: Local<(Vec<PassUse>, Vec<bool>)>,
) {
    let (uses, seen) = &mut *scratch;
    for (index, view) in drawn.phase.views.iter().enumerate() {
        let Some(target) = targets.targets.get(view.target as usize) else {
            continue;
        };
        let samples = view.multisampled;
        let samples = samples.and_then(|place| targets.multisampled.get(place as usize));
        // The last one on a target resolves it.
        let later = &drawn.phase.views[index + 1..];
        let is_last = later.iter().all(|other| other.target != view.target);
        let batches = &drawn.phase.batches[view.batches.start as usize..view.batches.end as usize];
        uses.clear();
        uses.extend(samples.map(|samples| samples.as_declared()));
        if samples.is_none() || is_last {
            uses.push(target.as_declared());
        }
        geometry.add_uses(batches, uses);
        add_textures(batches, &textures, seen, uses);
        let mut pass = recorder.pass("draw 2d", uses);
        let drawn_to = samples.unwrap_or(target);
        let mut attachment = match view.clear {
            Some(color) => drawn_to.clear(color.to_f32_array()),
            None => drawn_to.keep(),
        };
        if samples.is_some() && is_last {
            attachment = attachment.resolve_to(&target);
        }
        let mut rendering = pass.render(attachment);
        draw_view(&mut rendering, view, batches, &drawn, &textures, &geometry);
    }
}

/// Adds each image that the batches show, once.
fn add_textures(
    batches: &[Batch],
    textures: &AccessList<Textures2d, access_kind::Sampled>,
    seen: &mut Vec<bool>,
    uses: &mut Vec<PassUse>,
) {
    seen.clear();
    seen.resize(textures.len(), false);
    for batch in batches {
        let at = batch.texture.image as usize;
        if let Some(texture) = textures.get(at)
            && !std::mem::replace(&mut seen[at], true)
        {
            uses.push(texture.as_declared());
        }
    }
}

fn draw_view(
    rendering: &mut Rendering<'_>,
    view: &View2d,
    batches: &[Batch],
    drawn: &Drawn,
    textures: &AccessList<Textures2d, access_kind::Sampled>,
    geometry: &Geometry2d,
) {
    rendering
        .viewport(view.viewport.map(|length| length as f32))
        .scissor(view.viewport);
    let mut bound: Option<&Batch> = None;
    for batch in batches {
        let texture = textures.get(batch.texture.image as usize);
        let sampler = drawn.images.samplers().get(batch.texture.sampler);
        let (Some(texture), Some(sampler)) = (texture, sampler) else {
            continue;
        };
        let is_node = |batch: &Batch| batch.kind == BatchKind::Nodes;
        let same_pipeline = bound.is_some_and(|last| {
            last.mesh.shape == batch.mesh.shape && is_node(last) == is_node(batch)
        });
        if !same_pipeline {
            rendering
                .pipeline(drawn.pipelines.of(batch))
                .vertices(0, &geometry.vertices, 0)
                .indices(&geometry.indices, 0, IndexType::U32);
            match batch.kind {
                BatchKind::Nodes => rendering.vertices(1, &geometry.nodes, 0),
                BatchKind::World | BatchKind::Clip => rendering.vertices(1, &geometry.instances, 0),
            };
        }
        let last = bound.filter(|_| same_pipeline);
        if last.is_none_or(|last| last.texture != batch.texture) {
            rendering.bind(0, &texture).sampler(1, sampler);
        }
        if last.is_none_or(|last| last.kind != batch.kind) {
            let clip_from_world = match batch.kind {
                BatchKind::Clip => Mat4::IDENTITY,
                BatchKind::World | BatchKind::Nodes => view.clip_from_world,
            };
            rendering.push(&clip_from_world.to_cols_array());
        }
        let mesh = &batch.mesh;
        rendering.draw_indexed(
            mesh.first_index..mesh.first_index + mesh.index_count,
            mesh.base_vertex,
            batch.instances.clone(),
        );
        bound = Some(batch);
    }
}
