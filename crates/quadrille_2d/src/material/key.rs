//! Keys of materials' pipelines.

use quadrille::material::AsBindGroup;

#[cfg(feature = "ui")]
use super::UiMaterial;

/// bevy's pipeline of 2D materials, which has nothing that a material could change here.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Material2dPipeline;

/// Key of a material's pipelines, for [`Material2d::specialize`](crate::Material2d::specialize) and
/// [`MaterialExtension2d::specialize`](crate::MaterialExtension2d::specialize).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Material2dKey<M: AsBindGroup> {
    /// [`AsBindGroup::bind_group_data`] of the material.
    pub bind_group_data: M::Data,
}

impl<M: AsBindGroup> Material2dKey<M> {
    pub(super) fn new(bind_group_data: M::Data) -> Self {
        Self { bind_group_data }
    }
}

/// Key of a node material's pipelines, for [`UiMaterial::specialize`].
#[cfg(feature = "ui")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UiMaterialKey<M: UiMaterial> {
    /// [`AsBindGroup::bind_group_data`] of the material.
    pub bind_group_data: M::Data,
}

#[cfg(feature = "ui")]
impl<M: UiMaterial> UiMaterialKey<M> {
    pub(super) fn new(bind_group_data: M::Data) -> Self {
        Self { bind_group_data }
    }
}
