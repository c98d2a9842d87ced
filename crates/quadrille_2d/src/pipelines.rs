//! Pipelines of `draw_2d`.

pub(crate) mod materials;

use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::ShaderError;
use quadrille::vulkan::pipeline::{Blend, PrimitiveTopology, VertexLayout};
use quadrille::vulkan::shader::ShaderModule;
use quadrille_content::materials::BINDLESS_ADVICE;

use crate::constants::constants;
use crate::instances::mesh_instance::Instance;
use crate::tilemaps::chunk::Chunk;
use quadrille_content::lines::Line;
use quadrille_content::meshes::PrimitiveKind;
use quadrille_content::views::composite_pipeline;

use crate::instances::node::NodeInstance;
use crate::meshes::data::Vertex;
use crate::pipelines::materials::MaterialPipelines;
use crate::scene::materials::BoundTextures;
use crate::scene::phase::{Batch, BatchKind};

/// Pipelines of [`draw_2d`](crate::systems::draw_2d), by batch kind and primitive topology.
#[derive(Resource)]
pub struct Pipelines2d {
    points: GraphicsPipeline,
    lines: GraphicsPipeline,
    triangles: GraphicsPipeline,
    nodes: GraphicsPipeline,
    gradients: GraphicsPipeline,
    gizmos: GraphicsPipeline,
    tiles: GraphicsPipeline,
    replace: GraphicsPipeline,
    pub(crate) composite: GraphicsPipeline,
    pub(crate) materials: MaterialPipelines,
}

/// Shader modules under bevy's paths, with bevy's item names.
const BEVY_MODULES: [(&str, &str); 6] = [
    (
        "bevy_sprite_render::mesh2d::vertex_input",
        include_str!("../shaders/bevy/mesh2d_vertex_input.wgsl"),
    ),
    (
        "bevy_sprite_render::mesh2d::vertex_output",
        include_str!("../shaders/bevy/mesh2d_vertex_output.wgsl"),
    ),
    (
        "bevy_sprite_render::mesh2d::view_bindings",
        include_str!("../shaders/bevy/mesh2d_view_bindings.wgsl"),
    ),
    (
        "bevy_sprite_render::mesh2d::functions",
        include_str!("../shaders/bevy/mesh2d_functions.wgsl"),
    ),
    (
        "bevy_sprite_render::sprite_mesh::functions",
        include_str!("../shaders/bevy/sprite_functions.wgsl"),
    ),
    (
        "bevy_ui_render::ui_vertex_output",
        include_str!("../shaders/bevy/ui_vertex_output.wgsl"),
    ),
];

/// Advice in errors for unsupported names of bevy.
const BEVY_ADVICE: &str = "2D has the modules `mesh2d::vertex_input`, `mesh2d::vertex_output`, `mesh2d::functions`, `mesh2d::view_bindings` (`view`, `globals`) \
     and `sprite_mesh::functions`; pass other values as fields of the material";

/// Publishes the modules that shaders import.
pub(crate) fn publish_shader_modules() -> Result<(), ShaderError> {
    constants().publish()?;
    let source = include_str!("../shaders/vertex.wgsl");
    ShaderModule::new("quadrille_2d::vertex", source).publish()?;
    let source = include_str!("../shaders/boxes.wgsl");
    ShaderModule::new("quadrille_2d::boxes", source).publish()?;
    for (path, source) in BEVY_MODULES {
        ShaderModule::new(path, source).publish()?;
    }
    for (path, advice) in [("bevy_sprite_render", BEVY_ADVICE), BINDLESS_ADVICE] {
        ShaderModule::advise(path, advice);
    }
    Ok(())
}

impl Pipelines2d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, ShaderError> {
        publish_shader_modules()?;
        let source = include_str!("../shaders/draw.wgsl");
        let draw = GpuShader::wgsl("quadrille_2d/draw.wgsl", source)?;
        let source = include_str!("../shaders/node.wgsl");
        let node = GpuShader::wgsl("quadrille_2d/node.wgsl", source)?;
        let source = include_str!("../shaders/gradient.wgsl");
        let gradient = GpuShader::wgsl("quadrille_2d/gradient.wgsl", source)?;
        let source = include_str!("../shaders/line.wgsl");
        let line = GpuShader::wgsl("quadrille_2d/line.wgsl", source)?;
        let source = include_str!("../shaders/tile.wgsl");
        let tile = GpuShader::wgsl("quadrille_2d/tile.wgsl", source)?;
        let desc = |name, shader, instances: VertexLayout, topology| GraphicsPipelineDesc {
            vertex_buffers: vec![Vertex::layout(), instances],
            topology,
            blend: Blend::Alpha,
            ..GraphicsPipelineDesc::of(name, shader)
        };
        let pipeline = |name, shader, instances: VertexLayout, topology| {
            gpu.graphics_pipeline(&desc(name, shader, instances, topology))
        };
        use PrimitiveTopology::{Lines, Points, Triangles};
        Ok(Self {
            points: pipeline("2d points", &draw, Instance::order_layout(), Points)?,
            lines: pipeline("2d lines", &draw, Instance::order_layout(), Lines)?,
            triangles: pipeline("2d triangles", &draw, Instance::order_layout(), Triangles)?,
            nodes: pipeline("2d nodes", &node, NodeInstance::layout(), Triangles)?,
            gradients: pipeline("2d gradients", &gradient, NodeInstance::layout(), Triangles)?,
            gizmos: pipeline("2d gizmos", &line, Line::layout(), Triangles)?,
            tiles: pipeline("2d tiles", &tile, Chunk::layout(), Triangles)?,
            replace: gpu.graphics_pipeline(&GraphicsPipelineDesc {
                blend: Blend::Opaque,
                ..desc("2d replace", &draw, Instance::order_layout(), Triangles)
            })?,
            composite: composite_pipeline(gpu, "2d over", Blend::Premultiplied)?,
            materials: MaterialPipelines::new()?,
        })
    }

    /// Returns the pipeline of a batch; `None` while its material's shader is loading.
    pub(crate) fn of(
        &self,
        batch: &Batch,
        bind_groups: &[BoundTextures],
    ) -> Option<&GraphicsPipeline> {
        match batch.bind_group {
            Some(index) => {
                let bound = bind_groups.get(index as usize)?;
                self.materials.get(bound, batch.mesh.primitive)
            }
            None => Some(self.of_kind(batch)),
        }
    }

    fn of_kind(&self, batch: &Batch) -> &GraphicsPipeline {
        match (batch.kind, batch.mesh.primitive) {
            (BatchKind::Nodes, _) => &self.nodes,
            (BatchKind::Gradients, _) => &self.gradients,
            (BatchKind::Lines, _) => &self.gizmos,
            (BatchKind::Tiles, _) => &self.tiles,
            (BatchKind::Replace, _) => &self.replace,
            (BatchKind::World | BatchKind::Clip, PrimitiveKind::Points) => &self.points,
            (BatchKind::World | BatchKind::Clip, PrimitiveKind::Lines) => &self.lines,
            (BatchKind::World | BatchKind::Clip, PrimitiveKind::Triangles) => &self.triangles,
        }
    }
}

#[cfg(test)]
mod tests;
