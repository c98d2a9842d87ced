//! Materials of sprites.

use std::marker::PhantomData;

use bevy_app::{App, Plugin};
use bevy_asset::{AsAssetId, Asset, AssetId, Handle};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_ecs::template::FromTemplate;
use bevy_mesh::MeshVertexBufferLayoutRef;
use bevy_reflect::Reflect;
use quadrille::material::AsBindGroup;
use quadrille_content::materials::{RenderPipelineDescriptor, SpecializedMeshPipelineError};
use quadrille_content::shaders::ShaderRef;

use super::key::{Material2dKey, Material2dPipeline};
use super::plugin::MaterialRegistration;
use crate::components::material::AlphaMode2d;
use crate::scene::materials::MaterialKind;

/// An effect on sprites by its own fragment shader, drawn by [`SpriteMaterial`] if the app has its
/// [`SpriteMaterialPlugin`].
///
/// Names are bevy's. The shader declares its bindings like that of a [`Material2d`](crate::Material2d); numbers from 20
/// on are free in bevy as well. It imports functions for the sprite's image from
/// `bevy_sprite_render::sprite_mesh::functions`: `sample_final_color(uv, instance_index)` applies tint and alpha mode,
/// `sample_sprite_texture` does not, and `get_final_color(color, instance_index)` applies both to a color. `uv` covers
/// the sprite's rectangle, or each slice or tile of a sliced or tiled sprite.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use quadrille_2d::prelude::*;
///
/// #[derive(Asset, TypePath, AsBindGroup, Clone)]
/// struct Dissolve {
///     #[uniform(20)]
///     amount: f32,
/// }
///
/// impl MaterialExtension2d for Dissolve {
///     fn fragment_shader() -> Option<ShaderRef> {
///         Some("shaders/dissolve.wgsl".into())
///     }
/// }
///
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>, mut materials: ResMut<Assets<Dissolve>>) {
///     let sprite = Sprite::from_image(assets.load("bird.png"));
///     commands.spawn((sprite, SpriteMaterial(materials.add(Dissolve { amount: 0.5 }))));
/// }
/// ```
///
/// ```wgsl
/// import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;
/// import bevy_sprite_render::sprite_mesh::functions::sample_final_color;
///
/// @group(constants::MATERIAL_BIND_GROUP) @binding(20) var<uniform> amount: f32;
///
/// @fragment
/// fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
///     let color = sample_final_color(mesh.uv, mesh.instance_index);
///     return vec4f(color.rgb, color.a * (1.0 - amount));
/// }
/// ```
pub trait MaterialExtension2d: AsBindGroup + Asset + Clone + Sized {
    /// The vertex shader; `None` is that of all sprites, whose vertices are the corners of a unit square.
    fn vertex_shader() -> Option<ShaderRef> {
        None
    }

    /// The fragment shader; `None` draws the sprite without an effect.
    fn fragment_shader() -> Option<ShaderRef> {
        None
    }

    /// Added to the sprite's z in the drawing order; `None` is 0.
    fn depth_bias(&self) -> Option<f32> {
        None
    }

    /// Alpha mode that replaces the sprite's.
    fn alpha_mode(&self) -> Option<AlphaMode2d> {
        None
    }

    /// As [`Material2d::specialize`](crate::Material2d::specialize).
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

/// The effect on a [`Sprite`](bevy_sprite::Sprite). Of several types on one entity the one that changed last is drawn.
#[derive(Component, FromTemplate, Debug, Deref, DerefMut, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone)]
pub struct SpriteMaterial<M: Asset>(pub Handle<M>);

// A derived `Clone` requires `M: Clone`; without it, cloning an entity drops the material.
impl<M: Asset> Clone for SpriteMaterial<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Asset> AsAssetId for SpriteMaterial<M> {
    type Asset = M;

    fn as_asset_id(&self) -> AssetId<M> {
        self.0.id()
    }
}

/// Draws sprites with materials of one type: [`SpriteMaterial<M>`]. Add it in addition to
/// [`Quadrille2dPlugin`](crate::Quadrille2dPlugin).
pub struct SpriteMaterialPlugin<M: MaterialExtension2d>(PhantomData<fn() -> M>);

impl<M: MaterialExtension2d> Default for SpriteMaterialPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

type Registration<M> = MaterialRegistration<M, SpriteMaterial<M>>;

impl<M: MaterialExtension2d> Plugin for SpriteMaterialPlugin<M> {
    fn build(&self, app: &mut App) {
        Registration::<M>::build(app);
    }

    fn finish(&self, app: &mut App) {
        Registration::<M> {
            plugin: "SpriteMaterialPlugin",
            kind: MaterialKind::Sprite,
            vertex_shader: M::vertex_shader().unwrap_or_default(),
            fragment_shader: M::fragment_shader().unwrap_or_default(),
            default_shader: include_str!("../../shaders/sprite_default.wgsl"),
            alpha_mode: |material| material.alpha_mode().map(Into::into),
            depth_bias: |material| material.depth_bias().unwrap_or_default(),
            specialize: |data, pipeline, layout| {
                let key = Material2dKey::new(data);
                M::specialize(&Material2dPipeline, pipeline, layout, key)
            },
            component: PhantomData,
        }
        .finish(app);
    }
}
