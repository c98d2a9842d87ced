//! The pass [`opaque_3d`].

use bevy_ecs::prelude::*;
use quadrille::bindings::PassBindings as _;
use quadrille::ecs::{DepthAttachment as _, PassUse};
use quadrille::prelude::Recorder;

use crate::passes::draw::{Culled3d, DrawParams3d, Geometry3d, Lighting3d, SceneTargets3d};
use crate::scene::frame::ScenePass;
use crate::scene::prepass::DrawnPrepasses;

/// Draws opaque and alpha mask meshes with lighting and shadows: one pass in the plan per view. Depth begins with that of
/// [`prepass_3d`](crate::systems::prepass_3d) in views with a prepass.
pub fn opaque_3d(
    mut recorder: Recorder,
    (geometry, culled_draws): (Geometry3d, Culled3d),
    lighting: Lighting3d,
    targets: SceneTargets3d,
    (draw_params, prepasses): (DrawParams3d, Res<DrawnPrepasses>),
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &draw_params.scene.views {
        let Some(images) = targets.of(view, ScenePass::Opaque) else {
            continue;
        };
        uses.clear();
        images.add_color_uses(&mut uses);
        uses.push(images.depth.as_declared());
        geometry.add_uses(&mut uses);
        let indirect_draws = culled_draws.indirect_draws();
        indirect_draws.add_uses(&mut uses);
        lighting.add_view_uses(view, &mut uses);
        let mut pass = recorder.pass_in_step(view.queued.step, "opaque_3d", &uses);
        let depth = images.depth.layer(0);
        let depth = match prepasses.contains(view.images) {
            true => depth.keep_depth(),
            false => depth.clear_depth(view.queued.clear_depth),
        };
        let attachments = (images.color(view.initial_color()), depth);
        let mut rendering = pass.render(attachments);
        draw_params.draw_opaque(
            &mut rendering,
            (&geometry, &indirect_draws),
            &lighting,
            (view, view.queued.cull_row),
        );
    }
}
