//! Pipelines that the views of a frame draw meshes with.

use bevy_ecs::prelude::*;
use quadrille::prelude::GpuDevice;

use crate::constants::{CASTS_CONTACT_SHADOWS, DIRECTIONAL, HAS_AMBIENT_OCCLUSION_MAP, RECT};
use crate::pipelines::Pipelines3d;
use crate::scene::frame::{FragmentCapacities, Scene3d};
use crate::scene::keys::LightingFeatures;
use crate::scene::lists::{BatchList, LightLists, ShadowList, ViewRows};
use crate::scene::rows::LightRow;

/// Prepares the pipelines that views need: with the lighting features of the frame, with or without tone mapping in the
/// shader, and with inverted culling for views with `Camera::invert_culling`.
pub(crate) fn prepare_pipelines(
    (scene, batches): (Res<Scene3d>, Res<BatchList>),
    fragment_capacities: Res<FragmentCapacities>,
    (views, lights, shadows): (Res<ViewRows>, Res<LightLists>, Res<ShadowList>),
    mut pipelines: ResMut<Pipelines3d>,
    gpu: Res<GpuDevice>,
) -> Result {
    let lighting = lighting_features(&views, &lights, &shadows);
    for maps_tones in [false, true] {
        let views = || {
            let views = scene.views.iter();
            views.filter(|view| view.is_scene_referred() != maps_tones)
        };
        if views().next().is_none() {
            continue;
        }
        let inverts_culling = views().any(|view| view.queued.inverts_culling);
        let has_lists = views().any(|view| fragment_capacities.of(view).is_some());
        let keys = batches.batch_sets.iter().flat_map(|batch_set| {
            let key = batch_set.pipeline;
            let in_lists = key.order_independent().filter(|_| has_lists);
            [Some(key), in_lists].into_iter().flatten()
        });
        let keys = keys.flat_map(|key| {
            let inverted = inverts_culling.then_some(key.for_view(true));
            [key].into_iter().chain(inverted)
        });
        pipelines.meshes.prepare(&gpu, keys, lighting, maps_tones)?;
    }
    let dfg_lut = pipelines.meshes.dfg_lut;
    for view in scene.views.iter().filter(|view| view.gbuffer().is_some()) {
        let target = view.pipeline_target();
        pipelines
            .deferred
            .prepare(&gpu, (lighting, dfg_lut), &target)?;
    }
    Ok(())
}

/// Lighting features that any view of the frame uses.
fn lighting_features(
    views: &ViewRows,
    lights: &LightLists,
    shadows: &ShadowList,
) -> LightingFeatures {
    let views = || views.rows.iter();
    let has_shadows = !shadows.draws.is_empty();
    let mut filters = views().map(|view| view.shadow_filter);
    let filter = filters.next().filter(|_| has_shadows);
    let mut kinds = lights.rows.iter().map(LightRow::kind);
    LightingFeatures {
        ranged_lights: kinds.clone().any(|kind| kind != DIRECTIONAL),
        rect_lights: kinds.any(|kind| kind == RECT),
        shadows: has_shadows,
        soft_shadows: shadows.rows.iter().any(|row| row.soft_size > 0.0),
        environments: views().any(|view| view.environment_count > 0),
        contact_shadows: views().any(|view| view.contact_shadows[0] > 0.0)
            && lights
                .rows
                .iter()
                .any(|light| light.bits & CASTS_CONTACT_SHADOWS != 0),
        ambient_occlusion: views().any(|view| view.flags & HAS_AMBIENT_OCCLUSION_MAP != 0),
        fog: views().any(|view| view.fog.falloff[3] > 0.0),
        atmosphere: lights.rows.iter().any(LightRow::has_atmosphere),
        decals: views().any(|view| view.decal_words > 0),
        light_textures: lights.rows.iter().any(|light| light.texture != 0),
        shadow_filter: filter.filter(|&filter| filters.all(|other| other == filter)),
    }
}
