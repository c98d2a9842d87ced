//! State of materials' pipelines for `specialize`, by bevy's names.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use bevy_mesh::{MissingVertexAttributeError, VertexBufferLayout};
use quadrille::vulkan::pipeline::{Blend, BlendEquation, PrimitiveTopology as Topology};
use quadrille::vulkan::shader::{Constant, GpuShader, ShaderDefVal};
use quadrille::vulkan::vk;
use wgpu_types::{
    BlendComponent, BlendFactor, BlendOperation, BlendState, ColorTargetState, CompareFunction,
    DepthStencilState, PolygonMode, PrimitiveState, PrimitiveTopology,
};

/// State of a material's pipelines that `specialize` may change: those fields of bevy's type of this name that have a
/// meaning here. Each other state is a pipeline of its own, and each other set of shader defs another translation of the
/// shaders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderPipelineDescriptor {
    /// The vertex stage.
    pub vertex: VertexState,
    /// Primitives. The topology [`TriangleList`](PrimitiveTopology::TriangleList) is the mesh's own; of the other fields
    /// `cull_mode`, `front_face` and `polygon_mode` apply.
    pub primitive: PrimitiveState,
    /// Depth test, with reversed depth: nearer is greater. `depth_write_enabled` is `None` for the default of the alpha
    /// mode: all but those that blend write it. `depth_compare` and `depth_write_enabled` alone apply.
    pub depth_stencil: Option<DepthStencilState>,
    /// The fragment stage.
    pub fragment: Option<FragmentState>,
}

/// Vertex stage of a [`RenderPipelineDescriptor`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexState {
    /// Shader defs, for `@if` and `constants::NAME`: at first those of the mesh's attributes (`VERTEX_COLORS`, ..).
    pub shader_defs: Vec<ShaderDefVal>,
    /// The entry point, where the file has several: `vertex`, the default.
    pub entry_point: Option<Cow<'static, str>>,
    /// Attributes of the mesh by their locations in the shader, at first those of bevy's module `forward_io`. Take others
    /// from [`MeshVertexBufferLayout::get_layout`](bevy_mesh::MeshVertexBufferLayout::get_layout).
    pub buffers: Vec<VertexBufferLayout>,
    /// Values of `override` constants of the shader, by name.
    pub constants: Vec<(Cow<'static, str>, f64)>,
}

/// Fragment stage of a [`RenderPipelineDescriptor`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FragmentState {
    /// Shader defs, for `@if` and `constants::NAME`: at first those of the mesh's attributes (`VERTEX_COLORS`, ..).
    pub shader_defs: Vec<ShaderDefVal>,
    /// The entry point, where the file has several: `fragment`, the default.
    pub entry_point: Option<Cow<'static, str>>,
    /// The color target. Its blend state applies if it is set, in the place of that of the alpha mode.
    pub targets: Vec<Option<ColorTargetState>>,
    /// Values of `override` constants of the shader, by name.
    pub constants: Vec<(Cow<'static, str>, f64)>,
}

/// There is no fragment stage.
#[derive(Clone, Copy, Debug)]
pub struct NoFragmentStateError;

impl fmt::Display for NoFragmentStateError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the pipeline has no fragment stage")
    }
}

impl Error for NoFragmentStateError {}

/// Reason that a mesh cannot be drawn with a material.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpecializedMeshPipelineError {
    /// The mesh lacks a vertex attribute.
    MissingVertexAttribute(MissingVertexAttributeError),
}

impl From<MissingVertexAttributeError> for SpecializedMeshPipelineError {
    fn from(error: MissingVertexAttributeError) -> Self {
        Self::MissingVertexAttribute(error)
    }
}

impl fmt::Display for SpecializedMeshPipelineError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingVertexAttribute(error) => error.fmt(to),
        }
    }
}

impl Error for SpecializedMeshPipelineError {}

impl RenderPipelineDescriptor {
    /// The fragment stage.
    ///
    /// # Errors
    /// There is none.
    pub fn fragment_mut(&mut self) -> Result<&mut FragmentState, NoFragmentStateError> {
        self.fragment.as_mut().ok_or(NoFragmentStateError)
    }

    /// The topology by Vulkan's name; `None` for the mesh's own.
    pub fn topology(&self) -> Option<Topology> {
        match self.primitive.topology {
            PrimitiveTopology::TriangleList => None,
            PrimitiveTopology::PointList => Some(Topology::Points),
            PrimitiveTopology::LineList => Some(Topology::Lines),
            PrimitiveTopology::LineStrip => Some(Topology::LineStrip),
            PrimitiveTopology::TriangleStrip => Some(Topology::TriangleStrip),
        }
    }

    /// The polygon mode by Vulkan's name.
    pub fn polygon(&self) -> vk::PolygonMode {
        match self.primitive.polygon_mode {
            PolygonMode::Fill => vk::PolygonMode::FILL,
            PolygonMode::Line => vk::PolygonMode::LINE,
            PolygonMode::Point => vk::PolygonMode::POINT,
        }
    }

    /// Comparison of depths, and whether depth is written, if that is not decided by the alpha mode.
    pub fn depth(&self) -> (vk::CompareOp, Option<bool>) {
        let Some(depth) = &self.depth_stencil else {
            return (vk::CompareOp::ALWAYS, Some(false));
        };
        let compare = match depth.depth_compare {
            None | Some(CompareFunction::Always) => vk::CompareOp::ALWAYS,
            Some(CompareFunction::Never) => vk::CompareOp::NEVER,
            Some(CompareFunction::Less) => vk::CompareOp::LESS,
            Some(CompareFunction::Equal) => vk::CompareOp::EQUAL,
            Some(CompareFunction::LessEqual) => vk::CompareOp::LESS_OR_EQUAL,
            Some(CompareFunction::Greater) => vk::CompareOp::GREATER,
            Some(CompareFunction::NotEqual) => vk::CompareOp::NOT_EQUAL,
            Some(CompareFunction::GreaterEqual) => vk::CompareOp::GREATER_OR_EQUAL,
        };
        (compare, depth.depth_write_enabled)
    }

    /// Blend state of the color target, if it is set.
    pub fn blend(&self) -> Option<BlendState> {
        let target = self.fragment.as_ref()?.targets.first()?.as_ref()?;
        target.blend
    }

    /// Values of `override` constants that these shaders have.
    ///
    /// # Errors
    /// The message for the user, if a constant cannot have the value, or if an entry point is called otherwise than its stage.
    pub fn constants(&self, shaders: &[&GpuShader]) -> Result<Vec<(String, Constant)>, String> {
        let of_fragment = self.fragment.as_ref().map(|it| &it.entry_point);
        let entries = [(&self.vertex.entry_point, "vertex")];
        for (name, stage) in entries
            .into_iter()
            .chain(of_fragment.map(|it| (it, "fragment")))
        {
            if let Some(name) = name.as_ref().filter(|name| *name != stage) {
                return Err(format!(
                    "`specialize` sets the entry point `{name}`. Call it `{stage}` in the file"
                ));
            }
        }
        let of_fragment = self.fragment.iter().flat_map(|it| &it.constants);
        let all = self.vertex.constants.iter().chain(of_fragment);
        let mut constants: Vec<(String, Constant)> = Vec::new();
        for (name, value) in all {
            let found = shaders.iter().find_map(|it| it.constant(name, *value));
            match found {
                Some(constant) => {
                    constants.retain(|(known, _)| known != name);
                    constants.push((name.to_string(), constant));
                }
                None => {
                    return Err(format!(
                        "`specialize` sets the constant {name} to {value}, and no shader has an `override` of this name whose \
                         type has that value"
                    ));
                }
            }
        }
        Ok(constants)
    }
}

/// A blend state by Vulkan's names.
pub fn blend_of(state: BlendState) -> Blend {
    Blend::Custom {
        color: equation(state.color),
        alpha: equation(state.alpha),
    }
}

fn equation(component: BlendComponent) -> BlendEquation {
    BlendEquation {
        src: factor(component.src_factor),
        dst: factor(component.dst_factor),
        op: match component.operation {
            BlendOperation::Add => vk::BlendOp::ADD,
            BlendOperation::Subtract => vk::BlendOp::SUBTRACT,
            BlendOperation::ReverseSubtract => vk::BlendOp::REVERSE_SUBTRACT,
            BlendOperation::Min => vk::BlendOp::MIN,
            BlendOperation::Max => vk::BlendOp::MAX,
        },
    }
}

fn factor(factor: BlendFactor) -> vk::BlendFactor {
    match factor {
        BlendFactor::Zero => vk::BlendFactor::ZERO,
        BlendFactor::One => vk::BlendFactor::ONE,
        BlendFactor::Src => vk::BlendFactor::SRC_COLOR,
        BlendFactor::OneMinusSrc => vk::BlendFactor::ONE_MINUS_SRC_COLOR,
        BlendFactor::SrcAlpha => vk::BlendFactor::SRC_ALPHA,
        BlendFactor::OneMinusSrcAlpha => vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        BlendFactor::Dst => vk::BlendFactor::DST_COLOR,
        BlendFactor::OneMinusDst => vk::BlendFactor::ONE_MINUS_DST_COLOR,
        BlendFactor::DstAlpha => vk::BlendFactor::DST_ALPHA,
        BlendFactor::OneMinusDstAlpha => vk::BlendFactor::ONE_MINUS_DST_ALPHA,
        BlendFactor::SrcAlphaSaturated => vk::BlendFactor::SRC_ALPHA_SATURATE,
        BlendFactor::Constant => vk::BlendFactor::CONSTANT_COLOR,
        BlendFactor::OneMinusConstant => vk::BlendFactor::ONE_MINUS_CONSTANT_COLOR,
        BlendFactor::Src1 => vk::BlendFactor::SRC1_COLOR,
        BlendFactor::OneMinusSrc1 => vk::BlendFactor::ONE_MINUS_SRC1_COLOR,
        BlendFactor::Src1Alpha => vk::BlendFactor::SRC1_ALPHA,
        BlendFactor::OneMinusSrc1Alpha => vk::BlendFactor::ONE_MINUS_SRC1_ALPHA,
    }
}
