//! Jobs of skinning in a frame.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::sync::resource::ResourceId;
use quadrille_content::buffers::{RawBufferVec, grow_buffer};
use quadrille_content::meshes::{MeshAllocation, MeshAllocator};

use super::dispatches::{BufferSizes, Job, SkinDispatch, SkinRange, split_dispatches};
use super::pose::JOINT_ROWS;
use super::source::SkinSource;
use super::{Deformed, PreviousPositions3d, SkinPoses3d, SkinSources3d, SkinState, SkinStore};
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
    /// Stamp of the frame whose previous positions are saved.
    motion_frame: Option<u32>,
}

impl SkinJobs {
    /// Returns the dispatches of the frame.
    pub(super) fn dispatches(&self) -> &[SkinDispatch] {
        &self.dispatches
    }

    /// Stamp of saved positions; 0 if none are saved.
    pub(super) fn stamp(&self) -> u32 {
        self.motion_frame.unwrap_or(0)
    }

    /// First vertex of entities, from which on previous positions are saved; `u32::MAX` if none are.
    pub(crate) fn first_deformed_vertex(&self) -> u32 {
        let vertices = self.vertex_buffer.filter(|_| self.motion_frame.is_some());
        vertices.map_or(u32::MAX, |(_, first)| first)
    }

    /// Marks all contents dirty, for a new device.
    pub(super) fn mark_all_dirty(&mut self) {
        self.list.mark_all_dirty();
        self.motion_frame = None;
        self.vertex_buffer = None;
    }
}

/// Returns the range of an entity; `room` is the end of the vertices of all meshes.
fn skin_range(
    deformed: &Deformed,
    (source, words): (&SkinSource, u32),
    mesh: MeshAllocation,
    room: u32,
    saves: bool,
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
        save_to: saves.then_some(deformed.vertices.start),
        has_previous: deformed.has_vertices,
    }
}

/// Device buffers of skinning.
#[derive(SystemParam)]
pub(crate) struct SkinBuffers<'w> {
    sources: ResMut<'w, SkinSources3d>,
    poses: ResMut<'w, SkinPoses3d>,
    jobs: ResMut<'w, SkinJobs3d>,
    previous: ResMut<'w, PreviousPositions3d>,
    vertices: Res<'w, Vertices3d>,
}

/// Bytes per row of [`PreviousPositions3d`].
const POSITION_BYTES: u64 = size_of::<[u32; 4]>() as u64;

/// Prepares the buffer of previous positions for a frame with this stamp. Returns the stamp if positions are saved: where the
/// buffer would exceed `maxStorageBufferRange`, they are not.
fn prepare_previous(
    (store, jobs): (&mut SkinStore, &SkinJobs),
    to: &mut SkinBuffers,
    motion_frame: Option<u32>,
    gpu: &GpuDevice,
) -> Result<Option<u32>> {
    let bytes = u64::from(store.room()) * POSITION_BYTES;
    let fits = bytes <= u64::from(gpu.limits().max_storage_buffer_range);
    let Some(frame) = motion_frame.filter(|_| fits) else {
        return Ok(None);
    };
    let is_new = grow_buffer(gpu, &mut to.previous.0, bytes)?;
    if is_new || jobs.motion_frame.is_none() {
        // All rows are written, since shaders read them.
        store.mark_all_for_skinning(true);
    }
    Ok(Some(frame))
}

/// Lists the entities to compute, and uploads their jobs and poses. `motion_frame`: stamp of the frame if a camera has
/// motion vectors.
pub(crate) fn upload(
    (store, jobs): (&mut SkinStore, &mut SkinJobs),
    to: &mut SkinBuffers,
    (meshes, motion_frame): (&MeshAllocator<Vertex>, Option<u32>),
    uploads: &mut Uploads,
    gpu: &GpuDevice,
) -> Result {
    let room = meshes.tail_start();
    let vertex_buffer = Some((to.vertices.id(), room));
    if jobs.vertex_buffer != vertex_buffer {
        jobs.vertex_buffer = vertex_buffer;
        store.mark_all_for_skinning(false);
    }
    jobs.motion_frame = prepare_previous((&mut *store, &*jobs), to, motion_frame, gpu)?;
    let saves = jobs.motion_frame.is_some();
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
            skin_ranges.push(skin_range(deformed, (source, words), mesh, room, saves));
            deformed.is_dirty = false;
            deformed.has_vertices = true;
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
