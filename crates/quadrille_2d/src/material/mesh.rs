//! Materials of 2D meshes.

use std::marker::PhantomData;

use bevy_app::{App, Plugin};
use bevy_asset::Asset;
use bevy_mesh::MeshVertexBufferLayoutRef;
use quadrille::material::AsBindGroup;
use quadrille_content::materials::{RenderPipelineDescriptor, SpecializedMeshPipelineError};
use quadrille_content::shaders::ShaderRef;

use super::key::{Material2dKey, Material2dPipeline};
use super::plugin::MaterialRegistration;
use crate::components::material::{AlphaMode2d, MeshMaterial2d};
use crate::scene::materials::MaterialKind;

/// A material with its own shaders, drawn by `MeshMaterial2d` if the app has its [`Material2dPlugin`].
///
/// Names and defaults are bevy's. The shader declares its uniforms, textures and samplers at
/// `@group(constants::MATERIAL_BIND_GROUP)`, or `@group(2)`, with the numbers of the material's attributes, and takes
/// `bevy_sprite_render::mesh2d::vertex_output::VertexOutput`. Meshes are sorted by z with everything else in 2D;
/// neighbors in draw order with materials of one type and the same images are one draw.
///
/// ```
/// use quadrille_2d::prelude::*;
///
/// #[derive(Asset, TypePath, AsBindGroup, Clone)]
/// struct Stripes {
///     #[uniform(0)]
///     color: LinearRgba,
///     #[texture(1)]
///     #[sampler(2)]
///     pattern: Option<Handle<Image>>,
/// }
///
/// impl Material2d for Stripes {
///     fn fragment_shader() -> ShaderRef {
///         "shaders/stripes.wgsl".into()
///     }
/// }
/// ```
///
/// ```wgsl
/// import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;
///
/// @group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
/// @group(constants::MATERIAL_BIND_GROUP) @binding(1) var pattern: texture_2d<f32>;
/// @group(constants::MATERIAL_BIND_GROUP) @binding(2) var pattern_sampler: sampler;
///
/// @fragment
/// fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
///     return color * textureSample(pattern, pattern_sampler, mesh.uv);
/// }
/// ```
///
/// Vertex shaders take `bevy_sprite_render::mesh2d::vertex_input::Vertex`: meshes have positions, texture coordinates and
/// colors. `bevy_sprite_render::mesh2d::view_bindings` has `view` and `globals`, the time. Bounds for culling are those of
/// the mesh, whatever a vertex shader does: see `NoFrustumCulling`. An unusable shader is logged as an error, and its
/// materials are magenta, as one is whose image or buffer does not fit.
///
/// Vertex attributes of one's own are those that [`specialize`](Self::specialize) takes from the layout of the mesh, once
/// for each layout: `layout.0.get_layout(&[Mesh::ATTRIBUTE_POSITION.at_shader_location(0), OWN.at_shader_location(1)])?`.
/// Meshes that lack one are not drawn, with one message.
///
/// Storage buffers, storage textures and textures of all kinds are bound as in 3D. The pass of a camera declares those of
/// the materials that it draws, so another pass may write or read them in the same frame, on any queue, in the order of the
/// systems (`before(draw_2d)`). A camera cannot sample an image that one of its materials has as a storage texture.
pub trait Material2d: AsBindGroup + Asset + Clone + Sized {
    /// The vertex shader. [`ShaderRef::Default`] is that of all meshes.
    fn vertex_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// The fragment shader. [`ShaderRef::Default`] draws magenta, as in bevy.
    fn fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// Added to the mesh's z in the drawing order.
    fn depth_bias(&self) -> f32 {
        0.0
    }

    /// Alpha mode. Blending is fixed-function; for [`AlphaMode2d::Mask`] the shader discards fragments itself.
    fn alpha_mode(&self) -> AlphaMode2d {
        AlphaMode2d::Opaque
    }

    /// Changes the state of the pipelines for materials with this key, the value of
    /// [`bind_group_data`](AsBindGroup::bind_group_data).
    ///
    /// # Errors
    /// The material is not drawn, and the error is logged.
    fn specialize(
        _pipeline: &Material2dPipeline,
        _descriptor: &mut RenderPipelineDescriptor,
        _layout: &MeshVertexBufferLayoutRef,
        _key: Material2dKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        Ok(())
    }
}

/// Draws 2D meshes with materials of one type: `MeshMaterial2d<M>`. Add it in addition to
/// [`Quadrille2dPlugin`](crate::Quadrille2dPlugin).
pub struct Material2dPlugin<M: Material2d>(PhantomData<fn() -> M>);

impl<M: Material2d> Default for Material2dPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

type Registration<M> = MaterialRegistration<M, MeshMaterial2d<M>>;

impl<M: Material2d> Plugin for Material2dPlugin<M> {
    fn build(&self, app: &mut App) {
        Registration::<M>::build(app);
    }

    fn finish(&self, app: &mut App) {
        Registration::<M> {
            plugin: "Material2dPlugin",
            kind: MaterialKind::Mesh,
            vertex_shader: M::vertex_shader(),
            fragment_shader: M::fragment_shader(),
            default_shader: include_str!("../../shaders/mesh_default.wgsl"),
            alpha_mode: |material| Some(material.alpha_mode().into()),
            depth_bias: M::depth_bias,
            specialize: |data, pipeline, layout| {
                let key = Material2dKey::new(data);
                M::specialize(&Material2dPipeline, pipeline, layout, key)
            },
            component: PhantomData,
        }
        .finish(app);
    }
}
