//! Warnings of cameras with [`DeferredPrepass`].

use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::RateLimitedWarnings;

use crate::components::deferred::DeferredPrepass;
use crate::effects::needs::warn_of_samples;

/// Cameras whose deferred shading or samples changed.
type ChangedDeferred = (
    With<Camera3d>,
    With<DeferredPrepass>,
    Or<(Added<DeferredPrepass>, Changed<Msaa>)>,
);

/// Warns of multisampled cameras, which are shaded forward.
pub(super) fn warn_of_forward(
    cameras: Query<(Entity, &Msaa), ChangedDeferred>,
    warnings: Res<RateLimitedWarnings>,
) {
    let consequence = |camera: &str, _| format!("the camera {camera} is shaded forward");
    warn_of_samples(cameras, &warnings, ("DeferredPrepass", consequence));
}
