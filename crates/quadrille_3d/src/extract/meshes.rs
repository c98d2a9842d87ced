//! Systems that update the tables of meshes, materials and instances: unchanged
//! entities are neither visited nor uploaded.

use bevy_asset::AssetEvent;
use bevy_camera::Camera;
use bevy_camera::primitives::Aabb;
use bevy_camera::visibility::{
    InheritedVisibility, NoFrustumCulling, RenderLayers, VisibilityRange,
};
use bevy_ecs::batching::BatchingStrategy;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_light::{NotShadowCaster, NotShadowReceiver, TransmittedShadowReceiver};
use bevy_mesh::{Mesh3d, MeshTag};
use bevy_transform::components::GlobalTransform;
use bevy_utils::Parallel;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::meshes::MeshAssets;
use quadrille_content::warnings::RateLimitedWarnings;

use crate::components::lightmap::Lightmap;
use crate::components::material::{MeshMaterial3d, StandardMaterial};
use crate::components::prepass::MotionVectorPrepass;
use crate::constants::{
    CAMERAS, NO_FRUSTUM_CULLING, SHADOW_RECEIVER, SHADOWS, TRANSMITTED_SHADOW_RECEIVER,
};
use crate::extract::custom_materials::MaterialInstance;
use crate::extract::instances::{EnabledMeshes, FreedSlots, InstanceDesc, InstanceStore, Slot};
use crate::extract::materials::{MaterialId, MaterialSource, MaterialStore};
use crate::scene::buffers::{
    AttributeBases3d, BatchInstances3d, BatchOrder3d, Batches3d, Bounds3d, CustomMaterials3d,
    Indices3d, Instances3d, Lightmaps3d, Materials3d, MeshAttributes3d, MeshTags3d,
    PreviousInstances3d, Vertices3d,
};
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::lists::{BatchList, MaterialRanges};
use crate::scene::rows::frame_stamp;
use crate::skin::SkinStore;
use quadrille_content::affine::{AffineRows, affine_rows};

/// Entities per task of parallel iteration.
const PARALLEL_BATCH_SIZE: usize = 4096;

/// Components of a mesh entity.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct MeshItem {
    entity: Entity,
    slot: &'static mut Slot,
    transform: &'static GlobalTransform,
    mesh: &'static Mesh3d,
    material: Option<&'static MeshMaterial3d<StandardMaterial>>,
    custom_material: Option<&'static MaterialInstance>,
    bounds: Option<&'static Aabb>,
    layers: Option<&'static RenderLayers>,
    is_visible: Option<&'static InheritedVisibility>,
    range: Option<&'static VisibilityRange>,
    lightmap: Option<&'static Lightmap>,
    tag: Option<&'static MeshTag>,
    no_frustum_culling: Has<NoFrustumCulling>,
    not_shadow_caster: Has<NotShadowCaster>,
    not_shadow_receiver: Has<NotShadowReceiver>,
    transmitted_shadow_receiver: Has<TransmittedShadowReceiver>,
}

type ChangedMeshes = (
    With<Slot>,
    Or<(
        Changed<Mesh3d>,
        Changed<MeshMaterial3d<StandardMaterial>>,
        Changed<MaterialInstance>,
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

/// Filter for entities without a required component of mesh entities.
type WithoutMeshComponents = Or<(
    Without<Mesh3d>,
    (
        Without<MeshMaterial3d<StandardMaterial>>,
        Without<MaterialInstance>,
    ),
    Without<GlobalTransform>,
)>;

/// Filter for entities with a material. Makes queries disjoint from those with [`WithoutMeshComponents`].
type WithMaterial = Or<(
    With<MeshMaterial3d<StandardMaterial>>,
    With<MaterialInstance>,
)>;

/// Removed components of mesh entities.
#[derive(SystemParam)]
pub(crate) struct RemovedMeshComponents<'w, 's> {
    meshes: RemovedComponents<'w, 's, Mesh3d>,
    materials: RemovedComponents<'w, 's, MeshMaterial3d<StandardMaterial>>,
    transforms: RemovedComponents<'w, 's, GlobalTransform>,
    visibilities: RemovedComponents<'w, 's, InheritedVisibility>,
    bounds: RemovedComponents<'w, 's, Aabb>,
    layers: RemovedComponents<'w, 's, RenderLayers>,
    ranges: RemovedComponents<'w, 's, VisibilityRange>,
    lightmaps: RemovedComponents<'w, 's, Lightmap>,
    tags: RemovedComponents<'w, 's, MeshTag>,
    no_frustum_culling: RemovedComponents<'w, 's, NoFrustumCulling>,
    not_shadow_caster: RemovedComponents<'w, 's, NotShadowCaster>,
    not_shadow_receiver: RemovedComponents<'w, 's, NotShadowReceiver>,
    transmitted_shadow_receiver: RemovedComponents<'w, 's, TransmittedShadowReceiver>,
}

impl RemovedMeshComponents<'_, '_> {
    fn read(&mut self) -> impl Iterator<Item = Entity> {
        let incomplete = self.meshes.read().chain(self.materials.read());
        let incomplete = incomplete.chain(self.transforms.read());
        let incomplete = incomplete.chain(self.visibilities.read());
        let bounds = self.bounds.read().chain(self.layers.read());
        let marks = self
            .no_frustum_culling
            .read()
            .chain(self.not_shadow_caster.read());
        let bounds = bounds
            .chain(self.ranges.read())
            .chain(self.lightmaps.read())
            .chain(self.tags.read());
        let not_shadow_receiver = self
            .not_shadow_receiver
            .read()
            .chain(self.transmitted_shadow_receiver.read());
        incomplete
            .chain(bounds)
            .chain(marks)
            .chain(not_shadow_receiver)
    }
}

/// Changes of meshes since the previous frame.
#[derive(SystemParam)]
pub(crate) struct MeshChanges<'w, 's> {
    changed: Query<'w, 's, Entity, ChangedMeshes>,
    all: Query<'w, 's, MeshItem, WithMaterial>,
    incomplete: Query<'w, 's, &'static mut Slot, WithoutMeshComponents>,
    removed: RemovedMeshComponents<'w, 's>,
    freed: ResMut<'w, FreedSlots>,
    enabled: ResMut<'w, EnabledMeshes>,
    meshes: MeshAssets<'w, 's>,
    material_events: MessageReader<'w, 's, AssetEvent<StandardMaterial>>,
    motion_cameras: Query<'w, 's, &'static Camera, With<MotionVectorPrepass>>,
    effects: Res<'w, EffectCameras>,
    found: Local<'s, Parallel<Vec<Entity>>>,
    entities: Local<'s, Vec<Entity>>,
}

impl MeshChanges<'_, '_> {
    /// Stamp of the frame for motion vectors; `None` if no camera has any.
    fn motion_frame(&self) -> Option<u32> {
        let mut cameras = self.motion_cameras.iter();
        let has_motion = cameras.any(|camera| camera.is_active);
        has_motion.then(|| frame_stamp(self.effects.submitted))
    }

    /// Collects changed entities, in an order that is independent of thread scheduling.
    fn find(&mut self, skins: &SkinStore) {
        let Self {
            changed,
            found,
            entities,
            removed,
            enabled,
            ..
        } = self;
        entities.clear();
        let found: &mut Parallel<Vec<Entity>> = found;
        changed
            .par_iter()
            .batching_strategy(BatchingStrategy::new().min_batch_size(PARALLEL_BATCH_SIZE))
            .for_each_init(
                || found.borrow_local_mut(),
                |found, entity| found.push(entity),
            );
        found.drain_into(entities);
        entities.extend(removed.read());
        entities.append(&mut enabled.0);
        entities.extend_from_slice(skins.moved());
        entities.sort_unstable_by_key(|entity| entity.index_u32());
        entities.dedup();
    }
}

/// Updates the tables for changed mesh entities.
pub(crate) fn extract_meshes(
    mut changes: MeshChanges,
    mut instances: ResMut<InstanceStore>,
    mut materials: ResMut<MaterialStore>,
    mut source: MaterialSource,
    skins: Res<SkinStore>,
    warnings: Res<RateLimitedWarnings>,
) {
    let instances = &mut *instances;
    instances.begin_motion(changes.motion_frame());
    instances.caster_changes.clear();
    let materials_changed = materials.apply_events(&mut changes.material_events, &mut source);
    instances.meshes.apply_asset_events(&mut changes.meshes);
    instances.free(&mut changes.freed);
    changes.find(&skins);
    for &entity in changes.entities.iter() {
        if let Ok(mut item) = changes.all.get_mut(entity) {
            let custom = item.custom_material.and_then(|instance| instance.0);
            let standard = item
                .material
                .map(|material| MaterialId::Standard(material.id()));
            let Some(material) = custom.map(MaterialId::Custom).or(standard) else {
                instances.remove(&mut item.slot);
                continue;
            };
            let mut flags = if item.not_shadow_caster {
                CAMERAS
            } else {
                CAMERAS | SHADOWS
            };
            if item.no_frustum_culling || item.bounds.is_none() {
                flags |= NO_FRUSTUM_CULLING;
            }
            if item.is_visible.is_some_and(|visible| !visible.get()) {
                flags = 0;
            }
            let desc = InstanceDesc {
                entity,
                transform: item.transform.affine(),
                mesh: item.mesh.id(),
                material,
                bounds: item.bounds,
                layers: item.layers,
                flags,
                shadow_receiver_flags: match (
                    item.not_shadow_receiver,
                    item.transmitted_shadow_receiver,
                ) {
                    (true, _) => 0,
                    (false, false) => SHADOW_RECEIVER,
                    (false, true) => SHADOW_RECEIVER | TRANSMITTED_SHADOW_RECEIVER,
                },
                range: item.range,
                has_lightmap: item.lightmap.is_some(),
                tag: item.tag.map_or(0, |tag| tag.value),
            };
            instances.meshes.request(desc.mesh, &mut changes.meshes);
            instances.put(&mut item.slot, &desc, (&materials, &skins), &warnings);
            let textures = &mut materials.textures(&mut source);
            instances.set_lightmap(*item.slot, entity, item.lightmap, textures);
        } else if let Ok(mut slot) = changes.incomplete.get_mut(entity) {
            instances.remove(&mut slot);
        }
    }
    instances.refresh_lightmaps(&mut materials.textures(&mut source));
    instances.meshes.reserve_tail(skins.room());
    instances.meshes.compact();
    instances.refresh((&materials, &skins), materials_changed, &warnings);
    instances.has_changed_materials = materials.table.is_dirty();
}

/// Updates the transforms of moved instances.
pub(crate) fn update_mesh_transforms(
    moved: Query<(&GlobalTransform, &Slot), Changed<GlobalTransform>>,
    mut instances: ResMut<InstanceStore>,
    warnings: Res<RateLimitedWarnings>,
    mut found: Local<Parallel<Vec<(Slot, AffineRows)>>>,
) {
    moved
        .par_iter()
        .batching_strategy(BatchingStrategy::new().min_batch_size(PARALLEL_BATCH_SIZE))
        .for_each_init(
            || found.borrow_local_mut(),
            |found, (transform, slot)| found.push((*slot, affine_rows(transform.affine()))),
        );
    for found in found.iter_mut() {
        for (slot, rows) in found.drain(..) {
            instances.move_to(slot, &rows, &warnings);
        }
    }
}

/// Device buffers of the tables.
#[derive(SystemParam)]
pub(crate) struct MeshBuffers<'w> {
    instances: ResMut<'w, Instances3d>,
    bounds: ResMut<'w, Bounds3d>,
    batches: ResMut<'w, Batches3d>,
    batch_instances: ResMut<'w, BatchInstances3d>,
    order: ResMut<'w, BatchOrder3d>,
    lightmaps: ResMut<'w, Lightmaps3d>,
    tags: ResMut<'w, MeshTags3d>,
    previous_instances: ResMut<'w, PreviousInstances3d>,
    attribute_bases: ResMut<'w, AttributeBases3d>,
    own_attributes: ResMut<'w, MeshAttributes3d>,
    materials: ResMut<'w, Materials3d>,
    custom_materials: ResMut<'w, CustomMaterials3d>,
    vertices: ResMut<'w, Vertices3d>,
    indices: ResMut<'w, Indices3d>,
}

/// Uploads changed rows of the tables.
pub(crate) fn upload_meshes(
    mut instances: ResMut<InstanceStore>,
    mut materials: ResMut<MaterialStore>,
    mut buffers: MeshBuffers,
    (mut batches, mut ranges): (ResMut<BatchList>, ResMut<MaterialRanges>),
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let to = &mut buffers;
    instances.finish_caster_changes();
    instances.bins.build_batch_sets(&mut batches.batch_sets);
    batches.batches = instances.bins.len();
    batches.instances = instances.len();
    batches.batch_instances = instances.bins.batch_instances.rows().len() as u32;
    let tables = [
        &mut to.instances.0,
        &mut to.bounds.0,
        &mut to.batches.0,
        &mut to.batch_instances.0,
        &mut to.order.0,
        &mut to.lightmaps.0,
        &mut to.tags.0,
        &mut to.previous_instances.0,
        &mut to.attribute_bases.0,
    ];
    instances.upload(&gpu, &mut uploads, tables)?;
    materials
        .table
        .upload(&gpu, &mut uploads, &mut to.materials.0)?;
    let custom_materials = &mut to.custom_materials.0;
    let custom = &mut materials.custom;
    custom.upload(&gpu, &mut uploads, custom_materials, &mut ranges)?;
    let meshes = &mut instances.meshes;
    meshes.upload_own_attributes(&gpu, &mut uploads, &mut to.own_attributes.0)?;
    let (vertices, indices) = (&mut to.vertices.0, &mut to.indices.0);
    Ok(instances
        .meshes
        .upload(&gpu, &mut uploads, vertices, indices)?)
}
