//! The systems that bring the tables of meshes, materials and instances up to date: what did not
//! change is neither looked at nor sent.

use bevy_asset::AssetEvent;
use bevy_camera::primitives::Aabb;
use bevy_camera::visibility::{
    InheritedVisibility, NoFrustumCulling, RenderLayers, VisibilityRange,
};
use bevy_camera::{Camera, Camera3d};
use bevy_ecs::batching::BatchingStrategy;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_light::{NotShadowCaster, NotShadowReceiver, RectLight, TransmittedShadowReceiver};
use bevy_mesh::{Mesh3d, MeshTag};
use bevy_transform::components::GlobalTransform;
use bevy_utils::Parallel;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::{Complaints, MeshAssets};

use crate::cull::{ANYWHERE, Bounds3d, CAMERAS, ChunkOrder3d, Chunks3d, Members3d, SHADOWS};
use crate::instances::{
    EnabledMeshes, FreedSlots, Indices3d, InstanceStore, Instances3d, MeshTags3d, RECEIVES,
    RECEIVES_BEHIND, Rows, Slot, Vertices3d, Wanted, rows,
};
use crate::lightmap::{Lightmap, Lightmaps3d};
use crate::material::{MeshMaterial3d, StandardMaterial};
use crate::material_row::{MaterialSource, MaterialStore, Materials3d};
use crate::pipelines::Pipelines3d;
use crate::scene::Scene3d;
use crate::skin::SkinStore;

/// Entities that a thread looks through at once.
const BATCH: usize = 4096;

/// How an entity is drawn.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct MeshItem {
    entity: Entity,
    slot: &'static mut Slot,
    transform: &'static GlobalTransform,
    mesh: &'static Mesh3d,
    material: &'static MeshMaterial3d<StandardMaterial>,
    bounds: Option<&'static Aabb>,
    layers: Option<&'static RenderLayers>,
    is_visible: Option<&'static InheritedVisibility>,
    range: Option<&'static VisibilityRange>,
    lightmap: Option<&'static Lightmap>,
    tag: Option<&'static MeshTag>,
    is_anywhere: Has<NoFrustumCulling>,
    casts_none: Has<NotShadowCaster>,
    receives_none: Has<NotShadowReceiver>,
    receives_behind: Has<TransmittedShadowReceiver>,
}

type AnyChange = (
    With<Slot>,
    Or<(
        Changed<Mesh3d>,
        Changed<MeshMaterial3d<StandardMaterial>>,
        Changed<Aabb>,
        Changed<InheritedVisibility>,
        Changed<RenderLayers>,
        Changed<VisibilityRange>,
        Changed<Lightmap>,
        Changed<MeshTag>,
        Added<GlobalTransform>,
        Added<NoFrustumCulling>,
        Added<NotShadowCaster>,
        Added<NotShadowReceiver>,
        Added<TransmittedShadowReceiver>,
    )>,
);

/// Entities without a component that a mesh is drawn by.
type Bare = Or<(
    Without<Mesh3d>,
    Without<MeshMaterial3d<StandardMaterial>>,
    Without<GlobalTransform>,
)>;

/// Components that entities lost.
#[derive(SystemParam)]
pub(crate) struct Lost<'w, 's> {
    meshes: RemovedComponents<'w, 's, Mesh3d>,
    materials: RemovedComponents<'w, 's, MeshMaterial3d<StandardMaterial>>,
    transforms: RemovedComponents<'w, 's, GlobalTransform>,
    visibilities: RemovedComponents<'w, 's, InheritedVisibility>,
    bounds: RemovedComponents<'w, 's, Aabb>,
    layers: RemovedComponents<'w, 's, RenderLayers>,
    ranges: RemovedComponents<'w, 's, VisibilityRange>,
    lightmaps: RemovedComponents<'w, 's, Lightmap>,
    tags: RemovedComponents<'w, 's, MeshTag>,
    anywhere: RemovedComponents<'w, 's, NoFrustumCulling>,
    casting: RemovedComponents<'w, 's, NotShadowCaster>,
    receiving: RemovedComponents<'w, 's, NotShadowReceiver>,
    behind: RemovedComponents<'w, 's, TransmittedShadowReceiver>,
}

impl Lost<'_, '_> {
    fn read(&mut self) -> impl Iterator<Item = Entity> {
        let bare = self.meshes.read().chain(self.materials.read());
        let bare = bare.chain(self.transforms.read());
        let bare = bare.chain(self.visibilities.read());
        let bounds = self.bounds.read().chain(self.layers.read());
        let marks = self.anywhere.read().chain(self.casting.read());
        let bounds = bounds
            .chain(self.ranges.read())
            .chain(self.lightmaps.read())
            .chain(self.tags.read());
        let receiving = self.receiving.read().chain(self.behind.read());
        bare.chain(bounds).chain(marks).chain(receiving)
    }
}

/// What happened to meshes since the frame before.
#[derive(SystemParam)]
pub(crate) struct MeshChanges<'w, 's> {
    changed: Query<'w, 's, Entity, AnyChange>,
    all: Query<'w, 's, MeshItem>,
    bare: Query<'w, 's, &'static mut Slot, Bare>,
    lost: Lost<'w, 's>,
    freed: ResMut<'w, FreedSlots>,
    enabled: ResMut<'w, EnabledMeshes>,
    meshes: MeshAssets<'w, 's>,
    material_events: MessageReader<'w, 's, AssetEvent<StandardMaterial>>,
    found: Local<'s, Parallel<Vec<Entity>>>,
    entities: Local<'s, Vec<Entity>>,
}

impl MeshChanges<'_, '_> {
    /// Lists the entities that are drawn otherwise, in an order that threads do not decide.
    fn find(&mut self, skins: &SkinStore) {
        let Self {
            changed,
            found,
            entities,
            lost,
            enabled,
            ..
        } = self;
        entities.clear();
        let found: &mut Parallel<Vec<Entity>> = found;
        changed
            .par_iter()
            .batching_strategy(BatchingStrategy::new().min_batch_size(BATCH))
            .for_each_init(
                || found.borrow_local_mut(),
                |found, entity| found.push(entity),
            );
        found.drain_into(entities);
        entities.extend(lost.read());
        entities.append(&mut enabled.0);
        entities.extend_from_slice(skins.moved());
        entities.sort_unstable_by_key(|entity| entity.index_u32());
        entities.dedup();
    }
}

/// Lists in the tables what is drawn otherwise than in the frame before.
pub(crate) fn gather_meshes(
    mut changes: MeshChanges,
    mut instances: ResMut<InstanceStore>,
    mut materials: ResMut<MaterialStore>,
    mut source: MaterialSource,
    skins: Res<SkinStore>,
    complaints: Res<Complaints>,
) {
    let instances = &mut *instances;
    let materials_differ = materials.follow(&mut changes.material_events, &mut source);
    instances.meshes.follow(&mut changes.meshes);
    instances.free(&mut changes.freed);
    changes.find(&skins);
    for &entity in changes.entities.iter() {
        if let Ok(mut item) = changes.all.get_mut(entity) {
            let mut flags = if item.casts_none {
                CAMERAS
            } else {
                CAMERAS | SHADOWS
            };
            if item.is_anywhere || item.bounds.is_none() {
                flags |= ANYWHERE;
            }
            if item.is_visible.is_some_and(|visible| !visible.get()) {
                flags = 0;
            }
            let wanted = Wanted {
                entity,
                transform: item.transform.affine(),
                mesh: item.mesh.id(),
                material: item.material.id(),
                bounds: item.bounds,
                layers: item.layers,
                flags,
                receives: match (item.receives_none, item.receives_behind) {
                    (true, _) => 0,
                    (false, false) => RECEIVES,
                    (false, true) => RECEIVES | RECEIVES_BEHIND,
                },
                range: item.range,
                has_lightmap: item.lightmap.is_some(),
                tag: item.tag.map_or(0, |tag| tag.value),
            };
            instances.meshes.want(wanted.mesh, &mut changes.meshes);
            instances.put(&mut item.slot, &wanted, (&materials, &skins), &complaints);
            let textures = &mut materials.textures(&mut source);
            instances.light(*item.slot, entity, item.lightmap, textures);
        } else if let Ok(mut slot) = changes.bare.get_mut(entity) {
            instances.remove(&mut slot);
        }
    }
    instances.follow_images(&mut materials.textures(&mut source));
    instances.meshes.keep_room(skins.room());
    instances.meshes.arrange();
    instances.follow((&materials, &skins), materials_differ, &complaints);
}

/// Moves in the table what moved in the world.
pub(crate) fn move_meshes(
    moved: Query<(&GlobalTransform, &Slot), Changed<GlobalTransform>>,
    mut instances: ResMut<InstanceStore>,
    complaints: Res<Complaints>,
    mut found: Local<Parallel<Vec<(Slot, Rows)>>>,
) {
    moved
        .par_iter()
        .batching_strategy(BatchingStrategy::new().min_batch_size(BATCH))
        .for_each_init(
            || found.borrow_local_mut(),
            |found, (transform, slot)| found.push((*slot, rows(transform.affine()))),
        );
    for found in found.iter_mut() {
        for (slot, rows) in found.drain(..) {
            instances.move_to(slot, &rows, &complaints);
        }
    }
}

/// The buffers of the tables.
#[derive(SystemParam)]
pub(crate) struct MeshBuffers<'w> {
    instances: ResMut<'w, Instances3d>,
    bounds: ResMut<'w, Bounds3d>,
    chunks: ResMut<'w, Chunks3d>,
    members: ResMut<'w, Members3d>,
    order: ResMut<'w, ChunkOrder3d>,
    lightmaps: ResMut<'w, Lightmaps3d>,
    tags: ResMut<'w, MeshTags3d>,
    materials: ResMut<'w, Materials3d>,
    vertices: ResMut<'w, Vertices3d>,
    indices: ResMut<'w, Indices3d>,
}

/// Components that decide which pipelines meshes need.
#[derive(SystemParam)]
pub(crate) struct PipelineDemand<'w, 's> {
    rects: Query<'w, 's, (), With<RectLight>>,
    cameras: Query<'w, 's, &'static Camera, With<Camera3d>>,
}

/// Uploads changed rows of the tables.
pub(crate) fn send_meshes(
    mut instances: ResMut<InstanceStore>,
    mut materials: ResMut<MaterialStore>,
    mut buffers: MeshBuffers,
    mut scene: ResMut<Scene3d>,
    (mut pipelines, drawn): (ResMut<Pipelines3d>, PipelineDemand),
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let to = &mut buffers;
    instances.bins.list(&mut scene.groups);
    // Cameras with `Camera::invert_culling` draw the same meshes with others.
    let inverts = drawn
        .cameras
        .iter()
        .any(|it| it.is_active && it.invert_culling);
    let keys = scene.groups.iter().flat_map(|group| {
        let inverted = inverts.then_some(group.pipeline.of_view(true));
        [group.pipeline].into_iter().chain(inverted)
    });
    pipelines
        .meshes
        .prepare(&gpu, keys, !drawn.rects.is_empty())?;
    scene.chunks = instances.bins.len();
    scene.instances = instances.len();
    scene.members = instances.bins.members.rows().len() as u32;
    let tables = [
        &mut to.instances.0,
        &mut to.bounds.0,
        &mut to.chunks.0,
        &mut to.members.0,
        &mut to.order.0,
        &mut to.lightmaps.0,
        &mut to.tags.0,
    ];
    instances.send(&gpu, &mut uploads, tables)?;
    materials
        .table
        .send(&gpu, &mut uploads, &mut to.materials.0)?;
    let (vertices, indices) = (&mut to.vertices.0, &mut to.indices.0);
    Ok(instances
        .meshes
        .upload(&gpu, &mut uploads, vertices, indices)?)
}
