//! Common fixed-function state of graphics pipelines.

use ash::vk;

use crate::shader::ShaderRow;

/// Primitive topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrimitiveTopology {
    /// Points.
    Points,
    /// Lines, two vertices each.
    Lines,
    /// Line strip.
    LineStrip,
    /// Triangles, three vertices each.
    #[default]
    Triangles,
    /// Triangle strip.
    TriangleStrip,
}

/// Face culling. Front faces wind counter-clockwise in the target by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cull {
    /// No culling.
    #[default]
    None,
    /// Front faces are culled.
    Front,
    /// Back faces are culled.
    Back,
}

/// Blending of a fragment with the color attachment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blend {
    /// No blending: replaces the target's value.
    #[default]
    Opaque,
    /// Blends over the target by the fragment's alpha.
    Alpha,
    /// Blends over the target by the fragment's alpha, with premultiplied color.
    Premultiplied,
    /// Adds to the target.
    Additive,
    /// Separate equations for color and alpha.
    Custom {
        /// The equation of red, green and blue.
        color: BlendEquation,
        /// The equation of alpha.
        alpha: BlendEquation,
    },
}

/// Blend equation of a component: `op(shader output * src, target value * dst)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlendEquation {
    /// The factor of the shader's output.
    pub src: vk::BlendFactor,
    /// The factor of the target's value.
    pub dst: vk::BlendFactor,
    /// The operation that combines both; `MIN` and `MAX` ignore the factors.
    pub op: vk::BlendOp,
}

impl BlendEquation {
    /// Creates an equation with the operation `ADD`.
    pub fn sum(src: vk::BlendFactor, dst: vk::BlendFactor) -> Self {
        let op = vk::BlendOp::ADD;
        Self { src, dst, op }
    }
}

/// Blending and write mask of one color attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorState {
    /// Blending.
    pub blend: Blend,
    /// The color write mask.
    pub mask: vk::ColorComponentFlags,
}

impl ColorState {
    /// Blending with all components written.
    pub fn new(blend: Blend) -> Self {
        Self {
            blend,
            mask: vk::ColorComponentFlags::RGBA,
        }
    }

    /// Sets the color write mask.
    pub fn with_mask(mut self, mask: vk::ColorComponentFlags) -> Self {
        self.mask = mask & vk::ColorComponentFlags::RGBA;
        self
    }
}

/// Depth test and depth writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthState {
    /// The comparison of the depth test.
    pub compare: vk::CompareOp,
    /// Whether passing fragments write their depth.
    pub write: bool,
}

impl DepthState {
    /// `LESS` with depth writes: depth 0 is near.
    pub const LESS: Self = Self {
        compare: vk::CompareOp::LESS,
        write: true,
    };
    /// `GREATER` with depth writes, for reverse-Z: depth 1 is near.
    pub const GREATER: Self = Self {
        compare: vk::CompareOp::GREATER,
        write: true,
    };
}

/// The layout of one vertex buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VertexLayout {
    /// Stride between elements in bytes.
    pub stride: u32,
    /// Whether elements advance per instance instead of per vertex.
    pub per_instance: bool,
    /// The attributes of an element.
    pub attributes: Vec<VertexAttribute>,
}

/// A vertex attribute.
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
    /// Describes tightly packed attributes in this order, with consecutive locations from `first_location` on.
    ///
    /// ```
    /// use quadrille_vulkan::Format;
    /// use quadrille_vulkan::pipeline::VertexLayout;
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

    /// Describes a row as a vertex buffer element. Its fields, of one to four scalars or arrays of these, are
    /// attributes from `first_location` on.
    pub fn of_row<T: ShaderRow>(first_location: u32) -> Self {
        Self::packed(first_location, &T::LAYOUT.formats())
    }

    /// Makes elements advance per instance.
    pub fn per_instance(mut self) -> Self {
        self.per_instance = true;
        self
    }
}

impl PrimitiveTopology {
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
    /// Whether all factors and operations are those of Vulkan 1.0, without dual-source blending.
    pub(super) fn is_known(self) -> bool {
        let Self::Custom { color, alpha } = self else {
            return true;
        };
        let last = vk::BlendFactor::SRC_ALPHA_SATURATE.as_raw();
        let factors = [color.src, color.dst, alpha.src, alpha.dst];
        let ops = [color.op, alpha.op];
        factors.iter().all(|it| (0..=last).contains(&it.as_raw()))
            && ops
                .iter()
                .all(|it| (0..=vk::BlendOp::MAX.as_raw()).contains(&it.as_raw()))
    }

    pub(super) fn to_vk(self) -> vk::PipelineColorBlendAttachmentState {
        use vk::BlendFactor as Factor;
        let (src, dst, src_alpha, dst_alpha) = match self {
            Self::Custom { color, alpha } => {
                return vk::PipelineColorBlendAttachmentState::default()
                    .blend_enable(true)
                    .src_color_blend_factor(color.src)
                    .dst_color_blend_factor(color.dst)
                    .color_blend_op(color.op)
                    .src_alpha_blend_factor(alpha.src)
                    .dst_alpha_blend_factor(alpha.dst)
                    .alpha_blend_op(alpha.op)
                    .color_write_mask(vk::ColorComponentFlags::RGBA);
            }
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
