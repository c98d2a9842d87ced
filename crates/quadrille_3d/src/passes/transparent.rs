//! The pass [`transparent_3d`].

use std::ops::Range;

use bevy_ecs::prelude::*;
use quadrille::ecs::{DepthAttachment as _, PassUse};
use quadrille::prelude::Recorder;

use crate::passes::draw::SceneTargets3d;
use crate::passes::sorted::SortedDraws3d;
use crate::scene::frame::{InitialColor, ScenePass};

/// Draws transparent meshes back to front: one pass in the plan per view that has any, and per multisampled view if a
/// system of the program draws to samples ([`ViewTargets3d`](crate::systems::ViewTargets3d)).
pub fn transparent_3d(
    mut recorder: Recorder,
    sorted: SortedDraws3d,
    targets: SceneTargets3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in sorted.views() {
        let Some(images) = targets.of(view, ScenePass::Transparent) else {
            continue;
        };
        let resolves = view.samples > 1 && view.last_pass == ScenePass::Transparent;
        let ranges = [
            // Drawn by `order_independent_3d`, if there is memory for its lists.
            match sorted.fragment_capacity(view) {
                Some(_) => 0..0,
                None => view.queued.order_independent.clone(),
            },
            view.queued.transparent.clone(),
        ];
        if ranges.iter().all(Range::is_empty) && !resolves {
            continue;
        }
        uses.clear();
        images.add_color_uses(&mut uses);
        uses.push(images.depth.as_declared());
        sorted.add_uses(view, &mut uses);
        let mut pass = recorder.pass_in_step(view.queued.step, "transparent_3d", &uses);
        let mut rendering = pass.render((
            images.color(InitialColor::Keep),
            images.depth.layer(0).keep_depth(),
        ));
        for draws in ranges {
            sorted.draw(&mut rendering, view, draws, None);
        }
    }
}
