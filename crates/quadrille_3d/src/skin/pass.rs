//! The pass [`skin_3d`].

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::bindings::PassBindings;
use quadrille::ecs::PassUse;
use quadrille::ecs::encase::ShaderType;
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, Recorder, StorageRead,
    StorageReadWrite,
};

use super::jobs::{SkinJobs, SkinJobs3d};
use super::{PreviousPositions3d, SkinPoses3d, SkinSources3d};
use crate::pipelines::MAX_WORKGROUP_COUNT_X;
use crate::scene::buffers::Vertices3d;

/// Pipeline of [`skin_3d`].
#[derive(Resource)]
pub(crate) struct SkinPipeline3d(ComputePipeline);

impl SkinPipeline3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../shaders/skin.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/skin.wgsl", source)?;
        let desc = ComputePipelineDesc::of("3d skin", &shader);
        Ok(Self(gpu.compute_pipeline(&desc)?))
    }
}

/// Resources, jobs and pipeline of [`skin_3d`].
#[derive(SystemParam, PassBindings)]
pub struct Skinning3d<'w> {
    #[declared]
    list: StorageRead<'w, SkinJobs3d>,
    #[declared]
    sources: StorageRead<'w, SkinSources3d>,
    #[declared]
    poses: StorageRead<'w, SkinPoses3d>,
    #[declared]
    vertices: StorageReadWrite<'w, Vertices3d>,
    #[declared]
    previous: StorageReadWrite<'w, PreviousPositions3d>,
    jobs: Res<'w, SkinJobs>,
    pipeline: Res<'w, SkinPipeline3d>,
}

/// Push constants of the skinning shader.
#[derive(ShaderType)]
struct Push {
    jobs: u32,
    workgroup_count: u32,
    /// Workgroups per row of the dispatch.
    row: u32,
    /// Stamp of saved positions.
    stamp: u32,
}

/// Computes the vertices of skinned and morphed entities for all views and shadow maps: one dispatch for all entities
/// whose joints or weights have changed, and no pass if none have. If a buffer exceeds `maxStorageBufferRange`, there
/// are several passes in the plan, each binding ranges.
pub fn skin_3d(mut recorder: Recorder, skinning: Skinning3d, mut uses: Local<Vec<PassUse>>) {
    uses.clear();
    skinning.add_uses(&mut uses);
    for dispatch in skinning.jobs.dispatches() {
        let workgroup_count = dispatch.workgroup_count;
        let row = workgroup_count.min(MAX_WORKGROUP_COUNT_X);
        let push = Push {
            jobs: dispatch.jobs.len() as u32,
            workgroup_count,
            row,
            stamp: skinning.jobs.stamp(),
        };
        let ranges = &dispatch.ranges;
        recorder
            .pass("skin_3d", &uses)
            .compute(&skinning.pipeline.0)
            .bind("previous", &skinning.previous)
            .bind_bytes("jobs", &skinning.list, dispatch.job_byte_range())
            .bind_bytes("sources", &skinning.sources, ranges.sources.clone())
            .bind_bytes("poses", &skinning.poses, ranges.poses.clone())
            .bind_bytes("meshes", &skinning.vertices, ranges.from.clone())
            .bind_bytes("entities", &skinning.vertices, ranges.to.clone())
            .push(&push)
            .dispatch([row, workgroup_count.div_ceil(row), 1]);
    }
}
