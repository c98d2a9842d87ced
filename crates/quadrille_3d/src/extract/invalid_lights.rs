//! Guard against lights on which bevy's systems panic.
//!
//! bevy computes the direction of each point and spot light, and panics with debug assertions if there is none. Its
//! systems skip invisible lights, so those without a direction are hidden from them.

use bevy_app::{App, PostUpdate};
use bevy_camera::visibility::{ViewVisibility, VisibilitySystems};
use bevy_ecs::prelude::*;
use bevy_light::{PointLight, SimulationLightSystems, SpotLight};
use bevy_math::Vec3;
use bevy_transform::components::GlobalTransform;
use quadrille_content::ContentSystems;
use quadrille_content::warnings::is_finite;

/// Hides such lights from bevy's systems, but not from those of this crate, which use visibility to cameras.
pub(crate) fn add_invalid_light_guard(app: &mut App) {
    app.add_systems(
        PostUpdate,
        hide_invalid_lights
            .after(VisibilitySystems::CheckVisibility)
            .before(SimulationLightSystems::AssignLightsToClusters)
            .before(SimulationLightSystems::UpdateLightFrusta),
    )
    .configure_sets(
        PostUpdate,
        // Both read transforms, the second those of cameras.
        (
            SimulationLightSystems::UpdateBounds,
            SimulationLightSystems::UpdateDirectionalLightCascades,
        )
            .after(ContentSystems::CheckCameras),
    );
}

/// Light components that bevy computes with.
type Light = (
    &'static GlobalTransform,
    &'static mut ViewVisibility,
    Option<&'static PointLight>,
    Option<&'static SpotLight>,
);

/// Filter for point and spot lights.
type HasLight = Or<(With<PointLight>, With<SpotLight>)>;

fn hide_invalid_lights(mut lights: Query<Light, HasLight>) {
    for (transform, mut visibility, point, spot) in &mut lights {
        let point = point.map_or([0.0; 2], |light| [light.range, light.shadow_map_near_z]);
        let spot = spot.map_or([0.0; 3], |light| {
            [light.range, light.shadow_map_near_z, light.outer_angle]
        });
        let is_valid =
            direction_to_light(transform).is_some() && is_finite(&point) && is_finite(&spot);
        if !is_valid && visibility.get() {
            *visibility = ViewVisibility::HIDDEN;
        }
    }
}

/// Returns the direction to a light; `None` if its transform has none.
pub(crate) fn direction_to_light(transform: &GlobalTransform) -> Option<Vec3> {
    let affine = transform.affine();
    let direction_to_light = Vec3::from(affine.matrix3.z_axis).normalize();
    (direction_to_light.is_normalized() && affine.is_finite()).then_some(direction_to_light)
}
