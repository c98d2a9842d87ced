//! The pass [`cull_3d`]: culling for all views.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{Compute, PassUse};
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
#[derive(SystemParam)]
pub struct CullTables3d<'w> {
    instances: StorageRead<'w, Instances3d>,
    bounds: StorageRead<'w, Bounds3d>,
    batches: StorageRead<'w, Batches3d>,
    order: StorageRead<'w, BatchOrder3d>,
    batch_instances: StorageRead<'w, BatchInstances3d>,
    views: StorageRead<'w, CullViews3d>,
    layers: StorageRead<'w, CullLayers3d>,
    pub(crate) batch_list: Res<'w, BatchList>,
    cull_list: Res<'w, CullList>,
}

impl CullTables3d<'_> {
    pub(crate) fn add_uses(&self, uses: &mut Vec<PassUse>) {
        uses.extend([
            self.instances.any().as_declared(),
            self.bounds.any().as_declared(),
            self.batches.any().as_declared(),
            self.order.any().as_declared(),
            self.batch_instances.any().as_declared(),
            self.views.any().as_declared(),
            self.layers.any().as_declared(),
        ]);
    }

    pub(crate) fn bind(&self, compute: &mut Compute<'_>) {
        compute
            .bind(0, &self.instances)
            .bind(1, &self.bounds)
            .bind(2, &self.batches)
            .bind(3, &self.order)
            .bind(4, &self.batch_instances)
            .bind(5, &self.views)
            .bind(6, &self.layers);
    }
}

/// Culls all instances for all cameras and shadow maps in one dispatch: by frustum, light range, visibility range,
/// render layers and shadow casting.
pub fn cull_3d(
    mut recorder: Recorder,
    tables: CullTables3d,
    args: StorageWrite<DrawArgs3d>,
    visible_instances: StorageWrite<VisibleInstances>,
    previous_visibility: StorageRead<PreviousVisibility>,
    pipelines: Res<Pipelines3d>,
) {
    let views = tables.cull_list.early_view_count;
    let batch_list = &*tables.batch_list;
    if batch_list.batches == 0 || views == 0 {
        return;
    }
    let mut compute = recorder.compute(&pipelines.cull);
    tables.bind(&mut compute);
    compute
        .bind(7, &args)
        .bind(8, &visible_instances)
        .bind(9, &previous_visibility)
        .push_bytes(bytemuck::bytes_of(&CullPush::new(batch_list, 0)))
        .dispatch([
            batch_list.batches.min(MAX_WORKGROUP_COUNT_X),
            batch_list.batches.div_ceil(MAX_WORKGROUP_COUNT_X),
            views,
        ]);
}
