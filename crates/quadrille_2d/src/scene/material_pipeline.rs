//! State of materials' pipelines by bevy's names.

use quadrille::vulkan::pipeline::PrimitiveTopology as Topology;
use quadrille::vulkan::shader::{Constant, ShaderDefVal};
use quadrille::vulkan::vk;
use wgpu_types::{PolygonMode, PrimitiveTopology};

/// State of a material's pipelines that `specialize` may change. Each other state is a pipeline of its own, and each other
/// set of shader defs another translation of the shaders.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Material2dPipelineDesc {
    /// Filled polygons, their edges or their corners. Other modes than [`PolygonMode::Fill`] need the feature
    /// `fillModeNonSolid`.
    pub polygon_mode: PolygonMode,
    /// Kind of primitives that the mesh's indices are read as; `None` for the mesh's own.
    pub topology: Option<PrimitiveTopology>,
    /// Shader defs of both stages, for `@if` and `constants::NAME`.
    pub shader_defs: Vec<ShaderDefVal>,
    /// Values of `override` constants of the shaders, by name.
    pub constants: Vec<(String, Constant)>,
}

impl Material2dPipelineDesc {
    /// The topology by Vulkan's name.
    pub(crate) fn topology(&self) -> Option<Topology> {
        self.topology.map(|topology| match topology {
            PrimitiveTopology::PointList => Topology::Points,
            PrimitiveTopology::LineList => Topology::Lines,
            PrimitiveTopology::LineStrip => Topology::LineStrip,
            PrimitiveTopology::TriangleList => Topology::Triangles,
            PrimitiveTopology::TriangleStrip => Topology::TriangleStrip,
        })
    }

    /// The polygon mode by Vulkan's name.
    pub(crate) fn polygon(&self) -> vk::PolygonMode {
        match self.polygon_mode {
            PolygonMode::Fill => vk::PolygonMode::FILL,
            PolygonMode::Line => vk::PolygonMode::LINE,
            PolygonMode::Point => vk::PolygonMode::POINT,
        }
    }
}
