//! The pass [`transparent_3d`].

use bevy_ecs::prelude::*;
use quadrille::bindings::PassBindings as _;
use quadrille::ecs::{
    AccessList, ColorAttachment as _, DepthAttachment as _, PassUse, Rendering, access_kind,
};
use quadrille::prelude::{Recorder, StorageRead};

use crate::passes::draw::{DrawParams3d, Geometry3d, Lighting3d, ViewTargets3d};
use crate::prepare::targets::SceneColors;
use crate::scene::buffers::TransparentInstances3d;
use crate::scene::formats::scene_formats;
use crate::scene::keys::PipelineKey;
use crate::scene::lists::TransparentDraw;

/// Draws transparent meshes back to front, and resolves multisampled color: one pass in the plan per view that needs
/// either.
pub fn transparent_3d(
    mut recorder: Recorder,
    (geometry, transparent_instances): (Geometry3d, StorageRead<TransparentInstances3d>),
    lighting: Lighting3d,
    targets: ViewTargets3d,
    resolved: AccessList<SceneColors, access_kind::ColorTarget>,
    draw_params: DrawParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &draw_params.scene.views {
        let (Some((color, depth)), Some(resolved)) =
            (targets.of(view), resolved.get(view.images()))
        else {
            continue;
        };
        if view.queued.transparent.is_empty() && view.samples == 1 {
            continue;
        }
        uses.clear();
        uses.extend([color.as_declared(), depth.as_declared()]);
        uses.push(transparent_instances.any().as_declared());
        geometry.add_uses(&mut uses);
        lighting.add_uses(&mut uses);
        let mut attachment = color.keep();
        if view.samples > 1 {
            uses.push(resolved.as_declared());
            attachment = attachment.resolve_to(&resolved);
        }
        let mut pass = recorder.pass_in_step(view.queued.step, "transparent_3d", &uses);
        let mut rendering = pass.render((attachment, depth.layer(0).keep_depth()));
        let draws = &draw_params.transparent_list.draws
            [view.queued.transparent.start as usize..view.queued.transparent.end as usize];
        let formats = scene_formats(view.samples);
        let mut bound: Option<PipelineKey> = None;
        for draw in draws {
            let key = draw.key.pipeline.for_view(view.queued.inverts_culling);
            if bound != Some(key) {
                let Some(pipeline) = draw_params.pipelines.meshes.get(key, &formats) else {
                    continue;
                };
                rendering.pipeline(pipeline);
                geometry.bind(&mut rendering);
                rendering.bind("visible_instances", &transparent_instances);
                lighting.bind(&mut rendering, &draw_params.pipelines, view);
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
