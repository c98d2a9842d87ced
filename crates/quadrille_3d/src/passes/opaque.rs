//! The pass [`opaque_3d`].

use bevy_ecs::prelude::*;
use quadrille::bindings::PassBindings as _;
use quadrille::ecs::{
    AccessList, AnyAccess, DepthAttachment as _, PassUse, Rendering, access_kind,
};
use quadrille::prelude::Recorder;

use crate::passes::draw::{Culled3d, DrawParams3d, Geometry3d, Lighting3d, SceneTargets3d};
use crate::prepare::targets::GBuffers3d;
use crate::scene::frame::{ScenePass, View3d};
use crate::scene::keys::MaterialShader;
use crate::scene::prepass::DrawnPrepasses;

/// Matrix from clip space to the world, in columns.
pub(crate) fn world_from_clip(view: &View3d) -> [f32; 16] {
    let queued = &view.queued;
    let clip_from_world = queued.clip_from_unjittered() * queued.unjittered_clip_from_world;
    clip_from_world.inverse().to_cols_array()
}

/// Lights the surfaces in the G-buffer of a view.
fn light_gbuffer(
    rendering: &mut Rendering<'_>,
    draw_params: &DrawParams3d,
    lighting: &Lighting3d,
    (view, gbuffer): (&View3d, &AnyAccess<'_>),
) {
    let deferred = &draw_params.pipelines.deferred;
    let Some(pipeline) = deferred.get(&view.pipeline_target()) else {
        return;
    };
    rendering.pipeline(pipeline).bind("gbuffer", gbuffer);
    lighting.bind(rendering, draw_params, (view, MaterialShader::Standard));
    rendering
        .push_bytes(bytemuck::bytes_of(&world_from_clip(view)))
        .draw(0..3, 0..1);
}

/// Draws opaque and alpha mask meshes with lighting and shadows, from the G-buffer in views with
/// [`DeferredPrepass`](crate::DeferredPrepass): one pass in the plan per view. Depth begins with that of
/// [`prepass_3d`](crate::systems::prepass_3d) in views with a prepass.
pub fn opaque_3d(
    mut recorder: Recorder,
    (geometry, culled_draws): (Geometry3d, Culled3d),
    (lighting, gbuffers): (Lighting3d, AccessList<GBuffers3d, access_kind::Sampled>),
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
        let gbuffer = view.gbuffer().and_then(|at| gbuffers.get(at));
        let gbuffer = gbuffer.filter(|_| prepasses.contains(view.images));
        uses.extend(gbuffer.iter().map(AnyAccess::as_declared));
        let mut pass = recorder.pass_in_step(view.queued.step, "opaque_3d", &uses);
        let depth = images.depth.layer(0);
        let depth = match prepasses.contains(view.images) {
            true => depth.keep_depth(),
            false => depth.clear_depth(view.queued.clear_depth),
        };
        let attachments = (images.color(view.initial_color()), depth);
        let mut rendering = pass.render(attachments);
        if let Some(gbuffer) = gbuffer {
            light_gbuffer(&mut rendering, &draw_params, &lighting, (view, &gbuffer));
        }
        draw_params.draw_opaque(
            &mut rendering,
            (&geometry, &indirect_draws),
            &lighting,
            (view, view.queued.cull_row),
        );
    }
}
