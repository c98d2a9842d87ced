//! State of materials' pipelines by bevy's names.

use quadrille::vulkan::pipeline::PrimitiveTopology as Topology;
use quadrille::vulkan::shader::{Constant, ShaderDefVal};
use quadrille::vulkan::vk;
use wgpu_types::{CompareFunction, Face, PolygonMode, PrimitiveTopology};

use crate::pipelines::custom::FixedState;
use crate::scene::keys::CullMode;

/// State of a material's pipelines that [`Material::specialize`](crate::Material::specialize) may change. Each other
/// state is a pipeline of its own, and each other set of shader defs another translation of the shaders.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MaterialPipelineDesc {
    /// Culled faces, of shadow casters as well.
    pub cull_mode: Option<Face>,
    /// Filled polygons, their edges or their corners. Other modes than [`PolygonMode::Fill`] need the feature
    /// `fillModeNonSolid`.
    pub polygon_mode: PolygonMode,
    /// Kind of primitives that the mesh's indices are read as; `None` for the mesh's own.
    pub topology: Option<PrimitiveTopology>,
    /// Depth test, with reversed depth: nearer is greater.
    pub depth_compare: CompareFunction,
    /// Whether depth is written; `None` for all alpha modes but those that blend.
    pub depth_write_enabled: Option<bool>,
    /// Shader defs of all stages, for `@if` and `constants::NAME`.
    pub shader_defs: Vec<ShaderDefVal>,
    /// Values of `override` constants of the shaders, by name.
    pub constants: Vec<(String, Constant)>,
}

impl Default for MaterialPipelineDesc {
    fn default() -> Self {
        Self {
            cull_mode: Some(Face::Back),
            polygon_mode: PolygonMode::Fill,
            topology: None,
            depth_compare: CompareFunction::GreaterEqual,
            depth_write_enabled: None,
            shader_defs: Vec::new(),
            constants: Vec::new(),
        }
    }
}

impl MaterialPipelineDesc {
    pub(crate) fn cull(&self) -> CullMode {
        CullMode::new(self.cull_mode)
    }

    /// The state by Vulkan's names.
    pub(crate) fn fixed_state(&self) -> FixedState {
        FixedState {
            topology: self.topology.map(|topology| match topology {
                PrimitiveTopology::PointList => Topology::Points,
                PrimitiveTopology::LineList => Topology::Lines,
                PrimitiveTopology::LineStrip => Topology::LineStrip,
                PrimitiveTopology::TriangleList => Topology::Triangles,
                PrimitiveTopology::TriangleStrip => Topology::TriangleStrip,
            }),
            polygon: match self.polygon_mode {
                PolygonMode::Fill => vk::PolygonMode::FILL,
                PolygonMode::Line => vk::PolygonMode::LINE,
                PolygonMode::Point => vk::PolygonMode::POINT,
            },
            depth_compare: Some(match self.depth_compare {
                CompareFunction::Never => vk::CompareOp::NEVER,
                CompareFunction::Less => vk::CompareOp::LESS,
                CompareFunction::Equal => vk::CompareOp::EQUAL,
                CompareFunction::LessEqual => vk::CompareOp::LESS_OR_EQUAL,
                CompareFunction::Greater => vk::CompareOp::GREATER,
                CompareFunction::NotEqual => vk::CompareOp::NOT_EQUAL,
                CompareFunction::GreaterEqual => vk::CompareOp::GREATER_OR_EQUAL,
                CompareFunction::Always => vk::CompareOp::ALWAYS,
            }),
            depth_write: self.depth_write_enabled,
        }
    }
}
