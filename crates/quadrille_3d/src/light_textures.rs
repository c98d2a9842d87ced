//! Images that lights shine through, as slides and windows: bevy's components of three kinds.

use bevy_asset::Handle;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_image::Image;
use bevy_light::{DirectionalLightTexture, PointLightTexture, SpotLight, SpotLightTexture};
use bevy_mesh::UvChannel;
use bevy_transform::components::GlobalTransform;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;

use crate::instances::affine_rows;
use crate::textures::{NO_TEXTURE, TextureSource};

/// An image of a light as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct LightTextureRow {
    /// The rows of the affine matrix from the world to the light's space.
    pub(crate) light_from_world: [[f32; 4]; 3],
    /// Place of the image, as those of materials.
    texture: u32,
    /// The place of a layout in `CubemapLayout`, or one of those below.
    layout: u32,
    /// Of a spot light the tangent of its outer angle.
    slope: f32,
    unused: u32,
}

/// The light is a cone, around which the image lies.
const KIND_SPOT: u32 = 4;
/// The image lies once around the light, two units wide.
const KIND_DIRECTIONAL: u32 = 5;
/// It is repeated in all directions.
const KIND_DIRECTIONAL_TILED: u32 = 6;

/// The list of images of lights of all views: 64 bytes each.
#[derive(Resource, Deref)]
pub struct LightTextures3d(pub(crate) GpuBuffer);

/// A light that shines through an image.
#[derive(QueryData)]
pub(crate) struct LightTextureQuery {
    transform: &'static GlobalTransform,
    point: Option<&'static PointLightTexture>,
    spot: Option<(&'static SpotLightTexture, &'static SpotLight)>,
    directional: Option<&'static DirectionalLightTexture>,
}

/// Of any kind.
pub(crate) type WithLightTexture = Or<(
    With<PointLightTexture>,
    With<SpotLightTexture>,
    With<DirectionalLightTexture>,
)>;

impl LightTextureRow {
    /// The row of a light; none until its image is there, and without one.
    pub(crate) fn new(
        light_texture: &LightTextureQueryItem<'_, '_>,
        textures: &mut TextureSource,
    ) -> Option<Self> {
        let (image, layout, slope): (&Handle<Image>, u32, f32) =
            if let Some(point) = light_texture.point {
                (&point.image, point.cubemap_layout as u32, 0.0)
            } else if let Some((spot, light)) = light_texture.spot {
                (&spot.image, KIND_SPOT, light.outer_angle.tan())
            } else {
                let directional = light_texture.directional?;
                (
                    &directional.image,
                    if directional.tiled {
                        KIND_DIRECTIONAL_TILED
                    } else {
                        KIND_DIRECTIONAL
                    },
                    0.0,
                )
            };
        let texture = textures.index_of(Some(image), &UvChannel::Uv0);
        (texture != NO_TEXTURE).then(|| Self {
            light_from_world: affine_rows(light_texture.transform.affine().inverse()),
            texture,
            layout,
            slope,
            unused: 0,
        })
    }
}
