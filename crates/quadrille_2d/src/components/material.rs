//! Materials of 2D meshes: bevy's `ColorMaterial` and `MeshMaterial2d` by name and field. bevy has
//! them in a crate that needs `wgpu`, so they are defined here.

use bevy_asset::{AsAssetId, Asset, AssetId, Handle};
use bevy_color::{Alpha as _, Color};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_ecs::template::FromTemplate;
use bevy_image::Image;
use bevy_math::Affine2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

use crate::instances::mesh_instance::AlphaMode;

/// Alpha mode of a 2D material.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum AlphaMode2d {
    /// Alpha is taken as 1.
    #[default]
    Opaque,
    /// Alpha below the threshold is taken as 0, any other as 1.
    Mask(f32),
    /// The material covers what is behind it by its alpha.
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

/// A colour, an image, or an image tinted with a colour; multiplied with the colours of the
/// mesh's vertices if it has any.
#[derive(Asset, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ColorMaterial {
    /// The colour.
    pub color: Color,
    /// How alpha is taken.
    pub alpha_mode: AlphaMode2d,
    /// Transforms the mesh's texture coordinates.
    pub uv_transform: Affine2,
    /// The image; none is white.
    pub texture: Option<Handle<Image>>,
}

impl Default for ColorMaterial {
    /// White, with alpha blend: opaque where alpha is 1.
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
    /// A plain colour, opaque if it is.
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

/// The material of a [`Mesh2d`](bevy_mesh::Mesh2d). Meshes with a [`ColorMaterial`] are drawn.
///
/// A scene of `bsn!` may contain it, like bevy's.
#[derive(Component, FromTemplate, Debug, Deref, DerefMut, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default)]
pub struct MeshMaterial2d<M: Asset>(pub Handle<M>);

// A derived `Clone` asks for `M: Clone`, and entities would be cloned without their material.
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
