//! The pass [`transparent_3d`].

use bevy_ecs::prelude::*;
use quadrille::bindings::PassBindings as _;
use quadrille::ecs::{DepthAttachment as _, PassUse, Rendering};
use quadrille::prelude::{Recorder, StorageRead};

use crate::passes::draw::{DrawParams3d, Geometry3d, Lighting3d, SceneTargets3d};
use crate::scene::buffers::TransparentInstances3d;
use crate::scene::frame::{InitialColor, ScenePass};
use crate::scene::keys::PipelineKey;
use crate::scene::lists::TransparentDraw;

/// Draws transparent meshes back to front: one pass in the plan per view that has any, and per multisampled view if a
/// system of the program draws to samples ([`ViewTargets3d`](crate::systems::ViewTargets3d)).
pub fn transparent_3d(
    mut recorder: Recorder,
    (geometry, transparent_instances): (Geometry3d, StorageRead<TransparentInstances3d>),
    lighting: Lighting3d,
    targets: SceneTargets3d,
    draw_params: DrawParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &draw_params.scene.views {
        let Some(images) = targets.of(view, ScenePass::Transparent) else {
            continue;
        };
        let resolves = view.samples > 1 && view.last_pass == ScenePass::Transparent;
        if view.queued.transparent.is_empty() && !resolves {
            continue;
        }
        uses.clear();
        images.add_color_uses(&mut uses);
        uses.push(images.depth.as_declared());
        uses.push(transparent_instances.any().as_declared());
        geometry.add_uses(&mut uses);
        lighting.add_view_uses(view, &mut uses);
        let mut pass = recorder.pass_in_step(view.queued.step, "transparent_3d", &uses);
        let attachments = (
            images.color(InitialColor::Keep),
            images.depth.layer(0).keep_depth(),
        );
        let mut rendering = pass.render(attachments);
        let draws = &draw_params.transparent_list.draws
            [view.queued.transparent.start as usize..view.queued.transparent.end as usize];
        let target = view.pipeline_target();
        let mut bound: Option<PipelineKey> = None;
        for draw in draws {
            let key = draw.key.pipeline.for_view(view.queued.inverts_culling);
            if bound != Some(key) {
                let Some(pipeline) = draw_params.pipelines.meshes.get(key, &target) else {
                    continue;
                };
                rendering.pipeline(pipeline);
                geometry.bind(&mut rendering);
                rendering.bind("visible_instances", &transparent_instances);
                lighting.bind(&mut rendering, &draw_params, (view, key.shader));
                bound = Some(key);
            }
            draw_mesh(&mut rendering, draw);
        }
    }
}

fn draw_mesh(rendering: &mut Rendering<'_>, draw: &TransparentDraw) {
    let mesh = &draw.key.mesh;
    rendering.draw_indexed(
        mesh.first_index..mesh.first_index + mesh.index_count,
        mesh.base_vertex,
        draw.instances.clone(),
    );
}
