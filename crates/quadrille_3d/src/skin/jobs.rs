//! Jobs of skinning in a frame.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::sync::resource::ResourceId;
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::meshes::{MeshAllocation, MeshAllocator};

use super::dispatches::{BufferSizes, Job, SkinDispatch, SkinRange, split_dispatches};
use super::pose::JOINT_ROWS;
use super::source::SkinSource;
use super::{Deformed, SkinPoses3d, SkinSources3d, SkinState, SkinStore};
use crate::scene::buffers::Vertices3d;
use crate::tables::mesh_vertex::Vertex;

/// Jobs of [`skin_3d`](super::skin_3d).
#[derive(Resource, Deref)]
pub struct SkinJobs3d(pub(crate) GpuBuffer);

/// Jobs and dispatches of [`skin_3d`](super::skin_3d) in a frame.
#[derive(Resource, Default)]
pub(crate) struct SkinJobs {
    list: RawBufferVec<Job>,
    dispatches: Vec<SkinDispatch>,
    /// Vertex buffer and first vertex of entities at the last computation.
    vertex_buffer: Option<(ResourceId, u32)>,
}

impl SkinJobs {
    /// Returns the dispatches of the frame.
    pub(super) fn dispatches(&self) -> &[SkinDispatch] {
        &self.dispatches
    }

    /// Marks all contents dirty, for a new device.
    pub(super) fn mark_all_dirty(&mut self) {
        self.list.mark_all_dirty();
        self.vertex_buffer = None;
    }
}

/// Returns the range of an entity; `room` is the end of the vertices of all meshes.
fn skin_range(
    deformed: &Deformed,
    (source, words): (&SkinSource, u32),
    mesh: MeshAllocation,
    room: u32,
) -> SkinRange {
    SkinRange {
        from: mesh.base_vertex as u32,
        to: room + deformed.vertices.start,
        vertices: source.vertices,
        source: words,
        source_words: source.vertex_words(),
        pose: deformed.pose.clone(),
        weights: deformed.pose.start + deformed.joints * JOINT_ROWS,
        has_joints: deformed.joints > 0,
        has_weights: deformed.targets > 0,
        targets: source.targets,
    }
}

/// Device buffers of skinning.
#[derive(SystemParam)]
pub(crate) struct SkinBuffers<'w> {
    sources: ResMut<'w, SkinSources3d>,
    poses: ResMut<'w, SkinPoses3d>,
    jobs: ResMut<'w, SkinJobs3d>,
    vertices: Res<'w, Vertices3d>,
}

/// Lists the entities to compute, and uploads their jobs and poses.
pub(crate) fn upload(
    (store, jobs): (&mut SkinStore, &mut SkinJobs),
    to: &mut SkinBuffers,
    meshes: &MeshAllocator<Vertex>,
    uploads: &mut Uploads,
    gpu: &GpuDevice,
) -> Result {
    let room = meshes.tail_start();
    let vertex_buffer = Some((to.vertices.id(), room));
    if jobs.vertex_buffer != vertex_buffer {
        jobs.vertex_buffer = vertex_buffer;
        store.mark_all_for_skinning();
    }
    let mut skin_ranges = Vec::new();
    store.computed.clear();
    for (&entity, state) in &mut store.states {
        let SkinState::Deformed(deformed) = state else {
            continue;
        };
        if let (true, Some(source), Some(mesh)) = (
            deformed.is_dirty,
            store.meshes.get(&deformed.mesh),
            meshes.allocation(deformed.mesh),
        ) {
            let words = store.words.range(source.words).start;
            skin_ranges.push(skin_range(deformed, (source, words), mesh, room));
            deformed.is_dirty = false;
            store.computed.push(entity);
        }
    }
    store.words.upload(gpu, uploads, &mut to.sources.0)?;
    store.poses.upload(gpu, uploads, &mut to.poses.0)?;
    let sizes = BufferSizes {
        vertices: to.vertices.bytes(),
        sources: to.sources.bytes(),
        poses: to.poses.bytes(),
        max_range: u64::from(gpu.limits().max_storage_buffer_range),
    };
    jobs.list.clear();
    jobs.dispatches = split_dispatches(skin_ranges, sizes, &mut jobs.list);
    if !jobs.list.is_empty() {
        jobs.list.upload(gpu, uploads, &mut to.jobs.0)?;
    }
    Ok(())
}
