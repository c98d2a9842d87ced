//! The pass [`cluster_3d`]: assigns lights to the slices of views.

use bevy_ecs::prelude::*;
use quadrille::prelude::{Recorder, StorageRead, StorageWrite};

use crate::pipelines::Pipelines3d;
use crate::prepare::clusters::TOTAL_SLICES;
use crate::scene::buffers::{LightMasks3d, Lights3d, Views3d};
use crate::scene::frame::Scene3d;

/// The pass that tells which lights may reach which part of which view. On a device with a queue for
/// computations it runs beside shadow maps.
pub fn cluster_3d(
    mut recorder: Recorder,
    views: StorageRead<Views3d>,
    lights: StorageRead<Lights3d>,
    masks: StorageWrite<LightMasks3d>,
    scene: Res<Scene3d>,
    pipelines: Res<Pipelines3d>,
) {
    let rows = &scene.view_rows.current;
    let blocks = rows.iter().map(|row| row.mask_blocks).max().unwrap_or(0);
    if blocks == 0 {
        return;
    }
    recorder
        .compute(&pipelines.cluster)
        .bind(0, &views)
        .bind(1, &lights)
        .bind(2, &masks)
        .dispatch([blocks, TOTAL_SLICES, rows.len() as u32]);
}
