//! Extraction of skins and morph weights that changed since the previous frame.

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets};
use bevy_camera::visibility::InheritedVisibility;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_mesh::morph::{MeshMorphWeights, MorphWeights};
use bevy_mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use bevy_mesh::{Mesh, Mesh3d};
use bevy_transform::components::GlobalTransform;
use quadrille_content::buffers::BlockAllocator;
use quadrille_content::meshes::is_released;
use quadrille_content::warnings::{RateLimitedWarnings, asset_label, entity_name};

use super::pose::{self, IDENTITY_ROWS, JOINT_ROWS};
use super::source::{self, SkinSource};
use super::{Deformed, SkinState, SkinStore};

/// Components of an entity with a skin or weights.
#[derive(QueryData)]
pub(crate) struct DeformableMeshQuery {
    entity: Entity,
    mesh: &'static Mesh3d,
    transform: Ref<'static, GlobalTransform>,
    is_visible: Option<&'static InheritedVisibility>,
    skin: Option<Ref<'static, SkinnedMesh>>,
    weights: Option<Ref<'static, MeshMorphWeights>>,
}

type IsDeformable = Or<(With<SkinnedMesh>, With<MeshMorphWeights>)>;

/// Skins and morph weights of the world.
#[derive(SystemParam)]
pub(crate) struct SkinParams<'w, 's> {
    deformable: Query<'w, 's, DeformableMeshQuery, IsDeformable>,
    transforms: Query<'w, 's, Ref<'static, GlobalTransform>>,
    morph_weights: Query<'w, 's, Ref<'static, MorphWeights>>,
    meshes: Res<'w, Assets<Mesh>>,
    server: Res<'w, AssetServer>,
    mesh_events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    inverse_bindposes: Res<'w, Assets<SkinnedMeshInverseBindposes>>,
    bindpose_events: MessageReader<'w, 's, AssetEvent<SkinnedMeshInverseBindposes>>,
    warnings: Res<'w, RateLimitedWarnings>,
}

/// Skin and morph weights of an entity.
struct Pose<'a> {
    skin: Option<(&'a Ref<'a, SkinnedMesh>, &'a SkinnedMeshInverseBindposes)>,
    weights: Option<&'a Ref<'a, MeshMorphWeights>>,
}

/// Extracts changed poses; unchanged ones are neither computed nor uploaded.
pub(crate) fn extract_skins(mut world: SkinParams, mut store: ResMut<SkinStore>) {
    let store = &mut *store;
    store.moved.clear();
    store.frame += 1;
    if std::mem::take(&mut store.is_device_new) {
        store.reread_meshes(&world.meshes, &world.server);
    }
    let events: Vec<_> = world.mesh_events.read().copied().collect();
    for event in events {
        store.apply_event(event, &world.meshes, &world.server);
    }
    let inverse_bindposes: Vec<_> = world
        .bindpose_events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for item in &world.deformable {
        store.update_entity(&world, &item, &inverse_bindposes);
    }
    let frame = store.frame;
    let is_gone =
        |(&entity, state): (&Entity, &SkinState)| (state.last_frame() != frame).then_some(entity);
    let gone: Vec<_> = store.states.iter().filter_map(is_gone).collect();
    for entity in gone {
        store.release(entity);
    }
    store.words.compact();
}

impl SkinStore {
    /// Applies an asset event.
    fn apply_event(
        &mut self,
        event: AssetEvent<Mesh>,
        assets: &Assets<Mesh>,
        server: &AssetServer,
    ) {
        let id = match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } | AssetEvent::Removed { id } => {
                id
            }
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => return,
        };
        let mesh = assets.get(id);
        // A released mesh keeps its device copy.
        if mesh.is_some_and(is_released) {
            return;
        }
        if let Some(old) = self.meshes.remove(&id) {
            self.words.remove(old.words);
        }
        let Some(mesh) = mesh else {
            return;
        };
        match source::read(mesh) {
            Ok(None) => {}
            Ok(Some(read)) => {
                let Some(words) = self.words.add(read.words) else {
                    return tracing::error!(
                        "{} is drawn undeformed: there are more joints and morph targets in all meshes \
                         than 2^31 numbers can hold",
                        asset_label(id, server)
                    );
                };
                self.version += 1;
                let source = SkinSource {
                    words,
                    vertices: read.vertices,
                    joints: read.joints,
                    targets: read.targets,
                    version: self.version,
                };
                self.meshes.insert(id, source);
            }
            Err(reason) => {
                let name = asset_label(id, server);
                tracing::error!("{name} is drawn undeformed: {reason}");
            }
        }
    }

    /// Reads all meshes again after a lost device. Released ones may be lost.
    fn reread_meshes(&mut self, assets: &Assets<Mesh>, server: &AssetServer) {
        self.words = BlockAllocator::default();
        let mut ids: Vec<_> = self.meshes.drain().map(|(id, _)| id).collect();
        ids.sort_unstable();
        for id in ids {
            self.apply_event(AssetEvent::Modified { id }, assets, server);
        }
    }

    /// Updates an entity.
    fn update_entity(
        &mut self,
        world: &SkinParams,
        item: &DeformableMeshQueryItem<'_, '_>,
        inverse_bindposes: &[AssetId<SkinnedMeshInverseBindposes>],
    ) {
        let (entity, mesh) = (item.entity, item.mesh.id());
        let Some(source) = self.meshes.get(&mesh) else {
            self.release(entity);
            return;
        };
        let weights = item.weights.as_ref().filter(|_| source.targets > 0);
        let skin = item.skin.as_ref().filter(|_| source.joints > 0);
        let skin = match skin {
            None => None,
            Some(skin) => match usable_bindposes(world, entity, skin, source) {
                Some(inverse_bindposes) => Some((skin, inverse_bindposes)),
                None => {
                    self.exclude(entity);
                    return;
                }
            },
        };
        let pose = Pose { skin, weights };
        if pose.skin.is_none() && pose.weights.is_none() {
            self.release(entity);
            return;
        }
        self.allocate(entity, mesh, &pose);
        let changed = pose.skin.is_some_and(|(skin, _)| {
            skin.is_changed()
                || inverse_bindposes.contains(&skin.inverse_bindposes.id())
                || pose::joints_moved(&item.transform, &skin.joints, &world.transforms)
        });
        self.write(world, item, &pose, changed);
    }

    /// Excludes an entity from drawing.
    fn exclude(&mut self, entity: Entity) {
        if !matches!(self.states.get(&entity), Some(SkinState::NotDrawn { .. })) {
            self.release(entity);
            self.moved.push(entity);
        }
        let last_frame = self.frame;
        self.states
            .insert(entity, SkinState::NotDrawn { last_frame });
    }

    /// Allocates vertices and rows of an entity, unless it has them.
    fn allocate(&mut self, entity: Entity, mesh: AssetId<Mesh>, pose: &Pose<'_>) {
        let Some(source) = self.meshes.get(&mesh) else {
            return;
        };
        let joints = pose.skin.map_or(0, |_| source.joints);
        let targets = pose.weights.map_or(0, |_| source.targets);
        let wanted = (mesh, source.version, joints, targets);
        let (vertices, version) = (source.vertices, source.version);
        if let Some(SkinState::Deformed(deformed)) = self.states.get_mut(&entity)
            && (
                deformed.mesh,
                deformed.version,
                deformed.joints,
                deformed.targets,
            ) == wanted
        {
            deformed.last_frame = self.frame;
            return;
        }
        self.release(entity);
        self.moved.push(entity);
        let rows = self.poses.add(pose::row_count(joints, targets));
        let (joint_rows, _) = self.poses.change(&rows).as_chunks_mut::<3>();
        joint_rows[..joints as usize].fill(IDENTITY_ROWS);
        let deformed = Deformed {
            mesh,
            version,
            vertices: self.vertices.allocate(vertices),
            pose: rows,
            joints,
            targets,
            is_dirty: true,
            has_vertices: false,
            is_pose_stale: true,
            has_weights: false,
            last_frame: self.frame,
        };
        self.states.insert(entity, SkinState::Deformed(deformed));
    }

    /// Writes changed joints and weights of an entity, and marks it dirty.
    fn write(
        &mut self,
        world: &SkinParams,
        item: &DeformableMeshQueryItem<'_, '_>,
        pose: &Pose<'_>,
        joints_changed: bool,
    ) {
        let Some(SkinState::Deformed(deformed)) = self.states.get_mut(&item.entity) else {
            return;
        };
        let (weights, weights_changed) = match pose.weights {
            Some(weights) => pose::weights_of(weights, &world.morph_weights),
            None => (&[][..], false),
        };
        let has_weights = !weights.is_empty();
        let came_or_went = std::mem::replace(&mut deformed.has_weights, has_weights) != has_weights;
        deformed.is_pose_stale |= joints_changed || weights_changed || came_or_went;
        let is_visible = item.is_visible.is_none_or(|visible| visible.get());
        if !deformed.is_pose_stale || !(deformed.is_dirty || is_visible) {
            return;
        }
        deformed.is_pose_stale = false;
        deformed.is_dirty = true;
        let rows = self.poses.change(&deformed.pose);
        let (joint_rows, weight_rows) = rows.split_at_mut((deformed.joints * JOINT_ROWS) as usize);
        let warnings = &world.warnings;
        if let Some((skin, inverse_bindposes)) = pose.skin {
            let of = (item.entity, &*item.transform);
            pose::write_joints(
                joint_rows,
                of,
                (skin, inverse_bindposes),
                &world.transforms,
                warnings,
            );
        }
        pose::write_weights(weight_rows, weights, item.entity, warnings);
    }
}

/// Returns the inverse bind poses of a skin; `None` if it is not loaded, or, with a warning, if it has too few joints
/// for the mesh.
fn usable_bindposes<'a>(
    world: &'a SkinParams,
    entity: Entity,
    skin: &SkinnedMesh,
    source: &SkinSource,
) -> Option<&'a SkinnedMeshInverseBindposes> {
    let inverse_bindposes = world.inverse_bindposes.get(&skin.inverse_bindposes)?;
    let wanted = source.joints as usize;
    let (joints, matrices) = (skin.joints.len(), inverse_bindposes.len());
    if joints.min(matrices) < wanted {
        world.warnings.warn(format_args!("the skinned mesh {}", entity_name(entity)), || {
            format!(
                "its vertices use {wanted} joints, but its skin has {joints} joints and {matrices} \
                 inverse bind poses"
            )
        });
        return None;
    }
    Some(inverse_bindposes)
}
