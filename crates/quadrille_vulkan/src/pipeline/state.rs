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

/// Triangles that are culled. Front faces wind counter-clockwise as seen on the target.
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

/// How a fragment's colour combines with the target's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blend {
    /// Replaces it.
    #[default]
    Opaque,
    /// Blends over it by the fragment's alpha.
    Alpha,
    /// Blends over it by the fragment's alpha, by which the colour is multiplied already.
    Premultiplied,
    /// Adds to it.
    Additive,
    /// Colour and alpha by equations of their own.
    Custom {
        /// The equation of red, green and blue.
        color: BlendEquation,
        /// The equation of alpha.
        alpha: BlendEquation,
    },
}

/// How a component mixes: `op` of what the shader writes times `src`, and of what is there times `dst`.
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
    /// The sum of both.
    pub fn sum(src: vk::BlendFactor, dst: vk::BlendFactor) -> Self {
        let op = vk::BlendOp::ADD;
        Self { src, dst, op }
    }
}

/// Blending and write mask of one colour attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorState {
    /// How colours mix.
    pub blend: Blend,
    /// The components that are written.
    pub mask: vk::ColorComponentFlags,
}

impl ColorState {
    /// All components are written.
    pub fn new(blend: Blend) -> Self {
        Self {
            blend,
            mask: vk::ColorComponentFlags::RGBA,
        }
    }

    /// The same, of which only these components are written.
    pub fn with_mask(mut self, mask: vk::ColorComponentFlags) -> Self {
        self.mask = mask & vk::ColorComponentFlags::RGBA;
        self
    }
}

/// How depth is tested and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthState {
    /// The comparison by which fragments pass.
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
    /// The attributes of an element.
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
    /// Whether Vulkan 1.0 has all of it, without a second source.
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
