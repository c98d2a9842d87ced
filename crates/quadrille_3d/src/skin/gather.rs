//! What changed about skins and morph weights since the frame before.

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets};
use bevy_camera::visibility::InheritedVisibility;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_mesh::morph::{MeshMorphWeights, MorphWeights};
use bevy_mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use bevy_mesh::{Mesh, Mesh3d};
use bevy_transform::components::GlobalTransform;
use quadrille_content::{Complaints, DeviceRanges, asset_label, is_released, named};

use super::pose::{self, AT_REST, JOINT_ROWS};
use super::source::{self, Source};
use super::{Bent, SkinStore, Way};

/// An entity that may bend.
#[derive(QueryData)]
pub(crate) struct Bending {
    entity: Entity,
    mesh: &'static Mesh3d,
    transform: Ref<'static, GlobalTransform>,
    is_visible: Option<&'static InheritedVisibility>,
    skin: Option<Ref<'static, SkinnedMesh>>,
    weights: Option<Ref<'static, MeshMorphWeights>>,
}

type Bends = Or<(With<SkinnedMesh>, With<MeshMorphWeights>)>;

/// What skins and weights are in the world.
#[derive(SystemParam)]
pub(crate) struct SkinWorld<'w, 's> {
    bending: Query<'w, 's, Bending, Bends>,
    transforms: Query<'w, 's, Ref<'static, GlobalTransform>>,
    shared_weights: Query<'w, 's, Ref<'static, MorphWeights>>,
    meshes: Res<'w, Assets<Mesh>>,
    server: Res<'w, AssetServer>,
    mesh_events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    binds: Res<'w, Assets<SkinnedMeshInverseBindposes>>,
    bind_events: MessageReader<'w, 's, AssetEvent<SkinnedMeshInverseBindposes>>,
    complaints: Res<'w, Complaints>,
}

/// The skin and the weights of an entity, as its mesh uses them.
struct Pose<'a> {
    skin: Option<(&'a Ref<'a, SkinnedMesh>, &'a SkinnedMeshInverseBindposes)>,
    weights: Option<&'a Ref<'a, MeshMorphWeights>>,
}

/// Brings what entities bend by up to date: what did not change is neither computed nor sent.
pub(crate) fn gather_skins(mut world: SkinWorld, mut store: ResMut<SkinStore>) {
    let store = &mut *store;
    store.moved.clear();
    store.frame += 1;
    if std::mem::take(&mut store.is_lost) {
        store.read_again(&world.meshes, &world.server);
    }
    let events: Vec<_> = world.mesh_events.read().copied().collect();
    for event in events {
        store.follow(event, &world.meshes, &world.server);
    }
    let binds: Vec<_> = world
        .bind_events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for item in &world.bending {
        store.see(&world, &item, &binds);
    }
    let frame = store.frame;
    let is_gone = |(&entity, way): (&Entity, &Way)| (way.seen() != frame).then_some(entity);
    let gone: Vec<_> = store.ways.iter().filter_map(is_gone).collect();
    for entity in gone {
        store.forget(entity);
    }
    store.words.arrange();
}

impl SkinStore {
    /// Follows an asset.
    fn follow(&mut self, event: AssetEvent<Mesh>, assets: &Assets<Mesh>, server: &AssetServer) {
        let id = match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } | AssetEvent::Removed { id } => {
                id
            }
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => return,
        };
        let mesh = assets.get(id);
        // The device's copy of a mesh stays when its data is released.
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
                        "{} is drawn as if it were rigid: there are more joints and morph targets in all meshes \
                         than 2^31 numbers can hold",
                        asset_label(id, server)
                    );
                };
                self.version += 1;
                let source = Source {
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
                tracing::error!("{name} is drawn as if it were rigid: {reason}");
            }
        }
    }

    /// Reads all meshes again, for another device. The data of some may have been on the lost one alone.
    fn read_again(&mut self, assets: &Assets<Mesh>, server: &AssetServer) {
        self.words = DeviceRanges::default();
        let mut ids: Vec<_> = self.meshes.drain().map(|(id, _)| id).collect();
        ids.sort_unstable();
        for id in ids {
            self.follow(AssetEvent::Modified { id }, assets, server);
        }
    }

    /// Brings an entity up to date.
    fn see(
        &mut self,
        world: &SkinWorld,
        item: &BendingItem<'_, '_>,
        binds: &[AssetId<SkinnedMeshInverseBindposes>],
    ) {
        let (entity, mesh) = (item.entity, item.mesh.id());
        let Some(source) = self.meshes.get(&mesh) else {
            self.forget(entity);
            return;
        };
        let weights = item.weights.as_ref().filter(|_| source.targets > 0);
        let skin = item.skin.as_ref().filter(|_| source.joints > 0);
        let skin = match skin {
            None => None,
            Some(skin) => match usable(world, entity, skin, source) {
                Some(binds) => Some((skin, binds)),
                None => {
                    self.leave_out(entity);
                    return;
                }
            },
        };
        let pose = Pose { skin, weights };
        if pose.skin.is_none() && pose.weights.is_none() {
            self.forget(entity);
            return;
        }
        self.make_room(entity, mesh, &pose);
        let changed = pose.skin.is_some_and(|(skin, _)| {
            skin.is_changed()
                || binds.contains(&skin.inverse_bindposes.id())
                || pose::joints_moved(&item.transform, &skin.joints, &world.transforms)
        });
        self.write(world, item, &pose, changed);
    }

    /// Notes that an entity is not drawn.
    fn leave_out(&mut self, entity: Entity) {
        if !matches!(self.ways.get(&entity), Some(Way::Not { .. })) {
            self.forget(entity);
            self.moved.push(entity);
        }
        let seen = self.frame;
        self.ways.insert(entity, Way::Not { seen });
    }

    /// Gives an entity vertices and rows of its own, unless it has them.
    fn make_room(&mut self, entity: Entity, mesh: AssetId<Mesh>, pose: &Pose<'_>) {
        let Some(source) = self.meshes.get(&mesh) else {
            return;
        };
        let joints = pose.skin.map_or(0, |_| source.joints);
        let targets = pose.weights.map_or(0, |_| source.targets);
        let wanted = (mesh, source.version, joints, targets);
        let (vertices, version) = (source.vertices, source.version);
        if let Some(Way::Bent(bent)) = self.ways.get_mut(&entity)
            && (bent.mesh, bent.version, bent.joints, bent.targets) == wanted
        {
            bent.seen = self.frame;
            return;
        }
        self.forget(entity);
        self.moved.push(entity);
        let rows = self.poses.add(pose::row_count(joints, targets));
        let (joint_rows, _) = self.poses.change(&rows).as_chunks_mut::<3>();
        joint_rows[..joints as usize].fill(AT_REST);
        let bent = Bent {
            mesh,
            version,
            vertices: self.vertices.take(vertices),
            pose: rows,
            joints,
            targets,
            is_due: true,
            is_stale: true,
            seen: self.frame,
        };
        self.ways.insert(entity, Way::Bent(bent));
    }

    /// Writes the joints and weights of an entity if they changed, and notes that it is to be computed.
    fn write(
        &mut self,
        world: &SkinWorld,
        item: &BendingItem<'_, '_>,
        pose: &Pose<'_>,
        joints_changed: bool,
    ) {
        let Some(Way::Bent(bent)) = self.ways.get_mut(&item.entity) else {
            return;
        };
        let (weights, weights_changed) = match pose.weights {
            Some(weights) => pose::weights_of(weights, &world.shared_weights),
            None => (&[][..], false),
        };
        bent.is_stale |= joints_changed || weights_changed;
        let is_visible = item.is_visible.is_none_or(|visible| visible.get());
        if !bent.is_stale || !(bent.is_due || is_visible) {
            return;
        }
        bent.is_stale = false;
        bent.is_due = true;
        let rows = self.poses.change(&bent.pose);
        let (joint_rows, weight_rows) = rows.split_at_mut((bent.joints * JOINT_ROWS) as usize);
        let complaints = &world.complaints;
        if let Some((skin, binds)) = pose.skin {
            let of = (item.entity, &*item.transform);
            pose::write_joints(joint_rows, of, (skin, binds), &world.transforms, complaints);
        }
        pose::write_weights(weight_rows, weights, item.entity, complaints);
    }
}

/// What a skin's joints are relative to; none if it is not loaded, or has too few joints for the mesh,
/// which is told.
fn usable<'a>(
    world: &'a SkinWorld,
    entity: Entity,
    skin: &SkinnedMesh,
    source: &Source,
) -> Option<&'a SkinnedMeshInverseBindposes> {
    let binds = world.binds.get(&skin.inverse_bindposes)?;
    let wanted = source.joints as usize;
    let (joints, matrices) = (skin.joints.len(), binds.len());
    if joints.min(matrices) < wanted {
        world.complaints.warn(format_args!("the skinned mesh {}", named(entity)), || {
            format!(
                "its vertices follow {wanted} joints, and its skin has {joints} joints and {matrices} \
                 inverse bind poses"
            )
        });
        return None;
    }
    Some(binds)
}
