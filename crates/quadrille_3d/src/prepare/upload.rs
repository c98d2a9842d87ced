//! Upload of the lists of a frame.

use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::buffers::grow_buffer;

use crate::scene::buffers::{
    CullLayers3d, CullViews3d, DrawArgs3d, LateDrawArgs, LateVisibleInstances, LightTextures3d,
    Lights3d, PreviousVisibility, ShadowViews3d, TransparentInstances3d, Views3d, VisibleInstances,
};
use crate::scene::cull_view::DRAW_ARGS_BYTES;
use crate::scene::lists::{BatchList, SceneLists};
use crate::tables::table::ensure_not_empty;

/// Buffers of the lists of a frame.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct SceneBuffers<'w> {
    views: ResMut<'w, Views3d>,
    lights: ResMut<'w, Lights3d>,
    light_textures: ResMut<'w, LightTextures3d>,
    shadows: ResMut<'w, ShadowViews3d>,
    cull_views: ResMut<'w, CullViews3d>,
    layers: ResMut<'w, CullLayers3d>,
    transparent_instances: ResMut<'w, TransparentInstances3d>,
    args: ResMut<'w, DrawArgs3d>,
    visible_instances: ResMut<'w, VisibleInstances>,
    previous_visibility: ResMut<'w, PreviousVisibility>,
    late_args: ResMut<'w, LateDrawArgs>,
    late_visible_instances: ResMut<'w, LateVisibleInstances>,
}

/// Uploads the lists, and resizes the buffers that culling writes.
pub(crate) fn upload_scene(
    mut lists: SceneLists,
    mut to: SceneBuffers,
    batches: Res<BatchList>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    let uploads = &mut *uploads;
    let SceneLists {
        rows,
        lights,
        shadows,
        cull,
        transparent,
        ..
    } = &mut lists;
    let views = cull.rows.len() as u64;
    let args = views * u64::from(batches.batches) * DRAW_ARGS_BYTES;
    // Without batches nothing writes the lists of visible instances, so they need not grow with the retained table.
    let batch_instances = u64::from(batches.batch_instances) * u64::from(batches.batches.min(1));
    let visible_instances = views * batch_instances * size_of::<u32>() as u64;
    let has_late_phase = u64::from(cull.visibility_words.min(1));
    for (buffer, bytes) in [
        (&mut to.args.0, args),
        (&mut to.visible_instances.0, visible_instances),
        (&mut to.late_args.0, args * has_late_phase),
        (
            &mut to.late_visible_instances.0,
            visible_instances * has_late_phase,
        ),
    ] {
        grow_buffer(&gpu, buffer, bytes)?;
    }
    let words = cull.visibility_words as usize;
    let previous_visibility = &mut to.previous_visibility.0;
    let bytes = (words * size_of::<u32>()) as u64;
    if grow_buffer(&gpu, previous_visibility, bytes)? {
        uploads.write_buffer(
            previous_visibility,
            0,
            &vec![0; previous_visibility.bytes() as usize],
        );
    }
    ensure_not_empty(&mut lights.rows);
    ensure_not_empty(&mut lights.textures);
    ensure_not_empty(&mut shadows.rows);
    ensure_not_empty(&mut transparent.instances);
    ensure_not_empty(&mut rows.rows);
    rows.rows.upload(&gpu, uploads, &mut to.views.0)?;
    lights.rows.upload(&gpu, uploads, &mut to.lights.0)?;
    let textures = &mut to.light_textures.0;
    lights.textures.upload(&gpu, uploads, textures)?;
    shadows.rows.upload(&gpu, uploads, &mut to.shadows.0)?;
    cull.rows.upload(&gpu, uploads, &mut to.cull_views.0)?;
    cull.layer_bits.upload(&gpu, uploads, &mut to.layers.0)?;
    let instances = &mut to.transparent_instances.0;
    transparent.instances.upload(&gpu, uploads, instances)?;
    Ok(())
}
