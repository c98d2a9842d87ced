//! Contact shadows of cameras, which the opaque and transparent passes trace.

use bevy_app::{App, Plugin};
use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use quadrille::prelude::Render;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::components::contact_shadows::ContactShadows;
use crate::components::prepass::DepthPrepass;
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
        let need = match msaa.samples() {
            1 if has_depth => continue,
            1 => "`DepthPrepass`",
            _ => "`Msaa::Off`",
        };
        warnings.warn_message(|| {
            let camera = entity_name(camera);
            format!("the camera {camera} has no contact shadows. Add {need}, or remove `ContactShadows`.")
        });
    }
}
