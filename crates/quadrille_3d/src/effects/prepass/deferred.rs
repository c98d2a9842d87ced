//! Warnings of cameras with [`DeferredPrepass`].

use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::components::deferred::DeferredPrepass;

/// Cameras whose deferred shading or samples changed.
type ChangedDeferred = (
    With<Camera3d>,
    With<DeferredPrepass>,
    Or<(Added<DeferredPrepass>, Changed<Msaa>)>,
);

/// Warns of multisampled cameras, which are shaded forward.
pub(super) fn warn_of_samples(
    cameras: Query<(Entity, &Msaa), ChangedDeferred>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (camera, msaa) in &cameras {
        if msaa.samples() > 1 {
            warnings.warn_message(|| {
                let camera = entity_name(camera);
                format!(
                    "the camera {camera} is shaded forward. Add `Msaa::Off`, or remove `DeferredPrepass`."
                )
            });
        }
    }
}
