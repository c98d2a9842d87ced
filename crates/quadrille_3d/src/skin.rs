//! Meshes that bend: skins (`SkinnedMesh`) and morph targets (`MeshMorphWeights`).
//!
//! ```text
//! gather_skins   meshes -> what their vertices follow; entities -> joints and weights that changed
//! send_skins     those, and the list of entities to compute
//! skin_3d        vertices of the mesh -> vertices of the entity, behind those of all meshes
//! ```
//! Each such entity has vertices of its own in [`Vertices3d`](crate::Vertices3d), computed once for all
//! views and shadow maps, and only when a joint, a weight or the mesh changed. All else about it is
//! as with any other mesh: it is drawn by the same pipelines, with another first vertex.

mod gather;
mod jobs;
mod parts;
mod pass;
mod pose;
mod source;

pub use jobs::SkinJobs3d;
pub use pass::{Skinning3d, skin_3d};

use std::ops::Range;

use bevy_app::App;
use bevy_asset::AssetId;
use bevy_derive::Deref;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_mesh::Mesh;
use bevy_platform::collections::HashMap;
use quadrille::ecs::RenderStartup;
use quadrille::prelude::{GpuBuffer, GpuDevice, Render, Uploads};
use quadrille_content::{ContentSystems, DeviceRanges, MeshPlace, Ranges};

use crate::gather::gather_meshes;
use crate::plugin::{Pass3dSystems, Prepare3dSystems};
use crate::ranges::RangeTable;
use crate::table::table_buffer;
use gather::gather_skins;
use jobs::{SkinJobs, send_skins};
use pass::SkinPipeline3d;
use source::Source;

/// Adds what bends meshes.
pub(crate) fn add_skins(app: &mut App) {
    app.init_resource::<SkinStore>()
        .init_resource::<SkinJobs>()
        .add_systems(RenderStartup, make)
        .add_systems(
            Render,
            (
                gather_skins
                    .in_set(Prepare3dSystems::Gather)
                    .in_set(ContentSystems::Meshes)
                    .before(gather_meshes),
                send_skins.in_set(Prepare3dSystems::Send),
                skin_3d.in_set(Pass3dSystems::Skin),
            ),
        );
}

/// Makes what belongs to the device, and forgets what belonged to the one before.
fn make(
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
    commands.insert_resource(SkinPipeline3d::new(&gpu)?);
    store.begin_anew();
    jobs.begin_anew();
    Ok(())
}

/// What the vertices of meshes with joints or morph targets follow: per vertex four joints and their
/// weights, then per target and vertex the differences of position, normal and tangent.
#[derive(Resource, Deref)]
pub struct SkinSources3d(pub(crate) GpuBuffer);

/// Per entity that bends the matrices of its joints, three rows of four numbers each, then the weights of
/// its morph targets.
#[derive(Resource, Deref)]
pub struct SkinPoses3d(pub(crate) GpuBuffer);

/// An entity that bends.
struct Bent {
    mesh: AssetId<Mesh>,
    /// [`Source::version`] of what it has room for.
    version: u64,
    /// Of the room behind the vertices of all meshes.
    vertices: Range<u32>,
    /// Rows of [`SkinStore::poses`].
    pose: Range<u32>,
    joints: u32,
    targets: u32,
    /// Its vertices are to be computed in this frame.
    is_due: bool,
    /// Something changed while it was hidden.
    is_stale: bool,
    /// [`SkinStore::frame`] when it was seen last.
    seen: u64,
}

/// How an entity with a skin or weights is drawn.
enum Way {
    Bent(Bent),
    /// It is not: its skin is not loaded, or does not fit.
    Not {
        /// [`SkinStore::frame`] when it was seen last.
        seen: u64,
    },
}

impl Way {
    fn seen(&self) -> u64 {
        match self {
            Self::Bent(bent) => bent.seen,
            Self::Not { seen } => *seen,
        }
    }
}

/// The meshes and entities that bend.
#[derive(Resource, Default)]
pub(crate) struct SkinStore {
    meshes: HashMap<AssetId<Mesh>, Source>,
    words: DeviceRanges<u32>,
    /// The device's buffers are new, and hold nothing.
    is_lost: bool,
    poses: RangeTable<[f32; 4]>,
    vertices: Ranges,
    ways: EntityHashMap<Way>,
    /// Entities whose vertices lie elsewhere now than in the frame before.
    moved: Vec<Entity>,
    frame: u64,
    version: u64,
}

impl SkinStore {
    /// Where the vertices of an entity are whose mesh is at `place`; none if it is not drawn.
    /// `room` is the first vertex behind those of all meshes.
    pub(crate) fn place(&self, entity: Entity, place: MeshPlace, room: u32) -> Option<MeshPlace> {
        match self.ways.get(&entity) {
            None => Some(place),
            Some(Way::Not { .. }) => None,
            Some(Way::Bent(bent)) => Some(MeshPlace {
                base_vertex: (room + bent.vertices.start) as i32,
                ..place
            }),
        }
    }

    /// Entities whose vertices lie elsewhere now than in the frame before.
    pub(crate) fn moved(&self) -> &[Entity] {
        &self.moved
    }

    /// How many vertices the entities need in all.
    pub(crate) fn room(&self) -> u32 {
        self.vertices.end()
    }

    /// Forgets what the device has.
    fn begin_anew(&mut self) {
        self.is_lost = true;
        self.poses.begin_anew();
        self.compute_all();
    }

    fn compute_all(&mut self) {
        for way in self.ways.values_mut() {
            if let Way::Bent(bent) = way {
                bent.is_due = true;
            }
        }
    }

    /// Gives back what an entity has.
    fn forget(&mut self, entity: Entity) {
        let Some(way) = self.ways.remove(&entity) else {
            return;
        };
        self.moved.push(entity);
        if let Way::Bent(bent) = way {
            self.vertices.give(bent.vertices);
            self.poses.remove(bent.pose);
        }
    }
}
