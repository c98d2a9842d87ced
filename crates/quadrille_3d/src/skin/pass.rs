//! The pass [`skin_3d`].

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::encase::ShaderType;
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, Recorder, StorageRead,
    StorageReadWrite,
};

use super::jobs::{SkinJobs, SkinJobs3d};
use super::{SkinPoses3d, SkinSources3d};
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

/// Jobs and pipeline of [`skin_3d`].
#[derive(SystemParam)]
pub struct Skinning3d<'w> {
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
}

/// Computes the vertices of skinned and morphed entities for all views and shadow maps: one dispatch for all entities
/// whose joints or weights have changed, and no pass if none have. If a buffer exceeds `maxStorageBufferRange`, there
/// are several passes in the plan, each binding ranges.
pub fn skin_3d(
    mut recorder: Recorder,
    list: StorageRead<SkinJobs3d>,
    sources: StorageRead<SkinSources3d>,
    poses: StorageRead<SkinPoses3d>,
    vertices: StorageReadWrite<Vertices3d>,
    skinning: Skinning3d,
) {
    let uses = [
        list.any().as_declared(),
        sources.any().as_declared(),
        poses.any().as_declared(),
        vertices.any().as_declared(),
    ];
    for dispatch in skinning.jobs.dispatches() {
        let workgroup_count = dispatch.workgroup_count;
        let row = workgroup_count.min(MAX_WORKGROUP_COUNT_X);
        let push = Push {
            jobs: dispatch.jobs.len() as u32,
            workgroup_count,
            row,
        };
        let ranges = &dispatch.ranges;
        recorder
            .pass("skin_3d", &uses)
            .compute(&skinning.pipeline.0)
            .bind_bytes("jobs", &list, dispatch.job_byte_range())
            .bind_bytes("sources", &sources, ranges.sources.clone())
            .bind_bytes("poses", &poses, ranges.poses.clone())
            .bind_bytes("meshes", &vertices, ranges.from.clone())
            .bind_bytes("entities", &vertices, ranges.to.clone())
            .push(&push)
            .dispatch([row, workgroup_count.div_ceil(row), 1]);
    }
}
