//! Keys of pipelines, and the state of materials that they depend on.

use quadrille_content::{MeshAllocation, PrimitiveKind};

use crate::components::material::AlphaMode;

/// With which pipeline something is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) primitive: PrimitiveKind,
    pub(crate) cull: CullMode,
    pub(crate) blend_mode: BlendMode,
    pub(crate) features: MaterialFeatures,
}

impl PipelineKey {
    /// The key with which a view draws what has this one.
    pub(crate) fn for_view(self, inverts_culling: bool) -> Self {
        let cull = match self.cull {
            CullMode::Front if inverts_culling => CullMode::Back,
            CullMode::Back if inverts_culling => CullMode::Front,
            cull => cull,
        };
        Self { cull, ..self }
    }
}

/// With what an instance is drawn.
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

/// How what is drawn meets what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BlendMode {
    /// It hides that.
    Opaque,
    /// It hides that, but where it has holes: a mask.
    Mask,
    /// It hides that in some of a pixel's samples.
    AlphaToCoverage,
    /// It covers that by its alpha.
    Blend,
    /// It is multiplied with that.
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

    /// What is behind is seen through it, so that order counts.
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
