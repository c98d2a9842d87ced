//! Deformed meshes: skins (`SkinnedMesh`) and morph targets (`MeshMorphWeights`).
//!
//! ```text
//! extract_skins   meshes -> influences and morph targets; entities -> changed poses
//! upload_skins    uploads both, and the jobs of entities to compute
//! skin_3d         vertices of meshes -> vertices of entities, after those of all meshes
//! ```
//! Each deformed entity has its own vertices in [`Vertices3d`](crate::resources::Vertices3d), computed once for all views and
//! shadow maps, and only after a change of joints, weights or the mesh. Otherwise it is drawn like a rigid mesh, by the
//! same pipelines with another `vertexOffset`.

pub(crate) mod dispatches;
mod extract;
pub(crate) mod jobs;
mod pass;
mod pose;
mod source;

pub(crate) use extract::extract_skins;
pub use jobs::SkinJobs3d;
pub use pass::skin_3d;

use std::ops::Range;

use bevy_app::App;
use bevy_asset::AssetId;
use bevy_derive::Deref;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_mesh::Mesh;
use bevy_platform::collections::HashMap;
use quadrille::ecs::RenderStartup;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille_content::buffers::{BlockAllocator, RangeAllocator, RangeTable};
use quadrille_content::meshes::MeshAllocation;

use jobs::SkinJobs;
use pass::SkinPipeline3d;
use source::SkinSource;

use crate::tables::table::table_buffer;

/// Adds skinning and morph targets to an app.
pub(crate) fn add_skinning(app: &mut App) {
    app.init_resource::<SkinStore>()
        .init_resource::<SkinJobs>()
        .add_systems(RenderStartup, init_device_resources);
}

/// Creates device resources, and marks all contents dirty for the new device.
fn init_device_resources(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
    mut store: ResMut<SkinStore>,
    mut jobs: ResMut<SkinJobs>,
) -> Result {
    let mut table = |name| {
        let buffer = table_buffer(&gpu, name, 0)?;
        uploads.write_buffer(&buffer, 0, &[0; 64]);
        Ok::<_, BevyError>(buffer)
    };
    commands.insert_resource(SkinJobs3d(table("3d skin jobs")?));
    commands.insert_resource(SkinSources3d(table("3d skin sources")?));
    commands.insert_resource(SkinPoses3d(table("3d skin poses")?));
    commands.insert_resource(PreviousPositions3d(table("3d previous positions")?));
    commands.insert_resource(SkinPipeline3d::new(&gpu)?);
    store.mark_all_dirty();
    jobs.mark_all_dirty();
    Ok(())
}

/// Joint influences and morph targets of meshes: per vertex four joints and weights, then per target and vertex the
/// displacements of position, normal and tangent.
#[derive(Resource, Deref)]
pub struct SkinSources3d(pub(crate) GpuBuffer);

/// Joint matrices (three rows each), then morph weights, per deformed entity.
#[derive(Resource, Deref)]
pub struct SkinPoses3d(pub(crate) GpuBuffer);

/// Positions of deformed vertices before they were computed last, from the first vertex of entities on: three floats, and
/// the number of the frame in which that was. Written while a camera has
/// [`MotionVectorPrepass`](crate::MotionVectorPrepass).
#[derive(Resource, Deref)]
pub struct PreviousPositions3d(pub(crate) GpuBuffer);

/// State of a deformed entity.
struct Deformed {
    mesh: AssetId<Mesh>,
    /// [`SkinSource::version`] for which its ranges are allocated.
    version: u64,
    /// Range of its vertices, relative to the end of all meshes.
    vertices: Range<u32>,
    /// Rows of [`SkinStore::poses`].
    pose: Range<u32>,
    joints: u32,
    targets: u32,
    /// Whether its vertices must be computed in this frame.
    is_dirty: bool,
    /// Whether its vertices were computed before, where they are now.
    has_vertices: bool,
    /// Whether joints or weights changed while it was hidden.
    is_pose_stale: bool,
    /// Whether its weights were there when they were last extracted: shared ones may be removed from their entity.
    has_weights: bool,
    /// [`SkinStore::frame`] in which it was last extracted.
    last_frame: u64,
}

/// State of an entity with a skin or weights.
enum SkinState {
    Deformed(Deformed),
    /// Not drawn: its skin is not loaded or invalid.
    NotDrawn {
        /// [`SkinStore::frame`] in which it was last extracted.
        last_frame: u64,
    },
}

impl SkinState {
    fn last_frame(&self) -> u64 {
        match self {
            Self::Deformed(deformed) => deformed.last_frame,
            Self::NotDrawn { last_frame } => *last_frame,
        }
    }
}

/// Deformable meshes and their entities.
#[derive(Resource, Default)]
pub(crate) struct SkinStore {
    meshes: HashMap<AssetId<Mesh>, SkinSource>,
    words: BlockAllocator<u32>,
    /// Whether all data must be uploaded to a new device.
    is_device_new: bool,
    poses: RangeTable<[f32; 4]>,
    vertices: RangeAllocator,
    states: EntityHashMap<SkinState>,
    /// Entities whose vertex allocation has changed since the previous frame.
    moved: Vec<Entity>,
    /// Entities whose vertices are computed in this frame.
    computed: Vec<Entity>,
    frame: u64,
    version: u64,
}

impl SkinStore {
    /// Returns the allocation of a deformed entity whose mesh is at `mesh`; `None` if it is not drawn. `room` is the
    /// end of the vertices of all meshes.
    pub(crate) fn locate(
        &self,
        entity: Entity,
        mesh: MeshAllocation,
        room: u32,
    ) -> Option<MeshAllocation> {
        match self.states.get(&entity) {
            None => Some(mesh),
            Some(SkinState::NotDrawn { .. }) => None,
            Some(SkinState::Deformed(deformed)) => Some(MeshAllocation {
                base_vertex: (room + deformed.vertices.start) as i32,
                ..mesh
            }),
        }
    }

    /// Entities whose vertex allocation has changed since the previous frame.
    pub(crate) fn moved(&self) -> &[Entity] {
        &self.moved
    }

    /// Entities whose vertices are computed in this frame, once their jobs are uploaded.
    pub(crate) fn computed(&self) -> &[Entity] {
        &self.computed
    }

    /// Number of vertices that all entities need.
    pub(crate) fn room(&self) -> u32 {
        self.vertices.end()
    }

    /// Marks all contents dirty, for a new device.
    fn mark_all_dirty(&mut self) {
        self.is_device_new = true;
        self.poses.mark_all_dirty();
        self.mark_all_for_skinning(false);
    }

    /// Marks all entities for computation. `has_vertices`: their vertices stay where they are.
    fn mark_all_for_skinning(&mut self, has_vertices: bool) {
        for state in self.states.values_mut() {
            if let SkinState::Deformed(deformed) = state {
                deformed.is_dirty = true;
                deformed.has_vertices &= has_vertices;
            }
        }
    }

    /// Frees the allocations of an entity.
    fn release(&mut self, entity: Entity) {
        let Some(state) = self.states.remove(&entity) else {
            return;
        };
        self.moved.push(entity);
        if let SkinState::Deformed(deformed) = state {
            self.vertices.free(deformed.vertices);
            self.poses.remove(deformed.pose);
        }
    }
}
