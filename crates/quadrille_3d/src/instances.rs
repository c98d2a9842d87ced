//! All meshes of the world in one table, whose rows change when their entities do.

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_camera::primitives::Aabb;
use bevy_derive::Deref;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_light::NotShadowReceiver;
use bevy_math::{Affine3A, Vec3};
use bevy_mesh::{Mesh, Mesh3d};
use bevy_transform::components::GlobalTransform;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille_content::{Complaints, MeshPlace, MeshStore, first_odd, is_finite};

use crate::material::{MeshMaterial3d, StandardMaterial};
use crate::material_row::{Look, MaterialSource, MaterialStore, Materials3d};
use crate::mesh_vertex::Vertex;
use crate::skin::SkinStore;
use crate::table::Table;

/// One row of the table of instances.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct InstanceRow {
    /// The rows of the affine matrix from the mesh's space to the world's.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// Place in the table of materials.
    pub(crate) material: u32,
    /// [`RECEIVES`].
    pub(crate) flags: u32,
    pub(crate) unused: [u32; 2],
}

/// Shadows fall on it.
const RECEIVES: u32 = 1;

/// The table of instances: 64 bytes each.
#[derive(Resource, Deref)]
pub struct Instances3d(pub(crate) GpuBuffer);

/// The vertices of all meshes.
#[derive(Resource, Deref)]
pub struct Vertices3d(pub(crate) GpuBuffer);

/// The indices of all meshes.
#[derive(Resource, Deref)]
pub struct Indices3d(pub(crate) GpuBuffer);

/// What is known of an entity with a mesh.
struct Known {
    place: u32,
    mesh: AssetId<Mesh>,
    material: AssetId<StandardMaterial>,
    /// The middle of its bounds in the world.
    center: Vec3,
    drawn: Option<(MeshPlace, Look)>,
}

/// How an entity is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawnMesh {
    /// Place in the table of instances.
    pub(crate) instance: u32,
    pub(crate) mesh: MeshPlace,
    pub(crate) look: Look,
    pub(crate) center: Vec3,
}

/// The meshes of the world.
#[derive(Resource, Default)]
pub(crate) struct InstanceStore {
    table: Table<InstanceRow>,
    known: EntityHashMap<Known>,
    meshes: MeshStore<Vertex>,
    /// [`MeshStore::changes`] when all places were looked up.
    mesh_changes: u64,
}

impl InstanceStore {
    /// How an entity is drawn; none if it is not.
    pub(crate) fn get(&self, entity: Entity) -> Option<DrawnMesh> {
        let known = self.known.get(&entity)?;
        let (mesh, look) = known.drawn?;
        Some(DrawnMesh {
            instance: known.place,
            mesh,
            look,
            center: known.center,
        })
    }

    /// The meshes themselves.
    pub(crate) fn meshes(&self) -> &MeshStore<Vertex> {
        &self.meshes
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.table.begin_anew();
        self.meshes.begin_anew();
    }

    /// Where the vertices of an entity with a mesh are; none if it is not drawn.
    fn place(&self, entity: Entity, mesh: AssetId<Mesh>, skins: &SkinStore) -> Option<MeshPlace> {
        skins.place(entity, self.meshes.place(mesh)?, self.meshes.room())
    }

    fn put(
        &mut self,
        item: ChangedItem<'_>,
        materials: &MaterialStore,
        skins: &SkinStore,
        complaints: &Complaints,
    ) {
        let (entity, transform, mesh, material, aabb, not_receiver) = item;
        let affine = transform.affine();
        let rows = rows(affine);
        if !is_finite(rows.as_flattened()) {
            complaints.warn(format_args!("the mesh {entity}"), || {
                first_odd(&[("transform", rows.as_flattened())])
            });
            self.remove(entity);
            return;
        }
        let known_material = materials.get(material.id());
        let row = InstanceRow {
            world_from_local: rows,
            material: known_material.map_or(0, |(place, _)| place),
            flags: if not_receiver { 0 } else { RECEIVES },
            unused: [0; 2],
        };
        let place = match self.known.get(&entity) {
            Some(known) => {
                self.table.set(known.place, row);
                known.place
            }
            None => self.table.add(row),
        };
        let center = aabb.map_or(Vec3::ZERO, |aabb| aabb.center.into());
        let mesh_place = self.place(entity, mesh.id(), skins);
        let known = Known {
            place,
            mesh: mesh.id(),
            material: material.id(),
            center: affine.transform_point3(center),
            drawn: mesh_place.zip(known_material.map(|(_, look)| look)),
        };
        self.known.insert(entity, known);
    }

    fn remove(&mut self, entity: Entity) {
        if let Some(known) = self.known.remove(&entity) {
            self.table.remove(known.place);
        }
    }

    /// Looks meshes and materials of all entities up again.
    fn look_up(&mut self, materials: &MaterialStore, skins: &SkinStore) {
        let room = self.meshes.room();
        for (&entity, known) in &mut self.known {
            let mesh = self.meshes.place(known.mesh);
            let mesh = mesh.and_then(|place| skins.place(entity, place, room));
            let material = materials.get(known.material);
            known.drawn = mesh.zip(material.map(|(_, look)| look));
            if let Some((place, _)) = material {
                self.table.change(known.place, |row| row.material = place);
            }
        }
    }
}

/// The rows of an affine matrix, as shaders read it.
pub(crate) fn rows(matrix: Affine3A) -> [[f32; 4]; 3] {
    let (axes, at) = (matrix.matrix3, matrix.translation);
    [0, 1, 2].map(|row| {
        [
            axes.x_axis[row],
            axes.y_axis[row],
            axes.z_axis[row],
            at[row],
        ]
    })
}

type ChangedItem<'a> = (
    Entity,
    &'a GlobalTransform,
    &'a Mesh3d,
    &'a MeshMaterial3d<StandardMaterial>,
    Option<&'a Aabb>,
    bool,
);

type MeshQuery = (
    Entity,
    &'static GlobalTransform,
    &'static Mesh3d,
    &'static MeshMaterial3d<StandardMaterial>,
    Option<&'static Aabb>,
    Has<NotShadowReceiver>,
);

type AnyChange = Or<(
    Changed<GlobalTransform>,
    Changed<Mesh3d>,
    Changed<MeshMaterial3d<StandardMaterial>>,
    Changed<Aabb>,
    Added<NotShadowReceiver>,
)>;

/// What happened to meshes since the frame before.
#[derive(SystemParam)]
pub(crate) struct MeshChanges<'w, 's> {
    changed: Query<'w, 's, MeshQuery, AnyChange>,
    all: Query<'w, 's, MeshQuery>,
    without_mesh: RemovedComponents<'w, 's, Mesh3d>,
    without_material: RemovedComponents<'w, 's, MeshMaterial3d<StandardMaterial>>,
    receiving: RemovedComponents<'w, 's, NotShadowReceiver>,
    mesh_events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    meshes: Res<'w, Assets<Mesh>>,
    material_events: MessageReader<'w, 's, AssetEvent<StandardMaterial>>,
}

/// What is written to.
#[derive(SystemParam)]
pub(crate) struct MeshTables<'w> {
    instances: ResMut<'w, InstanceStore>,
    skins: Res<'w, SkinStore>,
    materials: ResMut<'w, MaterialStore>,
    material_source: MaterialSource<'w>,
    instance_buffer: ResMut<'w, Instances3d>,
    material_buffer: ResMut<'w, Materials3d>,
    vertices: ResMut<'w, Vertices3d>,
    indices: ResMut<'w, Indices3d>,
}

/// Brings the tables of meshes, materials and instances up to date: what did not change is
/// neither looked at nor sent.
pub(crate) fn gather_meshes(
    mut changes: MeshChanges,
    mut tables: MeshTables,
    complaints: Res<Complaints>,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let (instances, materials) = (&mut *tables.instances, &mut *tables.materials);
    let events = &mut changes.material_events;
    let materials_differ = materials.follow(events, &mut tables.material_source);
    let events = &mut changes.mesh_events;
    instances.meshes.follow(events, &changes.meshes);
    for entity in changes
        .without_mesh
        .read()
        .chain(changes.without_material.read())
    {
        // It may have got another one since.
        if !changes.all.contains(entity) {
            instances.remove(entity);
        }
    }
    let skins = &*tables.skins;
    for item in &changes.changed {
        instances.put(item, materials, skins, &complaints);
    }
    let moved = skins.moved().iter().copied();
    for entity in changes.receiving.read().chain(moved) {
        if let Ok(item) = changes.all.get(entity) {
            instances.put(item, materials, skins, &complaints);
        }
    }
    instances.meshes.keep_room(skins.room());
    let mesh_changes = instances.meshes.changes();
    if materials_differ || instances.mesh_changes != mesh_changes {
        instances.mesh_changes = mesh_changes;
        instances.look_up(materials, skins);
    }
    let uploads = &mut *uploads;
    instances
        .table
        .send(&gpu, uploads, &mut tables.instance_buffer.0)?;
    materials
        .table
        .send(&gpu, uploads, &mut tables.material_buffer.0)?;
    let (vertices, indices) = (&mut tables.vertices.0, &mut tables.indices.0);
    Ok(instances.meshes.upload(&gpu, uploads, vertices, indices)?)
}
