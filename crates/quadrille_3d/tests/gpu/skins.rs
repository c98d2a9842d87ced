//! Skins and morph targets against a reference in double precision.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_math::{DAffine3, DMat3, DVec3};
use bevy_mesh::morph::{MeshMorphWeights, MorphAttributes, MorphWeights};
use bevy_mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use bevy_mesh::{PrimitiveTopology, VertexAttributeValues};
use quadrille::prelude::{Readback, Uploads};
use quadrille_3d::prelude::*;
use quadrille_3d::resources::Vertices3d;

use crate::common::Rig;

const TOLERANCE: f64 = 1e-5;

/// Number of vertices of the mesh: between one and two workgroups.
const COUNT: usize = 100;

/// Index of the entity's first vertex: the vertices of meshes take a power of two.
const FIRST: usize = COUNT.next_power_of_two();

/// Components of 4 bytes per vertex.
const VERTEX: usize = 18;

/// Weights of both joints: all zero for some vertices, and with a sum below 1 for others.
fn weights_at(vertex: usize) -> [f32; 2] {
    let part = vertex as f32 / COUNT as f32;
    match vertex {
        5 => [0.0, 0.0],
        6 => [0.25, 0.5],
        _ => [part, 1.0 - part],
    }
}

fn position_at(vertex: usize) -> Vec3 {
    let at = vertex as f32;
    Vec3::new((at * 0.7).sin(), at / COUNT as f32 * 2.0, (at * 1.3).cos())
}

fn normal_at(vertex: usize) -> Vec3 {
    (position_at(vertex) + Vec3::new(0.1, -0.5, 0.2)).normalize()
}

fn tangent_at(vertex: usize) -> Vec3 {
    normal_at(vertex).any_orthonormal_vector()
}

/// Morph target deltas by target and vertex.
fn difference(target: usize, vertex: usize) -> [Vec3; 3] {
    let at = (target * 31 + vertex) as f32;
    let way = |step: f32| Vec3::new((at * step).sin(), (at + step).cos(), (at - step).sin()) * 0.3;
    [way(0.4), way(1.9), way(2.3)]
}

const TARGETS: usize = 3;
const MORPH_WEIGHTS: [f32; TARGETS] = [0.25, 0.0, -1.5];

fn mesh() -> Mesh {
    let all = || 0..COUNT;
    let mut mesh = Mesh::new(PrimitiveTopology::PointList, RenderAssetUsages::default())
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_POSITION,
            all()
                .map(|at| position_at(at).to_array())
                .collect::<Vec<_>>(),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_NORMAL,
            all().map(|at| normal_at(at).to_array()).collect::<Vec<_>>(),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_TANGENT,
            all()
                .map(|at| tangent_at(at).extend(-1.0).to_array())
                .collect::<Vec<_>>(),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_COLOR,
            all().map(|at| [at as f32; 4]).collect::<Vec<_>>(),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            VertexAttributeValues::Uint16x4(vec![[1, 900, 0, 900]; COUNT]),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_WEIGHT,
            all()
                .map(|at| {
                    let [first, second] = weights_at(at);
                    [second, 0.0, first, 0.0]
                })
                .collect::<Vec<_>>(),
        );
    let targets = (0..TARGETS).flat_map(|target| all().map(move |at| difference(target, at)));
    mesh.set_morph_targets(targets.map(MorphAttributes::from).collect());
    mesh
}

fn binds() -> Vec<Mat4> {
    vec![
        Mat4::from_translation(Vec3::new(0.0, -0.25, 0.5)),
        Mat4::from_rotation_x(0.4) * Mat4::from_scale(Vec3::new(1.0, 0.5, 2.0)),
    ]
}

fn entity_transform() -> Transform {
    Transform::from_xyz(1.0, 2.0, -3.0)
        .with_rotation(Quat::from_rotation_z(0.7))
        .with_scale(Vec3::new(2.0, 0.5, 1.5))
}

fn joint_transforms() -> [Transform; 2] {
    [
        Transform::from_xyz(1.5, 2.0, -2.0).with_rotation(Quat::from_rotation_y(1.1)),
        // Mirrored, which also flips normals.
        Transform::from_xyz(0.5, 3.0, -3.5).with_scale(Vec3::new(-1.0, 1.0, 2.0)),
    ]
}

struct SkinnedRig {
    rig: Rig,
    entity: Entity,
    joints: Vec<Entity>,
    skin: SkinnedMesh,
}

/// The undeformed mesh, and two joints.
fn skinned_rig() -> SkinnedRig {
    let mut rig = Rig::scene(
        16,
        16,
        |mut commands: Commands,
         mut meshes: ResMut<Assets<Mesh>>,
         mut materials: ResMut<Assets<StandardMaterial>>| {
            commands.spawn((
                Mesh3d(meshes.add(mesh())),
                MeshMaterial3d(materials.add(Color::WHITE)),
                bevy_camera::visibility::NoFrustumCulling,
                entity_transform(),
            ));
            commands.spawn(Camera3d::default());
        },
    );
    rig.update(2);
    let world = rig.app.world_mut();
    let joints = joint_transforms()
        .map(|place| world.spawn(place).id())
        .to_vec();
    let mut all = world.resource_mut::<Assets<SkinnedMeshInverseBindposes>>();
    let inverse_bindposes = all.add(binds());
    let mut meshes = world.query_filtered::<Entity, With<Mesh3d>>();
    let entity = meshes.single(world).expect("there is one");
    SkinnedRig {
        rig,
        entity,
        joints: joints.clone(),
        skin: SkinnedMesh {
            inverse_bindposes,
            joints,
        },
    }
}

impl SkinnedRig {
    /// The vertices of the entity, stored after those of the mesh.
    fn vertices(&mut self) -> Vec<[f32; VERTEX]> {
        self.rig.update(1);
        let buffer = (**self.rig.app.world().resource::<Vertices3d>()).clone();
        let done = self.rig.read_back(Readback::buffer(&buffer));
        let (all, _) = bytemuck::cast_slice::<u8, f32>(&done.bytes).as_chunks::<VERTEX>();
        all[FIRST..FIRST + COUNT].to_vec()
    }

    fn expect(&mut self, joints: Option<[Transform; 2]>, weights: Option<[f32; TARGETS]>) {
        let found = self.vertices();
        for (at, found) in found.iter().enumerate() {
            let wanted = wanted(at, joints, weights);
            for (number, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                let off = (f64::from(*found) - wanted).abs();
                assert!(
                    off <= TOLERANCE * wanted.abs().max(1.0),
                    "number {number} of the vertex {at} is {found}, not {wanted}"
                );
            }
        }
    }
}

/// Reference of a vertex of the entity in double precision.
fn wanted(
    at: usize,
    joints: Option<[Transform; 2]>,
    weights: Option<[f32; TARGETS]>,
) -> [f64; VERTEX] {
    let mut vectors = [position_at(at), normal_at(at), tangent_at(at)].map(|way| way.as_dvec3());
    for (target, &weight) in weights.iter().flatten().enumerate() {
        let differences = difference(target, at).map(|way| way.as_dvec3());
        for (vector, difference) in vectors.iter_mut().zip(differences) {
            *vector += difference * f64::from(weight);
        }
    }
    let [mut place, mut normal, mut tangent] = vectors;
    let mut handedness = -1.0;
    if let Some(joints) = joints.filter(|_| weights_at(at) != [0.0; 2]) {
        let local_from_world = double(entity_transform()).inverse();
        let [first, second] = [0, 1].map(|joint| {
            let bind = DAffine3::from_mat4(binds()[joint].as_dmat4());
            local_from_world * double(joints[joint]) * bind
        });
        let [a, b] = weights_at(at).map(f64::from);
        let matrix: DMat3 = first.matrix3 * a + second.matrix3 * b;
        let moved = first.translation * a + second.translation * b;
        place = matrix * place + moved;
        normal = matrix.inverse().transpose() * normal;
        tangent = matrix * tangent;
        handedness *= matrix.determinant().signum();
    }
    let (normal, tangent) = (normal.normalize(), tangent.normalize());
    let mut all = [0.0; VERTEX];
    let vector = |all: &mut [f64; VERTEX], at: usize, vector: DVec3| {
        all[at..at + 3].copy_from_slice(&vector.to_array());
    };
    vector(&mut all, 0, place);
    vector(&mut all, 3, normal);
    all[6..10].fill(at as f64);
    // The mesh has no texture coordinates.
    all[10..14].fill(-1e30);
    vector(&mut all, 14, tangent);
    all[17] = handedness;
    all
}

fn double(place: Transform) -> DAffine3 {
    DAffine3::from_scale_rotation_translation(
        place.scale.as_dvec3(),
        place.rotation.as_dquat(),
        place.translation.as_dvec3(),
    )
}

#[test]
#[ignore = "needs a device"]
fn skinning_and_morphing_match_double_precision() {
    let mut skinned_rig = skinned_rig();
    let SkinnedRig { entity, skin, .. } = &skinned_rig;
    let (entity, skin) = (*entity, skin.clone());
    let weights = MeshMorphWeights::Value {
        weights: MORPH_WEIGHTS.to_vec(),
    };
    let world = skinned_rig.rig.app.world_mut();
    world.entity_mut(entity).insert(skin);
    skinned_rig.expect(Some(joint_transforms()), None);
    let world = skinned_rig.rig.app.world_mut();
    world.entity_mut(entity).insert(weights);
    skinned_rig.expect(Some(joint_transforms()), Some(MORPH_WEIGHTS));
    let world = skinned_rig.rig.app.world_mut();
    world.entity_mut(entity).remove::<SkinnedMesh>();
    skinned_rig.expect(None, Some(MORPH_WEIGHTS));
    // Weights that several meshes share, as in glTF files.
    let mut shared = MorphWeights::new(MORPH_WEIGHTS.to_vec(), None).expect("they are few");
    shared.weights_mut()[1] = 2.0;
    let world = skinned_rig.rig.app.world_mut();
    let shared = world.spawn(shared).id();
    let reference = MeshMorphWeights::Reference(shared);
    world.entity_mut(entity).insert(reference);
    skinned_rig.expect(None, Some([MORPH_WEIGHTS[0], 2.0, MORPH_WEIGHTS[2]]));
    let world = skinned_rig.rig.app.world_mut();
    let mut weights = world.get_mut::<MorphWeights>(shared).expect("it is there");
    weights.weights_mut()[0] = -0.5;
    skinned_rig.expect(None, Some([-0.5, 2.0, MORPH_WEIGHTS[2]]));
    // Nothing of the mesh's entity changes.
    let world = skinned_rig.rig.app.world_mut();
    world.entity_mut(shared).remove::<MorphWeights>();
    skinned_rig.expect(None, Some([0.0; TARGETS]));
    let weights = MorphWeights::new(MORPH_WEIGHTS.to_vec(), None).expect("they are few");
    let world = skinned_rig.rig.app.world_mut();
    world.entity_mut(shared).insert(weights);
    skinned_rig.expect(None, Some(MORPH_WEIGHTS));
    skinned_rig.rig.app.world_mut().despawn(shared);
    skinned_rig.expect(None, Some([0.0; TARGETS]));
}

#[test]
#[ignore = "needs a device"]
fn resting_skins_are_skipped_and_despawned_joints_keep_matrices() {
    let mut skinned_rig = skinned_rig();
    let (entity, skin) = (skinned_rig.entity, skinned_rig.skin.clone());
    let world = skinned_rig.rig.app.world_mut();
    world.entity_mut(entity).insert(skin);
    skinned_rig.expect(Some(joint_transforms()), None);
    // Overwrites the entity's vertices, which are not skinned again while nothing moves.
    let world = skinned_rig.rig.app.world_mut();
    let buffer = (**world.resource::<Vertices3d>()).clone();
    let [first, bytes] = [FIRST, COUNT].map(|vertices| vertices * VERTEX * 4);
    let mut uploads = world.resource_mut::<Uploads>();
    uploads.write_buffer(&buffer, first as u64, &vec![0; bytes]);
    assert_eq!(skinned_rig.vertices(), [[0.0; VERTEX]; COUNT]);
    // One joint moves, another one is despawned.
    let moved = Transform::from_xyz(4.0, 5.0, 6.0).with_rotation(Quat::from_rotation_y(0.4));
    let world = skinned_rig.rig.app.world_mut();
    world.entity_mut(skinned_rig.joints[0]).insert(moved);
    world.despawn(skinned_rig.joints[1]);
    skinned_rig.expect(Some([moved, joint_transforms()[1]]), None);
}

/// A sheet in front of the camera, whose vertices follow two joints at the origin.
fn sheet(joints: usize) -> Rig {
    Rig::scene(
        32,
        32,
        move |mut commands: Commands,
              mut meshes: ResMut<Assets<Mesh>>,
              mut binds: ResMut<Assets<SkinnedMeshInverseBindposes>>,
              mut materials: ResMut<Assets<StandardMaterial>>| {
            let mesh = Mesh::from(Rectangle::new(1.0, 1.0))
                .with_inserted_attribute(
                    Mesh::ATTRIBUTE_JOINT_INDEX,
                    VertexAttributeValues::Uint16x4(vec![[0, 1, 0, 0]; 4]),
                )
                .with_inserted_attribute(
                    Mesh::ATTRIBUTE_JOINT_WEIGHT,
                    vec![[0.5, 0.5, 0.0, 0.0]; 4],
                )
                .with_generated_skinned_mesh_bounds()
                .expect("it follows joints");
            let joints = (0..joints).map(|_| commands.spawn(Transform::default()).id());
            let skin = SkinnedMesh {
                inverse_bindposes: binds.add(vec![Mat4::IDENTITY; 2]),
                joints: joints.collect(),
            };
            commands.spawn((
                Mesh3d(meshes.add(mesh)),
                MeshMaterial3d(materials.add(StandardMaterial {
                    base_color: Color::WHITE,
                    unlit: true,
                    ..StandardMaterial::default()
                })),
                bevy_camera::visibility::DynamicSkinnedMeshBounds,
                skin,
            ));
            // A floor behind and below, lit from above the camera.
            commands.spawn((
                Mesh3d(meshes.add(Rectangle::new(20.0, 20.0))),
                MeshMaterial3d(materials.add(Color::srgb(0.0, 0.0, 1.0))),
                Transform::from_xyz(0.0, 0.0, -2.0),
            ));
            commands.spawn((
                DirectionalLight {
                    illuminance: 3000.0,
                    shadow_maps_enabled: true,
                    ..DirectionalLight::default()
                },
                Transform::from_xyz(0.0, 2.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
            ));
            commands.spawn((
                Camera3d::default(),
                Tonemapping::None,
                Msaa::Off,
                Projection::from(OrthographicProjection {
                    scaling_mode: ScalingMode::FixedVertical {
                        viewport_height: 8.0,
                    },
                    ..OrthographicProjection::default_3d()
                }),
                Transform::from_xyz(0.0, 0.0, 8.0).looking_at(Vec3::ZERO, Vec3::Y),
            ));
        },
    )
}

/// The light comes from above, so the shadow is two units lower.
const MIDDLE: (u32, u32) = (16, 15);
const SHADOW: (u32, u32) = (16, 23);

#[test]
#[ignore = "needs a device"]
fn skinned_meshes_cast_deformed_shadows() {
    let mut rig = sheet(2);
    let picture = rig.picture();
    assert_eq!(picture.at(MIDDLE.0, MIDDLE.1), [255; 4]);
    let dark = picture.at(SHADOW.0, SHADOW.1)[2];
    // Two units to the right are eight pixels. The mesh is never culled, regardless of its joints.
    let world = rig.app.world_mut();
    let mut joints = world.query_filtered::<&mut Transform, (
        Without<Mesh3d>,
        Without<Camera3d>,
        Without<DirectionalLight>,
    )>();
    for mut joint in joints.iter_mut(world) {
        joint.translation.x = 2.0;
    }
    let moved = rig.picture();
    assert_eq!(moved.at(MIDDLE.0 + 8, MIDDLE.1), [255; 4]);
    assert_eq!(moved.at(SHADOW.0 + 8, SHADOW.1)[2], dark);
    let lit = moved.at(SHADOW.0, SHADOW.1)[2];
    assert!(lit > dark + 40, "{lit} without, {dark} with shadow");
    assert_eq!(picture.at(SHADOW.0 + 8, SHADOW.1)[2], lit);
}

#[test]
#[ignore = "needs a device"]
fn skins_with_too_few_joints_are_skipped() {
    let mut rig = sheet(1);
    let picture = rig.picture();
    let [_, _, blue, _] = picture.at(MIDDLE.0, MIDDLE.1);
    assert!(
        blue < 255 && blue == picture.at(1, 1)[2],
        "only the floor is there"
    );
}
