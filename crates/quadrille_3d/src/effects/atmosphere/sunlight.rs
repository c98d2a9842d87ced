//! Sunlight on surfaces: directional lights of views with an atmosphere are attenuated by its transmittance, as in bevy.

use bevy_camera::Camera;
use bevy_ecs::prelude::*;
use bevy_light::Atmosphere;
use bevy_transform::components::GlobalTransform;
use quadrille_content::warnings::RateLimitedWarnings;

use super::luts::LutCache;
use crate::scene::lists::{LightLists, QueuedViews, ViewRows};
use crate::tables::textures::Textures3d;

/// Adds the transmittance of atmospheres to the directional lights of their views.
pub(super) fn attenuate_sunlight(
    mut cache: ResMut<LutCache>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    planets: Query<&GlobalTransform, With<Atmosphere>>,
    (views, view_rows): (Res<QueuedViews>, Res<ViewRows>),
    mut lights: ResMut<LightLists>,
    mut textures: ResMut<Textures3d>,
    warnings: Res<RateLimitedWarnings>,
) {
    for unused in cache.unused_textures.drain(..) {
        // The table has it: it is removed once.
        let _removed = textures.remove(unused);
    }
    let LutCache {
        media,
        views: atmospheres,
        ..
    } = &mut *cache;
    for view in &views.0 {
        let found = atmospheres.iter_mut().find(|it| it.camera == view.camera);
        let (Some(atmosphere), Ok(camera), Some(row)) = (
            found,
            cameras.get(view.camera),
            view_rows.rows.get(view.row as usize),
        ) else {
            continue;
        };
        let Ok(planet) = planets.get(atmosphere.planet) else {
            continue;
        };
        if row.directional_count == 0 || !atmosphere.row.set_view(planet, camera) {
            continue;
        }
        let medium = &mut media[atmosphere.medium];
        let texture = match medium.texture {
            Some(texture) => texture,
            None => match textures.insert(&medium.images[0]) {
                Ok(texture) => *medium.texture.insert(texture),
                Err(error) => {
                    warnings.warn_message(|| format!("sunlight has no atmosphere: {error}"));
                    continue;
                }
            },
        };
        let first = row.first_light as usize;
        let suns = first..first + row.directional_count as usize;
        for light in lights.rows[suns].iter_mut() {
            light.set_atmosphere(&atmosphere.row.sunlight(texture.0));
        }
    }
}
