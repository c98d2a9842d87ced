//! Materials of nodes.

use std::marker::PhantomData;

use bevy_app::{App, Plugin};
use bevy_asset::{AsAssetId, Asset, AssetId, Handle};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_ecs::template::FromTemplate;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use bevy_ui::prelude::Node;
use quadrille::material::AsBindGroup;
use quadrille_content::materials::RenderPipelineDescriptor;
use quadrille_content::shaders::ShaderRef;

use super::key::UiMaterialKey;
use super::plugin::MaterialRegistration;
use crate::instances::mesh_instance::AlphaMode;
use crate::scene::materials::MaterialKind;

/// A material of nodes with its own fragment shader, drawn by [`MaterialNode`] if the app has its [`UiMaterialPlugin`].
///
/// Names and defaults are bevy's. The shader declares its uniforms, textures and samplers at `@group(1)` with the
/// numbers of the material's attributes, and takes `bevy_ui_render::ui_vertex_output::UiVertexOutput`: it draws border
/// and rounded corners itself. Its color is blended over the node's background, border and image, and below its text.
/// The node determines clipping and stacking.
///
/// ```
/// use quadrille_2d::prelude::*;
///
/// #[derive(Asset, TypePath, AsBindGroup, Clone)]
/// struct Bar {
///     #[uniform(0)]
///     color: LinearRgba,
///     #[uniform(1)]
///     filled: f32,
/// }
///
/// impl UiMaterial for Bar {
///     fn fragment_shader() -> ShaderRef {
///         "shaders/bar.wgsl".into()
///     }
/// }
/// ```
///
/// ```wgsl
/// import bevy_ui_render::ui_vertex_output::UiVertexOutput;
///
/// @group(1) @binding(0) var<uniform> color: vec4f;
/// @group(1) @binding(1) var<uniform> filled: f32;
///
/// @fragment
/// fn fragment(node: UiVertexOutput) -> @location(0) vec4f {
///     return select(vec4f(0.0), color, node.uv.x < filled);
/// }
/// ```
///
/// Storage buffers and textures of all kinds are bound as for [`Material2d`](crate::Material2d). Not supported: vertex
/// shaders and `stack_z_offset`.
pub trait UiMaterial: AsBindGroup + Asset + Clone + Sized {
    /// The fragment shader. [`ShaderRef::Default`] draws white, as in bevy.
    fn fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// Changes the state of the pipelines for materials with this key, the value of
    /// [`bind_group_data`](AsBindGroup::bind_group_data).
    fn specialize(_descriptor: &mut RenderPipelineDescriptor, _key: UiMaterialKey<Self>) {}
}

/// The material of a [`Node`].
#[derive(Component, FromTemplate, Debug, Deref, DerefMut, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default)]
#[require(Node)]
pub struct MaterialNode<M: UiMaterial>(pub Handle<M>);

// A derived `Clone` requires `M: Clone`; without it, cloning an entity drops the material.
impl<M: UiMaterial> Clone for MaterialNode<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: UiMaterial> Default for MaterialNode<M> {
    fn default() -> Self {
        Self(Handle::default())
    }
}

impl<M: UiMaterial> From<Handle<M>> for MaterialNode<M> {
    fn from(handle: Handle<M>) -> Self {
        Self(handle)
    }
}

impl<M: UiMaterial> From<&MaterialNode<M>> for AssetId<M> {
    fn from(material: &MaterialNode<M>) -> Self {
        material.0.id()
    }
}

impl<M: UiMaterial> AsAssetId for MaterialNode<M> {
    type Asset = M;

    fn as_asset_id(&self) -> AssetId<M> {
        self.0.id()
    }
}

/// Draws nodes with materials of one type: [`MaterialNode<M>`]. Add it in addition to
/// [`Quadrille2dPlugin`](crate::Quadrille2dPlugin).
pub struct UiMaterialPlugin<M: UiMaterial>(PhantomData<fn() -> M>);

impl<M: UiMaterial> Default for UiMaterialPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

type Registration<M> = MaterialRegistration<M, MaterialNode<M>>;

impl<M: UiMaterial> Plugin for UiMaterialPlugin<M> {
    fn build(&self, app: &mut App) {
        Registration::<M>::build(app);
    }

    fn finish(&self, app: &mut App) {
        Registration::<M> {
            plugin: "UiMaterialPlugin",
            kind: MaterialKind::Node,
            vertex_shader: ShaderRef::Default,
            fragment_shader: M::fragment_shader(),
            default_shader: include_str!("../../shaders/node_default.wgsl"),
            alpha_mode: |_| Some(AlphaMode::Blend),
            depth_bias: |_| 0.0,
            specialize: |data, pipeline, _| {
                M::specialize(pipeline, UiMaterialKey::new(data));
                Ok(())
            },
            component: PhantomData,
        }
        .finish(app);
    }
}
