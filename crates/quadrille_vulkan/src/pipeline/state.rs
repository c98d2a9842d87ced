//! The fixed state of graphics pipelines.

use ash::vk;

/// How vertices form primitives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Topology {
    /// Points.
    Points,
    /// Lines, two vertices each.
    Lines,
    /// A strip of lines.
    LineStrip,
    /// Triangles, three vertices each.
    #[default]
    Triangles,
    /// A strip of triangles.
    TriangleStrip,
}

/// Which triangles are not drawn. Front faces run counter-clockwise as one sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cull {
    /// All are drawn.
    #[default]
    None,
    /// Front faces are not drawn.
    Front,
    /// Back faces are not drawn.
    Back,
}

/// How colours mix with what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blend {
    /// They replace it.
    #[default]
    Opaque,
    /// They cover it by their alpha.
    Alpha,
    /// They cover it by their alpha, with which they are multiplied already.
    Premultiplied,
    /// They are added to it.
    Additive,
}

/// How depth is tested and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthState {
    /// Which fragments pass.
    pub compare: vk::CompareOp,
    /// Whether those that pass write their depth.
    pub write: bool,
}

impl DepthState {
    /// Nearer fragments pass and write: depth 0 is near.
    pub const LESS: Self = Self {
        compare: vk::CompareOp::LESS,
        write: true,
    };
    /// Nearer fragments pass and write with depth reversed: depth 1 is near.
    pub const GREATER: Self = Self {
        compare: vk::CompareOp::GREATER,
        write: true,
    };
}

/// The layout of one vertex buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VertexLayout {
    /// Bytes from one element to the next.
    pub stride: u32,
    /// The elements are those of instances, not of vertices.
    pub per_instance: bool,
    /// What is in an element.
    pub attributes: Vec<VertexAttribute>,
}

/// One value of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexAttribute {
    /// `@location` in the shader.
    pub location: u32,
    /// Its format.
    pub format: vk::Format,
    /// Its offset in the element in bytes.
    pub offset: u32,
}

impl VertexLayout {
    /// A layout of attributes that lie close together in this order, with locations from
    /// `first_location` on.
    ///
    /// ```
    /// use quadrille_vulkan::{Format, VertexLayout};
    /// let layout = VertexLayout::packed(0, &[Format::R32G32B32_SFLOAT, Format::R8G8B8A8_UNORM]);
    /// assert_eq!(layout.stride, 16);
    /// assert_eq!(layout.attributes[1].offset, 12);
    /// ```
    pub fn packed(first_location: u32, formats: &[vk::Format]) -> Self {
        let mut stride = 0;
        let mut attributes = Vec::with_capacity(formats.len());
        for (location, &format) in (first_location..).zip(formats) {
            attributes.push(VertexAttribute {
                location,
                format,
                offset: stride,
            });
            stride += crate::resources::format::texel_bytes(format).unwrap_or(0);
        }
        Self {
            stride,
            per_instance: false,
            attributes,
        }
    }

    /// The same for instances.
    pub fn per_instance(mut self) -> Self {
        self.per_instance = true;
        self
    }
}

impl Topology {
    pub(super) fn to_vk(self) -> vk::PrimitiveTopology {
        match self {
            Self::Points => vk::PrimitiveTopology::POINT_LIST,
            Self::Lines => vk::PrimitiveTopology::LINE_LIST,
            Self::LineStrip => vk::PrimitiveTopology::LINE_STRIP,
            Self::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
            Self::TriangleStrip => vk::PrimitiveTopology::TRIANGLE_STRIP,
        }
    }
}

impl Cull {
    pub(super) fn to_vk(self) -> vk::CullModeFlags {
        match self {
            Self::None => vk::CullModeFlags::NONE,
            Self::Front => vk::CullModeFlags::FRONT,
            Self::Back => vk::CullModeFlags::BACK,
        }
    }
}

impl Blend {
    pub(super) fn to_vk(self) -> vk::PipelineColorBlendAttachmentState {
        use vk::BlendFactor as Factor;
        let (src, dst, src_alpha, dst_alpha) = match self {
            Self::Opaque => (Factor::ONE, Factor::ZERO, Factor::ONE, Factor::ZERO),
            Self::Alpha => (
                Factor::SRC_ALPHA,
                Factor::ONE_MINUS_SRC_ALPHA,
                Factor::ONE,
                Factor::ONE_MINUS_SRC_ALPHA,
            ),
            Self::Premultiplied => (
                Factor::ONE,
                Factor::ONE_MINUS_SRC_ALPHA,
                Factor::ONE,
                Factor::ONE_MINUS_SRC_ALPHA,
            ),
            Self::Additive => (Factor::SRC_ALPHA, Factor::ONE, Factor::ZERO, Factor::ONE),
        };
        vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(self != Self::Opaque)
            .src_color_blend_factor(src)
            .dst_color_blend_factor(dst)
            .src_alpha_blend_factor(src_alpha)
            .dst_alpha_blend_factor(dst_alpha)
            .color_write_mask(vk::ColorComponentFlags::RGBA)
    }
}
