//! Lightmaps of meshes.

use bevy_asset::Handle;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::Rect;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Baked diffuse light of a mesh, with the fields of bevy's component.
///
/// A texel times the material's [`lightmap_exposure`](crate::StandardMaterial::lightmap_exposure) times the
/// surface's diffuse color is its radiance, in candela per square metre. The image replaces
/// irradiance volumes and the diffuse light of environment maps; lights are added, and ambient
/// light unless its `affects_lightmapped_meshes` is false. It is sampled by the mesh's second texture
/// coordinates, or by the first if it has no others. Until the image is loaded the mesh is drawn without it.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct Lightmap {
    /// Linear image, usually of half floats.
    pub image: Handle<Image>,
    /// Rectangle of the mesh in the image, in texture coordinates.
    pub uv_rect: Rect,
    /// Bicubic instead of bilinear filtering, which hides the texels of low-resolution images.
    pub bicubic_sampling: bool,
}

impl Default for Lightmap {
    fn default() -> Self {
        Self {
            image: Handle::default(),
            uv_rect: Rect::new(0.0, 0.0, 1.0, 1.0),
            bicubic_sampling: false,
        }
    }
}
