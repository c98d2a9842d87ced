//! Keys of materials' pipelines.

use super::{Material, MaterialExtension};

/// bevy's pipeline of materials, which has nothing that a material could change here.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MaterialPipeline;

/// As [`MaterialPipeline`], for extensions.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MaterialExtensionPipeline;

/// Key of a material's pipelines, for [`Material::specialize`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaterialPipelineKey<M: Material> {
    /// [`AsBindGroup::bind_group_data`](quadrille::material::AsBindGroup::bind_group_data) of the material.
    pub bind_group_data: M::Data,
}

impl<M: Material> MaterialPipelineKey<M> {
    pub(crate) fn new(bind_group_data: M::Data) -> Self {
        Self { bind_group_data }
    }
}

/// Key of an extension's pipelines, for [`MaterialExtension::specialize`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaterialExtensionKey<E: MaterialExtension> {
    /// [`AsBindGroup::bind_group_data`](quadrille::material::AsBindGroup::bind_group_data) of the extension.
    pub bind_group_data: E::Data,
}

impl<E: MaterialExtension> MaterialExtensionKey<E> {
    pub(crate) fn new(bind_group_data: E::Data) -> Self {
        Self { bind_group_data }
    }
}
