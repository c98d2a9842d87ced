//! Histories of cameras with effects or motion vectors.

use bevy_ecs::prelude::*;

use crate::components::camera_cut::CameraCut;
use crate::scene::camera_history::{CameraHistories, HistoryView};
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::lists::QueuedViews;

/// Updates the histories to the queued views.
pub(crate) fn update_camera_histories(
    views: Res<QueuedViews>,
    effects: Res<EffectCameras>,
    cuts: Query<&CameraCut>,
    mut histories: ResMut<CameraHistories>,
) {
    let with_history = views
        .0
        .iter()
        .filter(|view| view.prepass.motion || effects.contains(view.camera));
    let with_history = with_history.map(|view| {
        let [width, height] = view.size;
        let history = HistoryView {
            clip_from_world: view.unjittered_clip_from_world,
            size: [width, height],
            cut: cuts.get(view.camera).map_or(0, |cut| cut.count),
        };
        (view.camera, history)
    });
    histories.update(with_history, effects.submitted);
}

/// Clears the histories after a lost device.
pub(crate) fn reset_camera_histories(mut histories: ResMut<CameraHistories>) {
    histories.clear();
}
