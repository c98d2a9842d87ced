//! Light textures (cookies): images projected by lights.

use bevy_asset::Handle;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_image::Image;
use bevy_light::{DirectionalLightTexture, PointLightTexture, SpotLight, SpotLightTexture};
use bevy_mesh::UvChannel;
use bevy_transform::components::GlobalTransform;

use crate::constants::{KIND_DIRECTIONAL, KIND_DIRECTIONAL_TILED, KIND_SPOT, NO_TEXTURE};
use crate::scene::rows::LightTextureRow;
use crate::tables::textures::TextureSource;
use quadrille_content::affine::affine_rows;

/// Light texture components of a light.
#[derive(QueryData)]
pub(crate) struct LightTextureQuery {
    transform: &'static GlobalTransform,
    point: Option<&'static PointLightTexture>,
    spot: Option<(&'static SpotLightTexture, &'static SpotLight)>,
    directional: Option<&'static DirectionalLightTexture>,
}

/// Filter for lights with a texture.
pub(crate) type WithLightTexture = Or<(
    With<PointLightTexture>,
    With<SpotLightTexture>,
    With<DirectionalLightTexture>,
)>;

impl LightTextureRow {
    /// Returns the row of a light; `None` without a texture or until it is resident.
    pub(crate) fn new(
        light_texture: &LightTextureQueryItem<'_, '_>,
        textures: &mut TextureSource,
    ) -> Option<Self> {
        let (image, kind, slope): (&Handle<Image>, u32, f32) =
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
            kind,
            slope,
            unused: 0,
        })
    }
}
