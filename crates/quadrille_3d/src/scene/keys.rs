//! Keys of pipelines, and the state of materials that they depend on.

use quadrille_content::{MeshAllocation, PrimitiveKind};

use crate::components::material::AlphaMode;

/// Key of a pipeline of meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) primitive: PrimitiveKind,
    pub(crate) cull: CullMode,
    pub(crate) blend_mode: BlendMode,
    pub(crate) features: MaterialFeatures,
}

impl PipelineKey {
    /// The key that a view draws meshes of this key with.
    pub(crate) fn for_view(self, inverts_culling: bool) -> Self {
        let cull = match self.cull {
            CullMode::Front if inverts_culling => CullMode::Back,
            CullMode::Back if inverts_culling => CullMode::Front,
            cull => cull,
        };
        Self { cull, ..self }
    }
}

/// Pipeline and mesh that an instance is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BinKey {
    pub(crate) pipeline: PipelineKey,
    pub(crate) mesh: MeshAllocation,
}

/// How much there is to shade. Code that is there slows down also those who do not need it, so that
/// pipelines have no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MaterialFeatures {
    /// The same everywhere.
    Base,
    /// Images say what differs.
    Textured,
    /// Clearcoat, anisotropy, a depth map, a lightmap or diffuse transmission.
    Extended,
}

/// Blending of a fragment with the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BlendMode {
    /// Replaces the target.
    Opaque,
    /// Replaces the target, except where an alpha mask discards the fragment.
    Mask,
    /// Replaces the target in some of a pixel's samples, by alpha.
    AlphaToCoverage,
    /// Covers the target by alpha.
    Blend,
    /// Multiplies the target.
    Multiply,
}

impl BlendMode {
    pub(crate) fn new(mode: AlphaMode) -> Self {
        match mode {
            AlphaMode::Opaque => Self::Opaque,
            AlphaMode::Mask(_) => Self::Mask,
            AlphaMode::AlphaToCoverage => Self::AlphaToCoverage,
            AlphaMode::Blend | AlphaMode::Premultiplied | AlphaMode::Add => Self::Blend,
            AlphaMode::Multiply => Self::Multiply,
        }
    }

    /// Light falls through where its alpha says so.
    pub(crate) fn needs_alpha_mask(self) -> bool {
        matches!(self, Self::Mask | Self::AlphaToCoverage | Self::Blend)
    }

    /// Whether the target shows through, so that draws are sorted from back to front.
    pub(crate) fn is_transparent(self) -> bool {
        matches!(self, Self::Blend | Self::Multiply)
    }
}

/// The faces that are not drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CullMode {
    None,
    Front,
    Back,
}
