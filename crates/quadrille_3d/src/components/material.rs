//! Surface materials: bevy's `StandardMaterial` and `MeshMaterial3d` by name and field. bevy
//! has them in a crate that needs `wgpu`, so this crate defines them.

use bevy_asset::{AsAssetId, Asset, AssetId, Handle};
use bevy_color::{Alpha as _, Color, LinearRgba};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::template::FromTemplate;
use bevy_ecs::world::DeferredWorld;
use bevy_image::Image;
use bevy_math::{Affine2, Mat2, Vec2};
use bevy_mesh::UvChannel;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::ecs::ContentKind;
use quadrille_content::warnings::warn_undrawn_material;
use wgpu_types::Face;

#[cfg(feature = "bevy_material")]
pub use bevy_material::{AlphaMode, OpaqueRendererMethod};

#[cfg(not(feature = "bevy_material"))]
pub use {alpha_mode::AlphaMode, opaque_renderer_method::OpaqueRendererMethod};

// Tests compare it with bevy's type.
#[cfg(any(test, not(feature = "bevy_material")))]
#[cfg_attr(
    feature = "bevy_material",
    expect(unreachable_pub, reason = "exported without the feature alone")
)]
mod alpha_mode;
#[cfg(not(feature = "bevy_material"))]
mod opaque_renderer_method;

/// Parallax mapping method of a [`StandardMaterial::depth_map`], with the names of
/// bevy's type: first a search in layers, then between two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum ParallaxMappingMethod {
    /// Interpolates linearly between two layers (parallax occlusion mapping).
    #[default]
    Occlusion,
    /// Bisects between two layers (relief mapping): more expensive, and sharper on uneven surfaces.
    Relief {
        /// Number of bisections.
        max_steps: u32,
    },
}

impl ParallaxMappingMethod {
    /// [`Self::Relief`] with five steps.
    pub const DEFAULT_RELIEF_MAPPING: Self = Self::Relief { max_steps: 5 };
}

/// Physically based material, with the supported fields of bevy's type (table in the README).
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
    /// Diffuse color of dielectrics and specular color of metals. Multiplied with the vertex colors
    /// of the mesh if it has any.
    pub base_color: Color,
    /// UV channel of `base_color_texture`.
    pub base_color_channel: UvChannel,
    /// Multiplied with `base_color`. Until an image is loaded the material is drawn without it.
    pub base_color_texture: Option<Handle<Image>>,
    /// Emitted radiance, which does not light other surfaces: 1 is display white, or, by `emissive_exposure_weight`,
    /// in candela per square metre.
    pub emissive: LinearRgba,
    /// Weight of the camera's exposure on `emissive`: 0 ignores it, 1 applies it as to other light.
    pub emissive_exposure_weight: f32,
    /// UV channel of `emissive_texture`.
    pub emissive_channel: UvChannel,
    /// Multiplied with `emissive`.
    pub emissive_texture: Option<Handle<Image>>,
    /// 0.089 is the smoothest, 1 the roughest; its square is the GGX parameter alpha.
    pub perceptual_roughness: f32,
    /// 1 for metal, 0 for all else.
    pub metallic: f32,
    /// UV channel of `metallic_roughness_texture`.
    pub metallic_roughness_channel: UvChannel,
    /// Blue is multiplied with `metallic`, green with `perceptual_roughness`: an image of linear
    /// numbers, not sRGB. If it has two channels, red is roughness and green is metal.
    pub metallic_roughness_texture: Option<Handle<Image>>,
    /// UV channel of `normal_map_texture`.
    pub normal_map_channel: UvChannel,
    /// Normal map in tangent space: an image of linear numbers, from 0 for -1 to 1 for 1. Blue is
    /// computed if the image has two channels. The mesh needs tangents (`Mesh::generate_tangents`),
    /// else the map has no effect.
    pub normal_map_texture: Option<Handle<Image>>,
    /// Whether green of the normal map points down (Direct3D convention).
    pub flip_normal_map_y: bool,
    /// UV channel of `occlusion_texture`.
    pub occlusion_channel: UvChannel,
    /// Red is the visibility of ambient light (linear, not sRGB).
    pub occlusion_texture: Option<Handle<Image>>,
    /// UV channel of `specular_texture`.
    pub specular_channel: UvChannel,
    /// Alpha / 2 is multiplied with `reflectance`, as in bevy.
    pub specular_texture: Option<Handle<Image>>,
    /// UV channel of `specular_tint_texture`.
    pub specular_tint_channel: UvChannel,
    /// Multiplied with `specular_tint`.
    pub specular_tint_texture: Option<Handle<Image>>,
    /// Strength of the clearcoat: the fraction of the surface that it covers.
    pub clearcoat: f32,
    /// UV channel of `clearcoat_texture`.
    pub clearcoat_channel: UvChannel,
    /// Red is multiplied with `clearcoat`.
    pub clearcoat_texture: Option<Handle<Image>>,
    /// Perceptual roughness of the clearcoat.
    pub clearcoat_perceptual_roughness: f32,
    /// UV channel of `clearcoat_roughness_texture`.
    pub clearcoat_roughness_channel: UvChannel,
    /// Green is multiplied with `clearcoat_perceptual_roughness`.
    pub clearcoat_roughness_texture: Option<Handle<Image>>,
    /// UV channel of `clearcoat_normal_texture`.
    pub clearcoat_normal_channel: UvChannel,
    /// Normal map of the clearcoat; without one it has the normals of the mesh.
    pub clearcoat_normal_texture: Option<Handle<Image>>,
    /// Strength of anisotropy, from 0 to 1: highlights are stretched along the mesh's tangents.
    pub anisotropy_strength: f32,
    /// Rotation of that direction from the tangent towards the bitangent, in radians.
    pub anisotropy_rotation: f32,
    /// UV channel of `anisotropy_texture`.
    pub anisotropy_channel: UvChannel,
    /// Red and green are the direction in tangent space, before `anisotropy_rotation`, mapped from [-1, 1] to [0, 1];
    /// blue is multiplied with `anisotropy_strength`.
    pub anisotropy_texture: Option<Handle<Image>>,
    /// Red is the depth of the surface, as a fraction of `parallax_depth_scale` (linear, not sRGB). Parallax offsets
    /// the texture coordinates of all images. The mesh needs tangents.
    pub depth_map: Option<Handle<Image>>,
    /// Depth at 1 in `depth_map`, in texture coordinates; above 0.1 distortion shows.
    pub parallax_depth_scale: f32,
    /// Method to refine the intersection between two layers.
    pub parallax_mapping_method: ParallaxMappingMethod,
    /// Maximum number of sampled layers, at grazing angles. Below 1 disables parallax mapping.
    pub max_parallax_layer_count: f32,
    /// Transforms both texture coordinates of the mesh.
    pub uv_transform: Affine2,
    /// Specular reflectance of dielectrics: 0.5 is 4 % at normal incidence.
    pub reflectance: f32,
    /// Specular tint of dielectrics.
    pub specular_tint: Color,
    /// Fraction of diffuse light that is transmitted to the other side instead of reflected, as in leaves, paper and
    /// wax.
    pub diffuse_transmission: f32,
    /// UV channel of `diffuse_transmission_texture`.
    pub diffuse_transmission_channel: UvChannel,
    /// Alpha is multiplied with `diffuse_transmission`.
    pub diffuse_transmission_texture: Option<Handle<Image>>,
    /// Fraction of light that is refracted through the surface instead of reflected diffusely, as in glass and water.
    /// Cameras with [`ScreenSpaceTransmission`](crate::ScreenSpaceTransmission) show what lies behind; under others the
    /// surface has less diffuse light, and nothing instead, as in bevy.
    pub specular_transmission: f32,
    /// UV channel of `specular_transmission_texture`.
    pub specular_transmission_channel: UvChannel,
    /// Red is multiplied with `specular_transmission`.
    pub specular_transmission_texture: Option<Handle<Image>>,
    /// Distance to the other side of the surface, in units of the mesh: transmitted light is attenuated over it by
    /// `attenuation_color`, and shadows fall at its end on entities with a
    /// [`TransmittedShadowReceiver`](bevy_light::TransmittedShadowReceiver).
    pub thickness: f32,
    /// UV channel of `thickness_texture`.
    pub thickness_channel: UvChannel,
    /// Green is multiplied with `thickness` (linear, not sRGB).
    pub thickness_texture: Option<Handle<Image>>,
    /// Index of refraction of `specular_transmission`: 1 is air, 1.33 water, 1.5 glass. Reflection is that of
    /// `reflectance`.
    pub ior: f32,
    /// Distance in the material after which white light has `attenuation_color`, in world units.
    pub attenuation_distance: f32,
    /// Color of white light after `attenuation_distance`.
    pub attenuation_color: Color,
    /// Whether normals of back faces are flipped for lighting.
    pub double_sided: bool,
    /// Culled faces.
    #[reflect(ignore, clone)]
    pub cull_mode: Option<Face>,
    /// Whether the base color is drawn without lighting.
    pub unlit: bool,
    /// Whether the camera's [`DistanceFog`](crate::DistanceFog) applies.
    pub fog_enabled: bool,
    /// Exposure of a [`Lightmap`](crate::Lightmap): candela per square metre for each unit of its texels.
    pub lightmap_exposure: f32,
    /// Interpretation of alpha.
    pub alpha_mode: AlphaMode,
    /// Forward or deferred shading under cameras with [`DeferredPrepass`](crate::DeferredPrepass). `Auto` is
    /// [`DefaultOpaqueRendererMethod`](crate::DefaultOpaqueRendererMethod).
    pub opaque_render_method: OpaqueRendererMethod,
    /// Depth bias towards the camera in units of the least depth step, for decals. Blended surfaces are also sorted
    /// nearer by this distance.
    pub depth_bias: f32,
}

impl Default for StandardMaterial {
    /// White dielectric of perceptual roughness 0.5, opaque.
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
            diffuse_transmission_channel: UvChannel::Uv0,
            diffuse_transmission_texture: None,
            specular_transmission: 0.0,
            specular_transmission_channel: UvChannel::Uv0,
            specular_transmission_texture: None,
            thickness: 0.0,
            thickness_channel: UvChannel::Uv0,
            thickness_texture: None,
            ior: 1.5,
            attenuation_distance: f32::INFINITY,
            attenuation_color: Color::WHITE,
            double_sided: false,
            cull_mode: Some(Face::Back),
            unlit: false,
            fog_enabled: true,
            lightmap_exposure: 1.0,
            alpha_mode: AlphaMode::Opaque,
            opaque_render_method: OpaqueRendererMethod::Auto,
            depth_bias: 0.0,
        }
    }
}

impl StandardMaterial {
    /// UV transform that flips horizontally.
    pub const FLIP_HORIZONTAL: Affine2 = Affine2 {
        matrix2: Mat2::from_cols(Vec2::NEG_X, Vec2::Y),
        translation: Vec2::X,
    };

    /// UV transform that flips vertically.
    pub const FLIP_VERTICAL: Affine2 = Affine2 {
        matrix2: Mat2::from_cols(Vec2::X, Vec2::NEG_Y),
        translation: Vec2::Y,
    };

    /// Flips the texture coordinates along the given axes.
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

    /// Returns the material with its texture coordinates flipped along the given axes.
    #[must_use]
    pub fn flipped(mut self, horizontal: bool, vertical: bool) -> Self {
        self.flip(horizontal, vertical);
        self
    }
}

impl StandardMaterial {
    /// Untextured material of a color; opaque if its alpha is 1, else blended.
    pub fn from_color(color: impl Into<Color>) -> Self {
        Self::from(color.into())
    }

    /// Whether light passes through as through glass.
    pub(crate) fn is_transmissive(&self) -> bool {
        self.specular_transmission > 0.0 && !self.unlit
    }
}

impl From<Color> for StandardMaterial {
    /// Untextured material of a color; opaque if its alpha is 1, else blended.
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

/// Material of a [`Mesh3d`](bevy_mesh::Mesh3d); this crate draws [`StandardMaterial`].
///
/// As with bevy's, `bsn!` scenes may contain it: `MeshMaterial3d::<StandardMaterial>(asset_value(color))`.
#[derive(Component, FromTemplate, Debug, Deref, DerefMut, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default)]
#[component(on_insert = warn_if_undrawn::<M>)]
pub struct MeshMaterial3d<M: Asset>(pub Handle<M>);

/// Warns once of each type of material that is not drawn.
fn warn_if_undrawn<M: Asset>(world: DeferredWorld, context: HookContext) {
    let names = ["MeshMaterial3d", "StandardMaterial"];
    warn_undrawn_material::<MeshMaterial3d<M>, M>(
        world,
        context.entity,
        ContentKind::ThreeD,
        names,
    );
}

// A derived `Clone` requires `M: Clone`; without it, cloning an entity drops the material.
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
