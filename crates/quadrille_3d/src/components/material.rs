//! What surfaces look like: bevy's `StandardMaterial` and `MeshMaterial3d` by name and field. bevy
//! has them in a crate that needs `wgpu`, so this crate defines them.

use bevy_asset::{AsAssetId, Asset, AssetId, Handle};
use bevy_color::{Alpha as _, Color, LinearRgba};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_ecs::template::FromTemplate;
use bevy_image::Image;
use bevy_math::{Affine2, Mat2, Vec2};
use bevy_mesh::UvChannel;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use wgpu_types::Face;

#[cfg(feature = "bevy_material")]
pub use bevy_material::AlphaMode;

#[cfg(not(feature = "bevy_material"))]
pub use alpha_mode::AlphaMode;

#[cfg(not(feature = "bevy_material"))]
mod alpha_mode;

/// How the place is found that is seen of a surface with a [`StandardMaterial::depth_map`], with the names of
/// bevy's type: first in layers, then between two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum ParallaxMappingMethod {
    /// As if the surface were straight between two layers.
    #[default]
    Occlusion,
    /// By halving: dearer, and sharper where the surface is not straight.
    Relief {
        /// How often.
        max_steps: u32,
    },
}

impl ParallaxMappingMethod {
    /// [`Self::Relief`] with five steps.
    pub const DEFAULT_RELIEF_MAPPING: Self = Self::Relief { max_steps: 5 };
}

/// A surface by its physical properties: bevy's type of this name, as far as it is drawn (the
/// README has the table).
///
/// ```
/// use quadrille_3d::prelude::*;
/// let gold = StandardMaterial {
///     base_color: Color::srgb(1.0, 0.78, 0.34),
///     metallic: 1.0,
///     perceptual_roughness: 0.3,
///     ..StandardMaterial::default()
/// };
/// assert_eq!(gold.alpha_mode, AlphaMode::Opaque);
/// assert_eq!(StandardMaterial::from(Color::WHITE.with_alpha(0.5)).alpha_mode, AlphaMode::Blend);
/// ```
#[derive(Asset, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct StandardMaterial {
    /// The colour: of what is scattered, and of mirror images in metal. Multiplied with the colours
    /// of the mesh's vertices if it has any.
    pub base_color: Color,
    /// Which texture coordinates `base_color_texture` is seen by.
    pub base_color_channel: UvChannel,
    /// Multiplied with `base_color`. Until an image is loaded the material is drawn without it.
    pub base_color_texture: Option<Handle<Image>>,
    /// The light that the surface sends out by itself, which lights nothing else: 1 is white on
    /// screen, or, by `emissive_exposure_weight`, in candela per square metre.
    pub emissive: LinearRgba,
    /// How much the camera's exposure changes `emissive`: 0 not at all, 1 as any other light.
    pub emissive_exposure_weight: f32,
    /// Which texture coordinates `emissive_texture` is seen by.
    pub emissive_channel: UvChannel,
    /// Multiplied with `emissive`.
    pub emissive_texture: Option<Handle<Image>>,
    /// 0.089 is the smoothest, 1 the roughest; its square is the GGX parameter alpha.
    pub perceptual_roughness: f32,
    /// 1 for metal, 0 for all else.
    pub metallic: f32,
    /// Which texture coordinates `metallic_roughness_texture` is seen by.
    pub metallic_roughness_channel: UvChannel,
    /// Blue is multiplied with `metallic`, green with `perceptual_roughness`: an image of linear
    /// numbers, not sRGB. Of one with two channels red is roughness and green metal.
    pub metallic_roughness_texture: Option<Handle<Image>>,
    /// Which texture coordinates `normal_map_texture` is seen by.
    pub normal_map_channel: UvChannel,
    /// Where the surface looks within the space of normal, tangent and their cross product: an image
    /// of linear numbers from 0 for -1 to 1 for 1. Of one with two channels blue is computed. The mesh
    /// needs tangents (`Mesh::generate_tangents`), else nothing is seen of it.
    pub normal_map_texture: Option<Handle<Image>>,
    /// Green of the normal map runs down, as in those made for Direct3D.
    pub flip_normal_map_y: bool,
    /// Which texture coordinates `occlusion_texture` is seen by.
    pub occlusion_channel: UvChannel,
    /// Red is how much ambient light arrives: an image of linear numbers, not sRGB.
    pub occlusion_texture: Option<Handle<Image>>,
    /// Which texture coordinates `specular_texture` is seen by.
    pub specular_channel: UvChannel,
    /// Half of its alpha is multiplied with `reflectance`, as bevy does: 2 keeps that then.
    pub specular_texture: Option<Handle<Image>>,
    /// Which texture coordinates `specular_tint_texture` is seen by.
    pub specular_tint_channel: UvChannel,
    /// Multiplied with `specular_tint`.
    pub specular_tint_texture: Option<Handle<Image>>,
    /// How much of the surface has a clear varnish over it.
    pub clearcoat: f32,
    /// Which texture coordinates `clearcoat_texture` is seen by.
    pub clearcoat_channel: UvChannel,
    /// Red is multiplied with `clearcoat`.
    pub clearcoat_texture: Option<Handle<Image>>,
    /// The roughness of the varnish.
    pub clearcoat_perceptual_roughness: f32,
    /// Which texture coordinates `clearcoat_roughness_texture` is seen by.
    pub clearcoat_roughness_channel: UvChannel,
    /// Green is multiplied with `clearcoat_perceptual_roughness`.
    pub clearcoat_roughness_texture: Option<Handle<Image>>,
    /// Which texture coordinates `clearcoat_normal_texture` is seen by.
    pub clearcoat_normal_channel: UvChannel,
    /// A normal map for the varnish; without one it is as smooth as the mesh.
    pub clearcoat_normal_texture: Option<Handle<Image>>,
    /// How much longer than broad highlights are, along the mesh's tangents: from 0 to 1.
    pub anisotropy_strength: f32,
    /// Turns them from the tangent towards the other side, in radians.
    pub anisotropy_rotation: f32,
    /// Which texture coordinates `anisotropy_texture` is seen by.
    pub anisotropy_channel: UvChannel,
    /// Red and green are a direction to turn by, from 0 for -1 to 1 for 1; blue is multiplied with
    /// `anisotropy_strength`.
    pub anisotropy_texture: Option<Handle<Image>>,
    /// Red is how deep the surface lies, as part of `parallax_depth_scale`: all images are moved as if it did. An
    /// image of linear numbers; the mesh needs tangents.
    pub depth_map: Option<Handle<Image>>,
    /// The deepest place, in units of texture coordinates: above 0.1 it looks distorted.
    pub parallax_depth_scale: f32,
    /// How the place between two layers is found.
    pub parallax_mapping_method: ParallaxMappingMethod,
    /// How many layers are looked at where the eye looks along the surface; fewer from above, and below 1 nothing
    /// is moved.
    pub max_parallax_layer_count: f32,
    /// Transforms the mesh's texture coordinates, both of them.
    pub uv_transform: Affine2,
    /// How much what is no metal mirrors: 0.5 is 4 % of what comes from the front.
    pub reflectance: f32,
    /// The colour of mirror images in what is no metal.
    pub specular_tint: Color,
    /// How much of what would be scattered back comes out on the other side instead, scattered evenly: of leaves,
    /// paper, wax. Light that falls on the other side is seen on this one.
    pub diffuse_transmission: f32,
    /// How far behind the surface its other side lies, in units of the mesh: on its way there light is lost by
    /// `attenuation_color`, and there shadows fall on what has a
    /// [`TransmittedShadowReceiver`](bevy_light::TransmittedShadowReceiver).
    pub thickness: f32,
    /// After what way within the surface white light has `attenuation_color`, in units of the world.
    pub attenuation_distance: f32,
    /// What is left of white light after `attenuation_distance`.
    pub attenuation_color: Color,
    /// Back faces are lit from their side.
    pub double_sided: bool,
    /// The faces that are not drawn.
    #[reflect(ignore, clone)]
    pub cull_mode: Option<Face>,
    /// The base colour is what is seen, without any light.
    pub unlit: bool,
    /// A camera's [`DistanceFog`](crate::DistanceFog) lies over the surface.
    pub fog_enabled: bool,
    /// What the texels of a [`Lightmap`](crate::Lightmap) are multiplied with: candela per square metre for
    /// each unit of them.
    pub lightmap_exposure: f32,
    /// How alpha is taken.
    pub alpha_mode: AlphaMode,
    /// Draws the surface nearer by so many of the least steps of depth, and sorts it nearer by so many
    /// units of length where it is seen through: for what lies on another surface.
    pub depth_bias: f32,
}

impl Default for StandardMaterial {
    /// White, half rough, opaque.
    fn default() -> Self {
        Self {
            base_color: Color::WHITE,
            base_color_channel: UvChannel::Uv0,
            base_color_texture: None,
            emissive: LinearRgba::BLACK,
            emissive_exposure_weight: 0.0,
            emissive_channel: UvChannel::Uv0,
            emissive_texture: None,
            perceptual_roughness: 0.5,
            metallic: 0.0,
            metallic_roughness_channel: UvChannel::Uv0,
            metallic_roughness_texture: None,
            normal_map_channel: UvChannel::Uv0,
            normal_map_texture: None,
            flip_normal_map_y: false,
            occlusion_channel: UvChannel::Uv0,
            occlusion_texture: None,
            uv_transform: Affine2::IDENTITY,
            reflectance: 0.5,
            specular_tint: Color::WHITE,
            specular_channel: UvChannel::Uv0,
            specular_texture: None,
            specular_tint_channel: UvChannel::Uv0,
            specular_tint_texture: None,
            clearcoat: 0.0,
            clearcoat_channel: UvChannel::Uv0,
            clearcoat_texture: None,
            clearcoat_perceptual_roughness: 0.5,
            clearcoat_roughness_channel: UvChannel::Uv0,
            clearcoat_roughness_texture: None,
            clearcoat_normal_channel: UvChannel::Uv0,
            clearcoat_normal_texture: None,
            anisotropy_strength: 0.0,
            anisotropy_rotation: 0.0,
            anisotropy_channel: UvChannel::Uv0,
            anisotropy_texture: None,
            depth_map: None,
            parallax_depth_scale: 0.1,
            parallax_mapping_method: ParallaxMappingMethod::Occlusion,
            max_parallax_layer_count: 16.0,
            diffuse_transmission: 0.0,
            thickness: 0.0,
            attenuation_distance: f32::INFINITY,
            attenuation_color: Color::WHITE,
            double_sided: false,
            cull_mode: Some(Face::Back),
            unlit: false,
            fog_enabled: true,
            lightmap_exposure: 1.0,
            alpha_mode: AlphaMode::Opaque,
            depth_bias: 0.0,
        }
    }
}

impl StandardMaterial {
    /// Mirrors images from left to right.
    pub const FLIP_HORIZONTAL: Affine2 = Affine2 {
        matrix2: Mat2::from_cols(Vec2::NEG_X, Vec2::Y),
        translation: Vec2::X,
    };

    /// Mirrors images from top to bottom.
    pub const FLIP_VERTICAL: Affine2 = Affine2 {
        matrix2: Mat2::from_cols(Vec2::X, Vec2::NEG_Y),
        translation: Vec2::Y,
    };

    /// Mirrors the images.
    pub fn flip(&mut self, horizontal: bool, vertical: bool) {
        for (flips, by) in [
            (horizontal, Self::FLIP_HORIZONTAL),
            (vertical, Self::FLIP_VERTICAL),
        ] {
            if flips {
                self.uv_transform = by * self.uv_transform;
            }
        }
    }

    /// The same with its images mirrored.
    #[must_use]
    pub fn flipped(mut self, horizontal: bool, vertical: bool) -> Self {
        self.flip(horizontal, vertical);
        self
    }
}

impl StandardMaterial {
    /// A plain colour, opaque if it is, as [`From<Color>`] makes it of any kind of colour.
    pub fn from_color(color: impl Into<Color>) -> Self {
        Self::from(color.into())
    }
}

impl From<Color> for StandardMaterial {
    /// A plain colour, opaque if it is.
    fn from(base_color: Color) -> Self {
        let alpha_mode = if base_color.alpha() < 1.0 {
            AlphaMode::Blend
        } else {
            AlphaMode::Opaque
        };
        Self {
            base_color,
            alpha_mode,
            ..Self::default()
        }
    }
}

impl From<Handle<Image>> for StandardMaterial {
    fn from(texture: Handle<Image>) -> Self {
        Self {
            base_color_texture: Some(texture),
            ..Self::default()
        }
    }
}

impl From<LinearRgba> for StandardMaterial {
    fn from(color: LinearRgba) -> Self {
        Self::from(Color::from(color))
    }
}

/// The material of a [`Mesh3d`](bevy_mesh::Mesh3d). Those of [`StandardMaterial`] are drawn.
///
/// It may stand in a scene of `bsn!`, as bevy's: `MeshMaterial3d::<StandardMaterial>(asset_value(color))`.
#[derive(Component, FromTemplate, Debug, Deref, DerefMut, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default)]
pub struct MeshMaterial3d<M: Asset>(pub Handle<M>);

// A derived `Clone` asks for `M: Clone`, and entities would be cloned without their material.
impl<M: Asset> Clone for MeshMaterial3d<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Asset> Default for MeshMaterial3d<M> {
    fn default() -> Self {
        Self(Handle::default())
    }
}

impl<M: Asset> From<Handle<M>> for MeshMaterial3d<M> {
    fn from(handle: Handle<M>) -> Self {
        Self(handle)
    }
}

impl<M: Asset> From<&MeshMaterial3d<M>> for AssetId<M> {
    fn from(material: &MeshMaterial3d<M>) -> Self {
        material.id()
    }
}

impl<M: Asset> From<MeshMaterial3d<M>> for AssetId<M> {
    fn from(material: MeshMaterial3d<M>) -> Self {
        material.id()
    }
}

impl<M: Asset> AsAssetId for MeshMaterial3d<M> {
    type Asset = M;

    fn as_asset_id(&self) -> AssetId<M> {
        self.0.id()
    }
}
