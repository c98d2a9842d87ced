//! Joint matrices and morph weights of entities.

use bevy_ecs::prelude::*;
use bevy_math::{Affine3A, Mat4};
use bevy_mesh::morph::{MeshMorphWeights, MorphWeights};
use bevy_mesh::skinning::SkinnedMesh;
use bevy_transform::components::GlobalTransform;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, is_finite};

/// Rows per joint.
pub(super) const JOINT_ROWS: u32 = 3;

/// Rows of joints and weights.
pub(super) fn row_count(joints: u32, targets: u32) -> u32 {
    joints * JOINT_ROWS + targets.div_ceil(4)
}

/// Initial matrix of a missing joint: its vertices keep the bind pose.
pub(super) const IDENTITY_ROWS: [[f32; 4]; 3] = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
];

/// Whether any joint or the entity itself has moved; joint matrices are relative to the entity.
pub(super) fn joints_moved(
    transform: &Ref<GlobalTransform>,
    joints: &[Entity],
    transforms: &Query<Ref<GlobalTransform>>,
) -> bool {
    transform.is_changed()
        || joints.iter().any(|&joint| {
            transforms
                .get(joint)
                .is_ok_and(|transform| transform.is_changed())
        })
}

/// Writes the matrices from the bind pose to the entity's local space. A missing or invalid joint keeps its matrix,
/// with a warning.
pub(super) fn write_joints(
    rows: &mut [[f32; 4]],
    (entity, transform): (Entity, &GlobalTransform),
    (skin, inverse_bindposes): (&SkinnedMesh, &[Mat4]),
    transforms: &Query<Ref<GlobalTransform>>,
    warnings: &RateLimitedWarnings,
) {
    let local_from_world = transform.affine().inverse();
    let (rows, _) = rows.as_chunks_mut::<3>();
    for (rows, (&joint, &bind)) in rows
        .iter_mut()
        .zip(skin.joints.iter().zip(inverse_bindposes))
    {
        let Ok(world_from_joint) = transforms.get(joint) else {
            warnings.warn_message(|| {
                let (joint, entity) = (entity_name(joint), entity_name(entity));
                format!(
                    "the joint {joint} of the skin of {entity} does not exist; its last transform is kept"
                )
            });
            continue;
        };
        let joint_from_mesh = Affine3A::from_mat4(bind);
        let matrix = local_from_world * world_from_joint.affine() * joint_from_mesh;
        let found = quadrille_content::affine::affine_rows(matrix);
        if is_finite(found.as_flattened()) {
            *rows = found;
        } else {
            warnings.warn_message(|| {
                let (joint, entity) = (entity_name(joint), entity_name(entity));
                format!("the joint {joint} of the skin of {entity} has the transform {found:?}; its last one is kept")
            });
        }
    }
}

/// Morph weights of an entity, and whether they have changed.
pub(super) fn weights_of<'a>(
    weights: &'a Ref<MeshMorphWeights>,
    shared: &'a Query<Ref<MorphWeights>>,
) -> (&'a [f32], bool) {
    match &**weights {
        MeshMorphWeights::Value { weights: own } => (own, weights.is_changed()),
        MeshMorphWeights::Reference(entity) => match shared.get(*entity) {
            Ok(shared) => {
                let changed = weights.is_changed() || shared.is_changed();
                (shared.into_inner().weights(), changed)
            }
            Err(_) => (&[], weights.is_changed()),
        },
    }
}

/// Writes weights; targets without one have 0.
pub(super) fn write_weights(
    rows: &mut [[f32; 4]],
    weights: &[f32],
    entity: Entity,
    warnings: &RateLimitedWarnings,
) {
    let weights_out = rows.as_flattened_mut();
    weights_out.fill(0.0);
    for (weight_out, &weight) in weights_out.iter_mut().zip(weights) {
        if weight.is_finite() {
            *weight_out = weight;
        } else {
            warnings.warn_message(|| {
                let entity = entity_name(entity);
                format!("a morph weight of {entity} is {weight}; replaced by 0")
            });
        }
    }
}
