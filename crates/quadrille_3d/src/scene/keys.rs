//! Pipeline keys, and the material state in them.

use quadrille_content::meshes::{MeshAllocation, PrimitiveKind};
use wgpu_types::Face;

use crate::components::material::{AlphaMode, OpaqueRendererMethod};

/// Key of a mesh pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) primitive: PrimitiveKind,
    pub(crate) cull: CullMode,
    pub(crate) blend_mode: BlendMode,
    pub(crate) features: MaterialFeatures,
    /// Specular transmission: cameras with [`ScreenSpaceTransmission`](crate::ScreenSpaceTransmission) draw it after what is
    /// opaque.
    pub(crate) is_transmissive: bool,
    pub(crate) shader: MaterialShader,
    pub(crate) renderer: RendererMethod,
}

/// `OpaqueRendererMethod` of a material, with an order. In pipelines `Auto` stands for all but `Deferred`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum RendererMethod {
    #[default]
    Auto,
    Forward,
    Deferred,
}

impl RendererMethod {
    pub(crate) fn new(method: OpaqueRendererMethod) -> Self {
        match method {
            OpaqueRendererMethod::Auto => Self::Auto,
            OpaqueRendererMethod::Forward => Self::Forward,
            OpaqueRendererMethod::Deferred => Self::Deferred,
        }
    }
}

/// Shaders of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MaterialShader {
    /// Fragment shader of standard materials.
    #[default]
    Standard,
    /// Shaders of a material type of the program. Each version of their files has a new number.
    Custom {
        /// Number of the shaders with their fixed state.
        number: u32,
        /// Row of the one material that is drawn, if it has bindings of its own.
        material: Option<u32>,
    },
}

impl MaterialShader {
    /// The same shaders for any material.
    pub(crate) fn shared(self) -> Self {
        match self {
            Self::Standard => Self::Standard,
            Self::Custom { number, .. } => Self::Custom {
                number,
                material: None,
            },
        }
    }
}

impl PipelineKey {
    /// The key with which order-independent transparency draws meshes; `None` for those that it does not draw.
    pub(crate) fn order_independent(self) -> Option<Self> {
        let is_drawn =
            self.blend_mode == BlendMode::Blend && self.shader == MaterialShader::Standard;
        is_drawn.then_some(Self {
            blend_mode: BlendMode::OrderIndependent,
            ..self
        })
    }

    /// Whether the G-buffer holds the material, so that it can be deferred. The renderer of other shaders is forward unless
    /// one of them writes the G-buffer.
    pub(crate) fn fits_gbuffer(self) -> bool {
        let has_room = match self.shader {
            MaterialShader::Standard => self.features <= MaterialFeatures::Textured,
            MaterialShader::Custom { .. } => self.renderer != RendererMethod::Forward,
        };
        has_room
            && !self.is_transmissive
            && matches!(self.blend_mode, BlendMode::Opaque | BlendMode::Mask)
    }

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

/// Material features of a pipeline; each includes those before it. Unused shader paths cost occupancy, and unused
/// vertex outputs bandwidth, so pipelines are specialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MaterialFeatures {
    /// No textures.
    Base,
    /// A base color texture alone.
    BaseColorTexture,
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
    /// Replaces the target in a fraction of a pixel's samples, given by alpha.
    AlphaToCoverage,
    /// Blends over the target by alpha, with premultiplied color.
    Blend,
    /// Blends over the target by alpha, with color that is not premultiplied.
    StraightAlpha,
    /// Adds the fragment, premultiplied, to the lists of order-independent transparency instead.
    OrderIndependent,
    /// Multiplies the target.
    Multiply,
    /// Multiplies the target by color that was multiplied by alpha, and lets through what alpha leaves.
    PremultipliedMultiply,
}

impl BlendMode {
    /// The mode for a program's shader, which returns colors by the conventions of bevy's material shaders:
    /// premultiplied for `AlphaMode::Add`, `AlphaMode::Premultiplied` and `AlphaMode::Multiply`, but not for
    /// `AlphaMode::Blend`.
    pub(crate) fn of_custom(mode: AlphaMode) -> Self {
        match mode {
            AlphaMode::Blend => Self::StraightAlpha,
            AlphaMode::Multiply => Self::PremultipliedMultiply,
            mode => Self::new(mode),
        }
    }

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
        matches!(
            self,
            Self::Mask | Self::AlphaToCoverage | Self::Blend | Self::StraightAlpha
        )
    }

    /// Whether draws are blended and sorted back to front.
    pub(crate) fn is_transparent(self) -> bool {
        matches!(
            self,
            Self::Blend
                | Self::StraightAlpha
                | Self::OrderIndependent
                | Self::Multiply
                | Self::PremultipliedMultiply
        )
    }
}

/// Culled faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CullMode {
    None,
    Front,
    Back,
}

impl CullMode {
    pub(crate) fn new(cull_mode: Option<Face>) -> Self {
        match cull_mode {
            None => Self::None,
            Some(Face::Front) => Self::Front,
            Some(Face::Back) => Self::Back,
        }
    }
}

/// Lighting features that a pipeline has code for. Unused code costs registers, so pipelines are specialized for the
/// features of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct LightingFeatures {
    /// Point, spot and rectangular lights.
    pub(crate) ranged_lights: bool,
    /// Rectangular lights, which also change the rounding of others.
    pub(crate) rect_lights: bool,
    pub(crate) shadows: bool,
    /// Shadows that are soft by the size of their light.
    pub(crate) soft_shadows: bool,
    /// Environment maps and irradiance volumes.
    pub(crate) environments: bool,
    pub(crate) fog: bool,
    /// Contact shadows of lights and views.
    pub(crate) contact_shadows: bool,
    /// Ambient occlusion maps of views.
    pub(crate) ambient_occlusion: bool,
    /// Textures that lights project.
    pub(crate) light_textures: bool,
    /// Clustered decals.
    pub(crate) decals: bool,
    /// Directional lights behind an atmosphere.
    pub(crate) atmosphere: bool,
    /// `ShadowFilteringMethod` of all views with shadows; `None`: they differ.
    pub(crate) shadow_filter: Option<u32>,
}

impl LightingFeatures {
    /// Whether a pipeline with these features can draw a frame that needs `needed`.
    pub(crate) fn covers(self, needed: Self) -> bool {
        [
            (self.ranged_lights, needed.ranged_lights),
            (self.rect_lights, needed.rect_lights),
            (self.shadows, needed.shadows),
            (self.soft_shadows, needed.soft_shadows),
            (self.environments, needed.environments),
            (self.fog, needed.fog),
            (self.contact_shadows, needed.contact_shadows),
            (self.ambient_occlusion, needed.ambient_occlusion),
            (self.light_textures, needed.light_textures),
            (self.decals, needed.decals),
            (self.atmosphere, needed.atmosphere),
        ]
        .into_iter()
        .all(|(has, needs)| has || !needs)
            && (!needed.shadows
                || self
                    .shadow_filter
                    .is_none_or(|filter| needed.shadow_filter == Some(filter)))
    }
}

#[cfg(test)]
mod tests;
