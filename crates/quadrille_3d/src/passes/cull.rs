//! The pass [`cull_3d`]: culling for all views.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::bindings::PassBindings;
use quadrille::prelude::{Recorder, StorageRead, StorageWrite};
use quadrille::rows::ShaderRow;

use crate::pipelines::{MAX_WORKGROUP_COUNT_X, Pipelines3d};
use crate::scene::buffers::{
    BatchInstances3d, BatchOrder3d, Batches3d, Bounds3d, CullLayers3d, CullViews3d, DrawArgs3d,
    Instances3d, PreviousVisibility, VisibleInstances,
};
use crate::scene::lists::{BatchList, CullList};

/// Push constants of the culling shaders.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/cull.wgsl", "Push")]
pub(crate) struct CullPush {
    batches: u32,
    batch_instances: u32,
    late_view: u32,
}

impl CullPush {
    pub(crate) fn new(list: &BatchList, late_view: u32) -> Self {
        Self {
            batches: list.batches,
            batch_instances: list.batch_instances,
            late_view,
        }
    }
}

/// Input tables of [`cull_3d`].
#[derive(SystemParam, PassBindings)]
pub struct CullTables3d<'w> {
    #[bind]
    instances: StorageRead<'w, Instances3d>,
    #[bind]
    bounds: StorageRead<'w, Bounds3d>,
    #[bind]
    batches: StorageRead<'w, Batches3d>,
    #[bind]
    order: StorageRead<'w, BatchOrder3d>,
    #[bind]
    batch_instances: StorageRead<'w, BatchInstances3d>,
    #[bind]
    views: StorageRead<'w, CullViews3d>,
    #[bind]
    layers: StorageRead<'w, CullLayers3d>,
    pub(crate) batch_list: Res<'w, BatchList>,
    cull_list: Res<'w, CullList>,
}

/// Outputs of [`cull_3d`], and the visibility in the previous frame.
#[derive(SystemParam, PassBindings)]
pub struct CullOutputs3d<'w> {
    #[bind]
    draw_args: StorageWrite<'w, DrawArgs3d>,
    #[bind]
    visible_instances: StorageWrite<'w, VisibleInstances>,
    #[bind]
    previous_visibility: StorageRead<'w, PreviousVisibility>,
}

/// Culls all instances for all cameras and shadow maps in one dispatch: by frustum, light range, visibility range,
/// render layers and shadow casting.
pub fn cull_3d(
    mut recorder: Recorder,
    tables: CullTables3d,
    outputs: CullOutputs3d,
    pipelines: Res<Pipelines3d>,
) {
    let views = tables.cull_list.early_view_count;
    let batch_list = &*tables.batch_list;
    if batch_list.batches == 0 || views == 0 {
        return;
    }
    let mut compute = recorder.compute(&pipelines.cull);
    compute
        .bind_all(&tables)
        .bind_all(&outputs)
        .push_bytes(bytemuck::bytes_of(&CullPush::new(batch_list, 0)))
        .dispatch([
            batch_list.batches.min(MAX_WORKGROUP_COUNT_X),
            batch_list.batches.div_ceil(MAX_WORKGROUP_COUNT_X),
            views,
        ]);
}
