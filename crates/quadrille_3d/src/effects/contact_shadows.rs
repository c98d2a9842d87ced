//! Contact shadows of cameras, which the opaque and transparent passes trace.

use bevy_app::{App, Plugin};
use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use quadrille::prelude::Render;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::RateLimitedWarnings;

use crate::components::contact_shadows::ContactShadows;
use crate::components::prepass::DepthPrepass;
use crate::effects::needs::{missing_need, warn_of_need};
use crate::schedule::Prepare3dSystems;

/// Adds contact shadows.
pub(crate) struct ContactShadowsPlugin;

impl Plugin for ContactShadowsPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ContactShadows>().add_systems(
            Render,
            warn_of_missing_needs.in_set(Prepare3dSystems::Extract),
        );
    }
}

/// Cameras whose contact shadows or samples changed.
type ChangedContactShadows = (
    With<Camera3d>,
    With<ContactShadows>,
    Or<(Changed<ContactShadows>, Changed<Msaa>)>,
);

/// Warns of cameras that lack what contact shadows need, when they are set up so.
fn warn_of_missing_needs(
    cameras: Query<(Entity, &Msaa, Has<DepthPrepass>), ChangedContactShadows>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (camera, msaa, has_depth) in &cameras {
        if let Some(need) = missing_need(*msaa, (has_depth, "DepthPrepass")) {
            let effect = ("contact shadows", need, "ContactShadows");
            warn_of_need(&warnings, camera, effect);
        }
    }
}
