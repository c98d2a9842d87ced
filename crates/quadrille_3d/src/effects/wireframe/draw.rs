//! Wireframe draws: one line quad per edge, by vertex pulling.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::bindings::PassBindings;
use quadrille::ecs::Rendering;
use quadrille::prelude::{
    GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, StorageRead,
};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::pipeline::{Blend, DepthState};
use quadrille::vulkan::vk;
use quadrille_content::meshes::MeshAllocation;

use crate::scene::buffers::{Indices3d, Instances3d, Vertices3d};

/// Wireframe draw of a mesh in a view.
#[derive(Clone, Debug)]
pub(crate) struct WireframeDraw {
    /// Instance index.
    pub(crate) instance: u32,
    pub(crate) mesh: MeshAllocation,
    /// Linear color.
    pub(crate) color: [f32; 4],
    /// Width in pixels.
    pub(crate) width: f32,
    /// Whether shared edges of quads are omitted.
    pub(crate) has_quads: bool,
    /// Whether depth is ignored.
    pub(crate) is_xray: bool,
}

/// Pipelines of wireframes.
pub(crate) struct WireframePipelines {
    depth_tested: GraphicsPipeline,
    xray: GraphicsPipeline,
}

impl WireframePipelines {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../../shaders/wireframe.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/wireframe.wgsl", source)?;
        let pipeline = |depth| {
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                blend: Blend::Alpha,
                depth: Some(depth),
                ..GraphicsPipelineDesc::of("3d wireframes", &shader)
            })
        };
        let always = DepthState {
            compare: vk::CompareOp::ALWAYS,
            write: false,
        };
        Ok(Self {
            depth_tested: pipeline(DepthState::GREATER)?,
            xray: pipeline(always)?,
        })
    }
}

/// Buffers for vertex pulling.
#[derive(SystemParam, PassBindings)]
pub struct WireframeGeometry3d<'w> {
    #[bind]
    vertices: StorageRead<'w, Vertices3d>,
    #[bind]
    indices: StorageRead<'w, Indices3d>,
    #[bind]
    instances: StorageRead<'w, Instances3d>,
}

/// Push constants of the wireframe shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/wireframe.wgsl", "Push")]
pub(crate) struct WireframePush {
    clip_from_world: [f32; 16],
    color: [f32; 4],
    size: [f32; 2],
    width: f32,
    instance: u32,
    first_index: u32,
    index_count: u32,
    base_vertex: i32,
    has_quads: u32,
}

/// Draws the wireframes of a view with this size in pixels.
pub(crate) fn draw_wireframes(
    rendering: &mut Rendering<'_>,
    wireframes: &[WireframeDraw],
    geometry: &WireframeGeometry3d,
    (clip_from_world, size): ([f32; 16], [f32; 2]),
    pipelines: &WireframePipelines,
) {
    // X-ray lines are drawn last, on top.
    for is_xray in [false, true] {
        let mut wireframes = wireframes
            .iter()
            .filter(|wireframe| wireframe.is_xray == is_xray)
            .peekable();
        if wireframes.peek().is_none() {
            continue;
        }
        let pipeline = match is_xray {
            false => &pipelines.depth_tested,
            true => &pipelines.xray,
        };
        rendering.pipeline(pipeline).bind_all(geometry);
        for wireframe in wireframes {
            let push = WireframePush {
                clip_from_world,
                color: wireframe.color,
                size,
                width: wireframe.width,
                instance: wireframe.instance,
                first_index: wireframe.mesh.first_index,
                index_count: wireframe.mesh.index_count,
                base_vertex: wireframe.mesh.base_vertex,
                has_quads: u32::from(wireframe.has_quads),
            };
            rendering
                .push_bytes(bytemuck::bytes_of(&push))
                .draw(0..6, 0..wireframe.mesh.index_count);
        }
    }
}
