//! Upload of skins and morph weights.

use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, Uploads};

use crate::extract::instances::InstanceStore;
use crate::skin::SkinStore;
use crate::skin::jobs::{self, SkinBuffers, SkinJobs};

/// Lists the deformed entities to compute in this frame, and uploads their joint matrices and weights.
pub(crate) fn upload_skins(
    mut store: ResMut<SkinStore>,
    mut jobs: ResMut<SkinJobs>,
    mut to: SkinBuffers,
    instances: Res<InstanceStore>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    jobs::upload(
        (&mut *store, &mut *jobs),
        &mut to,
        (instances.meshes(), instances.motion_frame()),
        &mut uploads,
        &gpu,
    )
}
