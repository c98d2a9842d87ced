//! Extensions of standard materials, by bevy's names.

use bevy_asset::Asset;
use bevy_mesh::MeshVertexBufferLayoutRef;
use bevy_reflect::{Reflect, impl_type_path};
use quadrille::material::{AsBindGroup, BindingValues, MaterialBinding};
use quadrille_content::materials::{RenderPipelineDescriptor, SpecializedMeshPipelineError};
use quadrille_content::shaders::ShaderRef;

use super::Material;
use super::pipeline::{
    MaterialExtensionKey, MaterialExtensionPipeline, MaterialPipeline, MaterialPipelineKey,
};
use crate::components::material::{AlphaMode, OpaqueRendererMethod, StandardMaterial};

/// Shaders and values that a standard material gets in addition: see [`ExtendedMaterial`]. Names and defaults are bevy's.
///
/// Bindings have numbers from 100 on, as in bevy. A shader takes the standard material with all its textures from
/// `bevy_pbr::render::pbr_fragment::pbr_input_from_standard_material`.
/// Pipelines are specialized by the base, as in bevy: clearcoat and diffuse transmission that a shader sets are evaluated if the
/// base has any.
///
/// ```
/// use quadrille_3d::prelude::*;
///
/// #[derive(Asset, TypePath, AsBindGroup, Clone, Default)]
/// struct Toon {
///     #[uniform(100)]
///     steps: u32,
/// }
///
/// impl MaterialExtension for Toon {
///     fn fragment_shader() -> ShaderRef {
///         "shaders/toon.wgsl".into()
///     }
/// }
///
/// type ToonMaterial = ExtendedMaterial<StandardMaterial, Toon>;
/// # let _ = MaterialPlugin::<ToonMaterial>::default();
/// ```
pub trait MaterialExtension: Asset + AsBindGroup + Clone + Sized {
    /// The vertex shader. [`ShaderRef::Default`] is that of standard materials.
    fn vertex_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// The fragment shader. [`ShaderRef::Default`] is standard shading.
    fn fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// Interpretation of alpha; `None` for that of the base.
    fn alpha_mode() -> Option<AlphaMode> {
        None
    }

    /// As [`Material::enable_prepass`].
    fn enable_prepass() -> bool {
        true
    }

    /// As [`Material::enable_shadows`].
    fn enable_shadows() -> bool {
        true
    }

    /// As [`Material::prepass_vertex_shader`].
    fn prepass_vertex_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// As [`Material::prepass_fragment_shader`].
    fn prepass_fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// As [`Material::deferred_vertex_shader`].
    fn deferred_vertex_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// As [`Material::deferred_fragment_shader`]. In bevy an extension without one is deferred by the shader of its base.
    fn deferred_fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// As [`Material::specialize`].
    ///
    /// # Errors
    /// Meshes with this layout are not drawn, and the error is logged once.
    fn specialize(
        _pipeline: &MaterialExtensionPipeline,
        _descriptor: &mut RenderPipelineDescriptor,
        _layout: &MeshVertexBufferLayoutRef,
        _key: MaterialExtensionKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        Ok(())
    }

    /// Whether opaque materials and masks are drawn with those that blend, after all surfaces.
    #[doc(hidden)]
    fn blends_opaque() -> bool {
        false
    }
}

/// A standard material with an extension. Add `MaterialPlugin::<ExtendedMaterial<StandardMaterial, E>>`.
///
/// Implements `Reflect` if the extension does; scenes and editors need `App::register_asset_reflect` for the type, as in bevy.
#[derive(Asset, Clone, Debug, Reflect)]
#[reflect(type_path = false)]
#[reflect(Clone)]
pub struct ExtendedMaterial<B: Asset + Clone, E: Asset + Clone> {
    /// The material that is extended: a [`StandardMaterial`].
    pub base: B,
    /// Shaders and values in addition.
    pub extension: E,
}

// A derived `TypePath` is reflection's, which the parameters need not implement.
impl_type_path!((in quadrille_3d) ExtendedMaterial<B: Asset + Clone, E: Asset + Clone>);

impl<B: Asset + Clone + Default, E: Asset + Clone + Default> Default for ExtendedMaterial<B, E> {
    fn default() -> Self {
        Self {
            base: B::default(),
            extension: E::default(),
        }
    }
}

impl<E: MaterialExtension> AsBindGroup for ExtendedMaterial<StandardMaterial, E> {
    type Data = E::Data;

    fn bind_group_data(&self) -> Self::Data {
        self.extension.bind_group_data()
    }

    fn bindings() -> Vec<MaterialBinding> {
        E::bindings()
    }

    fn write_bindings(&self, values: &mut BindingValues) {
        self.extension.write_bindings(values);
    }
}

impl<E: MaterialExtension> Material for ExtendedMaterial<StandardMaterial, E> {
    fn vertex_shader() -> ShaderRef {
        E::vertex_shader()
    }

    fn fragment_shader() -> ShaderRef {
        E::fragment_shader()
    }

    fn alpha_mode(&self) -> AlphaMode {
        match E::alpha_mode().unwrap_or(self.base.alpha_mode) {
            AlphaMode::Opaque | AlphaMode::Mask(_) | AlphaMode::AlphaToCoverage
                if E::blends_opaque() =>
            {
                AlphaMode::Blend
            }
            mode => mode,
        }
    }

    fn depth_bias(&self) -> f32 {
        self.base.depth_bias
    }

    fn reads_view_transmission_texture(&self) -> bool {
        self.base.is_transmissive()
    }

    fn enable_prepass() -> bool {
        E::enable_prepass()
    }

    fn enable_shadows() -> bool {
        E::enable_shadows()
    }

    fn prepass_vertex_shader() -> ShaderRef {
        E::prepass_vertex_shader()
    }

    fn prepass_fragment_shader() -> ShaderRef {
        E::prepass_fragment_shader()
    }

    fn opaque_render_method(&self) -> OpaqueRendererMethod {
        self.base.opaque_render_method
    }

    fn deferred_vertex_shader() -> ShaderRef {
        E::deferred_vertex_shader()
    }

    fn deferred_fragment_shader() -> ShaderRef {
        E::deferred_fragment_shader()
    }

    fn specialize(
        _pipeline: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let key = MaterialExtensionKey::new(key.bind_group_data);
        E::specialize(&MaterialExtensionPipeline, descriptor, layout, key)
    }

    fn standard_base(&self) -> Option<&StandardMaterial> {
        Some(&self.base)
    }

    fn extends_standard() -> bool {
        true
    }
}
