//! The list of entities whose vertices are computed in a frame.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::sync::ResourceId;
use quadrille_content::MeshPlace;

use super::parts::{Job, Part, Piece, Sizes, split};
use super::pose::JOINT_ROWS;
use super::source::Source;
use super::{Bent, SkinPoses3d, SkinSources3d, SkinStore, Way};
use crate::instances::{InstanceStore, Vertices3d};
use crate::table::List;

/// The list of entities whose vertices are computed.
#[derive(Resource, Deref)]
pub struct SkinJobs3d(pub(crate) GpuBuffer);

/// What [`skin_3d`](super::skin_3d) computes in a frame.
#[derive(Resource, Default)]
pub(crate) struct SkinJobs {
    list: List<Job>,
    parts: Vec<Part>,
    /// The buffer of vertices, and where the first vertex of entities was in it, when they were computed.
    place: Option<(ResourceId, u32)>,
}

impl SkinJobs {
    /// What each dispatch computes.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Forgets what the device has.
    pub(super) fn begin_anew(&mut self) {
        self.list.begin_anew();
        self.place = None;
    }
}

/// The vertices of an entity, which begin `room` behind those of all meshes.
fn piece(bent: &Bent, (source, words): (&Source, u32), mesh: MeshPlace, room: u32) -> Piece {
    Piece {
        from: mesh.base_vertex as u32,
        to: room + bent.vertices.start,
        vertices: source.vertices,
        source: words,
        source_words: source.vertex_words(),
        pose: bent.pose.clone(),
        weights: bent.pose.start + bent.joints * JOINT_ROWS,
        has_joints: bent.joints > 0,
        has_weights: bent.targets > 0,
        targets: source.targets,
    }
}

/// The buffers of skins.
#[derive(SystemParam)]
pub(crate) struct SkinBuffers<'w> {
    sources: ResMut<'w, SkinSources3d>,
    poses: ResMut<'w, SkinPoses3d>,
    jobs: ResMut<'w, SkinJobs3d>,
    vertices: Res<'w, Vertices3d>,
}

/// Lists what is to be computed, and sends what that depends on to the device.
pub(crate) fn send_skins(
    mut store: ResMut<SkinStore>,
    mut jobs: ResMut<SkinJobs>,
    mut to: SkinBuffers,
    instances: Res<InstanceStore>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    let (store, jobs) = (&mut *store, &mut *jobs);
    let room = instances.meshes().room();
    let place = Some((to.vertices.id(), room));
    if jobs.place != place {
        jobs.place = place;
        store.compute_all();
    }
    let mut pieces = Vec::new();
    for way in store.ways.values_mut() {
        let Way::Bent(bent) = way else {
            continue;
        };
        if let (true, Some(source), Some(mesh)) = (
            bent.is_due,
            store.meshes.get(&bent.mesh),
            instances.meshes().place(bent.mesh),
        ) {
            let words = store.words.range(source.words).start;
            pieces.push(piece(bent, (source, words), mesh, room));
            bent.is_due = false;
        }
    }
    store.words.upload(&gpu, &mut uploads, &mut to.sources.0)?;
    store.poses.send(&gpu, &mut uploads, &mut to.poses.0)?;
    let sizes = Sizes {
        vertices: to.vertices.bytes(),
        sources: to.sources.bytes(),
        poses: to.poses.bytes(),
        most: u64::from(gpu.limits().max_storage_buffer_range),
    };
    jobs.list.now.clear();
    jobs.parts = split(pieces, sizes, &mut jobs.list.now);
    if !jobs.list.now.is_empty() {
        jobs.list.send(&gpu, &mut uploads, &mut to.jobs.0)?;
    }
    Ok(())
}
