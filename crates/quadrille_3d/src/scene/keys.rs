//! Pipeline keys, and the material state in them.

use quadrille_content::{MeshAllocation, PrimitiveKind};

use crate::components::material::AlphaMode;

/// Key of a mesh pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) primitive: PrimitiveKind,
    pub(crate) cull: CullMode,
    pub(crate) blend_mode: BlendMode,
    pub(crate) features: MaterialFeatures,
}

impl PipelineKey {
    /// Specializes the key for a view.
    pub(crate) fn for_view(self, inverts_culling: bool) -> Self {
        let cull = match self.cull {
            CullMode::Front if inverts_culling => CullMode::Back,
            CullMode::Back if inverts_culling => CullMode::Front,
            cull => cull,
        };
        Self { cull, ..self }
    }
}

/// Key of a bin: pipeline and mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BinKey {
    pub(crate) pipeline: PipelineKey,
    pub(crate) mesh: MeshAllocation,
}

/// Material features of a pipeline. Unused shader paths cost occupancy, so pipelines are specialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MaterialFeatures {
    /// No textures.
    Base,
    /// Textures.
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

    /// Whether shadow casters need an alpha mask.
    pub(crate) fn needs_alpha_mask(self) -> bool {
        matches!(self, Self::Mask | Self::AlphaToCoverage | Self::Blend)
    }

    /// Whether draws are blended and sorted back to front.
    pub(crate) fn is_transparent(self) -> bool {
        matches!(self, Self::Blend | Self::Multiply)
    }
}

/// Culled faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CullMode {
    None,
    Front,
    Back,
}
