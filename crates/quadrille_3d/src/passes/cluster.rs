//! The pass [`cluster_3d`]: light assignment for clustered forward shading.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::prelude::{Recorder, StorageRead, StorageWrite};

use crate::constants::TOTAL_SLICES;
use crate::pipelines::Pipelines3d;
use crate::scene::buffers::{LightMasks3d, Lights3d, Views3d};
use crate::scene::lists::ViewRows;

/// View rows and pipeline of [`cluster_3d`].
#[derive(SystemParam)]
pub struct ClusterParams3d<'w> {
    rows: Res<'w, ViewRows>,
    pipelines: Res<'w, Pipelines3d>,
}

/// Assigns lights to the slices of each view. On devices with an async compute queue it may overlap shadow maps.
pub fn cluster_3d(
    mut recorder: Recorder,
    views: StorageRead<Views3d>,
    lights: StorageRead<Lights3d>,
    masks: StorageWrite<LightMasks3d>,
    params: ClusterParams3d,
) {
    let rows = &params.rows.rows.current;
    let blocks = rows.iter().map(|row| row.mask_blocks).max().unwrap_or(0);
    if blocks == 0 {
        return;
    }
    recorder
        .compute(&params.pipelines.cluster)
        .bind("views", &views)
        .bind("lights", &lights)
        .bind("masks", &masks)
        .dispatch([blocks, TOTAL_SLICES, rows.len() as u32]);
}
