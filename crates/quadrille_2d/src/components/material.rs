//! Materials of 2D meshes: bevy's `ColorMaterial` and `MeshMaterial2d` by name and field. bevy defines them in a
//! crate that needs `wgpu`.

use bevy_asset::{AsAssetId, Asset, AssetId, Handle};
use bevy_color::{Alpha as _, Color};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::template::FromTemplate;
use bevy_ecs::world::DeferredWorld;
use bevy_image::Image;
use bevy_math::Affine2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::ecs::ContentKind;
use quadrille_content::warnings::warn_undrawn_material;

use crate::instances::mesh_instance::AlphaMode;

/// Alpha mode of a 2D material.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum AlphaMode2d {
    /// Alpha is ignored and set to 1.
    #[default]
    Opaque,
    /// Alpha below the threshold becomes 0, all other alpha 1.
    Mask(f32),
    /// Blended over the target by alpha ("over" operator).
    Blend,
}

impl From<AlphaMode2d> for AlphaMode {
    fn from(mode: AlphaMode2d) -> Self {
        match mode {
            AlphaMode2d::Opaque => Self::Opaque,
            AlphaMode2d::Mask(threshold) => Self::Mask(threshold),
            AlphaMode2d::Blend => Self::Blend,
        }
    }
}

/// Base color and optional texture of a 2D mesh, multiplied together and with the mesh's vertex colors.
#[derive(Asset, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ColorMaterial {
    /// Base color; tints the texture.
    pub color: Color,
    /// Alpha mode of the material.
    pub alpha_mode: AlphaMode2d,
    /// Transforms the mesh's texture coordinates.
    pub uv_transform: Affine2,
    /// Texture; `None` is white.
    pub texture: Option<Handle<Image>>,
}

impl Default for ColorMaterial {
    /// White, alpha-blended.
    fn default() -> Self {
        Self {
            color: Color::WHITE,
            alpha_mode: AlphaMode2d::Blend,
            uv_transform: Affine2::IDENTITY,
            texture: None,
        }
    }
}

impl From<Color> for ColorMaterial {
    /// Untextured material; opaque if the color's alpha is 1, else blended.
    fn from(color: Color) -> Self {
        let alpha_mode = if color.alpha() < 1.0 {
            AlphaMode2d::Blend
        } else {
            AlphaMode2d::Opaque
        };
        Self {
            color,
            alpha_mode,
            ..Self::default()
        }
    }
}

impl From<Handle<Image>> for ColorMaterial {
    fn from(texture: Handle<Image>) -> Self {
        Self {
            texture: Some(texture),
            ..Self::default()
        }
    }
}

/// The material of a [`Mesh2d`](bevy_mesh::Mesh2d): a [`ColorMaterial`], or a `Material2d` with its plugin.
///
/// A scene of `bsn!` may contain it, like bevy's.
#[derive(Component, FromTemplate, Debug, Deref, DerefMut, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default)]
#[component(on_insert = warn_if_undrawn::<M>)]
pub struct MeshMaterial2d<M: Asset>(pub Handle<M>);

/// Warns once of each type of material that is not drawn.
fn warn_if_undrawn<M: Asset>(world: DeferredWorld, context: HookContext) {
    let names = ["MeshMaterial2d", "ColorMaterial"];
    warn_undrawn_material::<MeshMaterial2d<M>, M>(world, context.entity, ContentKind::TwoD, names);
}

// A derived `Clone` requires `M: Clone`; without it, cloning an entity drops the material.
impl<M: Asset> Clone for MeshMaterial2d<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Asset> Default for MeshMaterial2d<M> {
    fn default() -> Self {
        Self(Handle::default())
    }
}

impl<M: Asset> From<Handle<M>> for MeshMaterial2d<M> {
    fn from(handle: Handle<M>) -> Self {
        Self(handle)
    }
}

impl<M: Asset> AsAssetId for MeshMaterial2d<M> {
    type Asset = M;

    fn as_asset_id(&self) -> AssetId<M> {
        self.0.id()
    }
}
