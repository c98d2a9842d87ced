//! Description of one material.

use std::sync::Arc;

use bevy_asset::AssetId;
use bevy_image::Image;
use quadrille::material::BindingValues;
use quadrille_content::materials::{Specialize, SpecializedMeshPipelineError};
use quadrille_content::meshes::MeshLayout;

use crate::components::material::{AlphaMode, OpaqueRendererMethod, StandardMaterial};
use crate::extract::materials;
use crate::pipelines::material_desc::{MaterialPipelineState, default_descriptor};

/// Description of one material, created by its type.
pub(crate) struct MaterialDesc {
    pub(crate) values: BindingValues,
    pub(crate) alpha_mode: AlphaMode,
    pub(crate) depth_bias: f32,
    pub(crate) reads_transmission: bool,
    pub(crate) opaque_render_method: OpaqueRendererMethod,
    /// Shared by materials with equal keys: [`Specializers`](quadrille_content::materials::Specializers).
    pub(crate) specialize: Arc<Specialize>,
    pub(crate) casts_shadows: bool,
    /// The standard material that it extends.
    pub(crate) base: Option<Box<StandardMaterial>>,
}

impl MaterialDesc {
    /// State of the pipelines for meshes of a layout.
    pub(super) fn pipeline(
        &self,
        layout: &MeshLayout,
    ) -> Result<MaterialPipelineState, SpecializedMeshPipelineError> {
        let mut desc = default_descriptor(layout, self.cull_mode());
        let before = desc.vertex.buffers.clone();
        (self.specialize)(&mut desc, &layout.reference)?;
        Ok(MaterialPipelineState::new(desc, &before, layout))
    }

    fn cull_mode(&self) -> Option<wgpu_types::Face> {
        let base = self.base.as_ref();
        base.map_or(Some(wgpu_types::Face::Back), |base| base.cull_mode)
    }

    /// Whether two materials of a type have equal pipelines for each layout.
    pub(super) fn has_pipelines_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.specialize, &other.specialize) && self.cull_mode() == other.cull_mode()
    }

    /// All images, those of the base included.
    pub(super) fn images(&self) -> impl Iterator<Item = AssetId<Image>> {
        let base = self.base.iter().flat_map(|base| materials::images(base));
        let of_base = base.filter_map(|(image, _)| image.as_ref());
        let own = self.values.images().flatten();
        own.chain(of_base).map(|image| image.id())
    }
}
