//! Pipelines that the views of a frame draw meshes with.

use bevy_ecs::prelude::*;
use bevy_light::RectLight;
use quadrille::prelude::GpuDevice;

use crate::pipelines::Pipelines3d;
use crate::scene::frame::Scene3d;
use crate::scene::lists::BatchList;

/// Makes the pipelines that views need: with tone mapping in the shader or without it, and others for views with
/// `Camera::invert_culling`.
pub(crate) fn prepare_pipelines(
    (scene, batches): (Res<Scene3d>, Res<BatchList>),
    rect_lights: Query<(), With<RectLight>>,
    mut pipelines: ResMut<Pipelines3d>,
    gpu: Res<GpuDevice>,
) -> Result {
    for maps_tones in [false, true] {
        let views = || {
            let views = scene.views.iter();
            views.filter(|view| view.is_scene_referred() != maps_tones)
        };
        if views().next().is_none() {
            continue;
        }
        let inverts_culling = views().any(|view| view.queued.inverts_culling);
        let keys = batches.batch_sets.iter().flat_map(|batch_set| {
            let inverted = inverts_culling.then_some(batch_set.pipeline.for_view(true));
            [batch_set.pipeline].into_iter().chain(inverted)
        });
        let has_rect_lights = !rect_lights.is_empty();
        pipelines
            .meshes
            .prepare(&gpu, keys, has_rect_lights, maps_tones)?;
    }
    Ok(())
}
