//! The pass [`cluster_3d`]: light assignment for clustered forward shading.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::bindings::PassBindings;
use quadrille::prelude::{Recorder, StorageRead, StorageWrite};

use crate::constants::TOTAL_SLICES;
use crate::pipelines::Pipelines3d;
use crate::scene::buffers::{LightMasks3d, Lights3d, Views3d};
use crate::scene::lists::ViewRows;

/// Resources and pipeline of [`cluster_3d`].
#[derive(SystemParam, PassBindings)]
pub struct ClusterParams3d<'w> {
    #[bind]
    views: StorageRead<'w, Views3d>,
    #[bind]
    lights: StorageRead<'w, Lights3d>,
    #[bind]
    masks: StorageWrite<'w, LightMasks3d>,
    rows: Res<'w, ViewRows>,
    pipelines: Res<'w, Pipelines3d>,
}

/// Assigns lights to the slices of each view. On devices with an async compute queue it may overlap shadow maps.
pub fn cluster_3d(mut recorder: Recorder, params: ClusterParams3d) {
    let rows = &params.rows.rows;
    let blocks = rows.iter().map(|row| row.mask_blocks).max().unwrap_or(0);
    if blocks == 0 {
        return;
    }
    recorder
        .compute(&params.pipelines.cluster)
        .bind_all(&params)
        .dispatch([blocks, TOTAL_SLICES, rows.len() as u32]);
}
