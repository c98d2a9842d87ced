//! The list of entities whose vertices are computed in a frame.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille_content::MeshPlace;

use super::pose::JOINT_ROWS;
use super::source::Source;
use super::{Bent, SkinPoses3d, SkinSources3d, SkinStore, Way};
use crate::instances::{InstanceStore, Vertices3d};
use crate::table::List;

/// Vertices per workgroup, as `skin.wgsl` has it.
const GROUP: u32 = 64;

/// No joints, or no targets.
const NONE: u32 = u32::MAX;

/// An entity as `skin.wgsl` reads it: places in the buffers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Job {
    /// How many workgroups the jobs before have.
    first_group: u32,
    /// The first vertex of the mesh.
    from: u32,
    /// The first vertex of the entity.
    to: u32,
    vertices: u32,
    /// The first word of joints and weights.
    influences: u32,
    /// The first row of joints.
    joints: u32,
    /// The first word of the targets.
    targets: u32,
    target_count: u32,
    /// The first row of weights.
    weights: u32,
}

/// The list of entities whose vertices are computed.
#[derive(Resource, Deref)]
pub struct SkinJobs3d(pub(crate) GpuBuffer);

/// What [`skin_3d`](super::skin_3d) computes in a frame.
#[derive(Resource, Default)]
pub(crate) struct SkinJobs {
    list: List<Job>,
    groups: u32,
    /// How large the buffer of vertices was and where the first vertex of entities was in it when they
    /// were computed: another buffer is larger.
    place: Option<(u64, u32)>,
}

impl SkinJobs {
    pub(super) fn count(&self) -> u32 {
        self.list.now.len() as u32
    }

    pub(super) fn groups(&self) -> u32 {
        self.groups
    }

    /// Forgets what the device has.
    pub(super) fn begin_anew(&mut self) {
        self.list.begin_anew();
        self.place = None;
    }

    fn add(&mut self, bent: &Bent, source: &Source, mesh: MeshPlace, room: u32) {
        let has = |count: u32, place: u32| if count > 0 { place } else { NONE };
        self.list.now.push(Job {
            first_group: self.groups,
            from: mesh.base_vertex as u32,
            to: room + bent.vertices.start,
            vertices: source.vertices,
            influences: has(bent.joints, source.influences()),
            joints: bent.pose.start,
            targets: has(bent.targets, source.target_words()),
            target_count: bent.targets,
            weights: bent.pose.start + bent.joints * JOINT_ROWS,
        });
        self.groups += source.vertices.div_ceil(GROUP);
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
    let place = Some((to.vertices.bytes(), room));
    if jobs.place != place {
        jobs.place = place;
        store.compute_all();
    }
    jobs.list.now.clear();
    jobs.groups = 0;
    for way in store.ways.values_mut() {
        let Way::Bent(bent) = way else {
            continue;
        };
        if let (true, Some(source), Some(mesh)) = (
            bent.is_due,
            store.meshes.get(&bent.mesh),
            instances.meshes().place(bent.mesh),
        ) {
            jobs.add(bent, source, mesh, room);
            bent.is_due = false;
        }
    }
    store.words.send(&gpu, &mut uploads, &mut to.sources.0)?;
    store.poses.send(&gpu, &mut uploads, &mut to.poses.0)?;
    if !jobs.list.now.is_empty() {
        jobs.list.send(&gpu, &mut uploads, &mut to.jobs.0)?;
    }
    Ok(())
}
