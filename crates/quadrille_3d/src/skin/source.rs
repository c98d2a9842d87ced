//! Joint influences and morph targets of meshes, in the layout of `skin.wgsl`.

use bevy_mesh::{Mesh, MeshVertexAttribute, VertexAttributeValues as Values};
use quadrille_content::buffers::BlockKey;
use quadrille_content::meshes::{attribute, floats};
use quadrille_content::warnings::is_finite;

use crate::constants::{BLOCK_VERTICES, INFLUENCE_WORDS, TARGET_WORDS};

/// Location on the device of the joints, weights and morph targets of a mesh.
pub(super) struct SkinSource {
    pub(super) words: BlockKey,
    pub(super) vertices: u32,
    /// Least number of joints of a skin; 0 without influences.
    pub(super) joints: u32,
    pub(super) targets: u32,
    /// Unique version of each read.
    pub(super) version: u64,
}

impl SkinSource {
    /// Words per vertex.
    pub(super) fn vertex_words(&self) -> u32 {
        let influences = match self.joints {
            0 => 0,
            _ => INFLUENCE_WORDS,
        };
        influences + self.targets * TARGET_WORDS
    }
}

/// Joints, weights and morph targets of a mesh, before upload.
pub(super) struct SkinSourceData {
    pub(super) words: Vec<u32>,
    pub(super) vertices: u32,
    pub(super) joints: u32,
    pub(super) targets: u32,
}

/// Reads the influences and morph targets of a mesh; `None` if it has neither.
///
/// # Errors
/// Describes the invalid attribute.
pub(super) fn read(mesh: &Mesh) -> Result<Option<SkinSourceData>, String> {
    let positions = attribute(mesh, Mesh::ATTRIBUTE_POSITION)?;
    let vertices = positions.map_or(0, Values::len);
    let (influences, joints) = influences(mesh, vertices)?;
    let (differences, targets) = targets(mesh, vertices)?;
    if (joints, targets) == (0, 0) {
        return Ok(None);
    }
    Ok(Some(SkinSourceData {
        words: in_blocks(vertices, &influences, &differences),
        vertices: vertices as u32,
        joints,
        targets,
    }))
}

/// Reorders words to blocks: influences, if any, then each target.
fn in_blocks(vertices: usize, influences: &[u32], differences: &[u32]) -> Vec<u32> {
    let mut words = Vec::with_capacity(influences.len() + differences.len());
    for first in (0..vertices).step_by(BLOCK_VERTICES as usize) {
        let end = vertices.min(first + BLOCK_VERTICES as usize);
        let part = |of: u32| first * of as usize..end * of as usize;
        words.extend_from_slice(influences.get(part(INFLUENCE_WORDS)).unwrap_or_default());
        for target in differences.chunks_exact(vertices * TARGET_WORDS as usize) {
            words.extend_from_slice(&target[part(TARGET_WORDS)]);
        }
    }
    words
}

/// Returns the influences of all vertices, and the number of joints (largest used index plus 1).
fn influences(mesh: &Mesh, vertices: usize) -> Result<(Vec<u32>, u32), String> {
    let (Some(joints), Some(weights)) = (
        attribute(mesh, Mesh::ATTRIBUTE_JOINT_INDEX)?,
        attribute(mesh, Mesh::ATTRIBUTE_JOINT_WEIGHT)?,
    ) else {
        return Ok((Vec::new(), 0));
    };
    let joints = joint_numbers(joints)?;
    let Some((4, weights)) = floats(weights) else {
        return Err("its joint weights are not four floats".to_owned());
    };
    for (count, of) in [
        (joints.len(), Mesh::ATTRIBUTE_JOINT_INDEX),
        (weights.len(), Mesh::ATTRIBUTE_JOINT_WEIGHT),
    ] {
        if count != vertices {
            return Err(wrong_count(vertices, count, &of));
        }
    }
    if let Some(at) = weights.iter().position(|weights| !is_finite(weights)) {
        let odd = weights[at];
        return Err(format!("its vertex {at} has the joint weights {odd:?}"));
    }
    let mut words = Vec::with_capacity(vertices * INFLUENCE_WORDS as usize);
    let mut count = 0;
    for (joints, weights) in joints.iter().zip(&weights) {
        // Joints without weight may be out of range.
        let used = [0, 1, 2, 3].map(|at| if weights[at] == 0.0 { 0 } else { joints[at] });
        for (at, &joint) in used.iter().enumerate() {
            if weights[at] != 0.0 {
                count = count.max(u32::from(joint) + 1);
            }
        }
        let [a, b, c, d] = used.map(u32::from);
        words.extend([a | b << 16, c | d << 16]);
        words.extend(weights.map(f32::to_bits));
    }
    if count == 0 {
        words.clear();
    }
    Ok((words, count))
}

fn joint_numbers(values: &Values) -> Result<Vec<[u16; 4]>, String> {
    match values {
        Values::Uint16x4(joints) => Ok(joints.clone()),
        Values::Uint8x4(joints) => Ok(joints.iter().map(|four| four.map(u16::from)).collect()),
        _ => Err("its joints are neither Uint16x4 nor Uint8x4".to_owned()),
    }
}

fn wrong_count(vertices: usize, count: usize, of: &MeshVertexAttribute) -> String {
    let name = of.name;
    format!("it has {vertices} positions and {count} of {name}; there must be as many")
}

/// Returns the displacements of all targets, one after another, and the number of targets.
fn targets(mesh: &Mesh, vertices: usize) -> Result<(Vec<u32>, u32), String> {
    // Released morph targets count as none.
    let Some(all) = mesh.try_morph_targets().ok().filter(|all| !all.is_empty()) else {
        return Ok((Vec::new(), 0));
    };
    if vertices == 0 || !all.len().is_multiple_of(vertices) {
        let count = all.len();
        return Err(format!(
            "it has {vertices} positions and {count} displacements of morph targets; each target must have as many \
             as positions"
        ));
    }
    let mut words = Vec::with_capacity(all.len() * TARGET_WORDS as usize);
    for (at, one) in all.iter().enumerate() {
        let [position, normal, tangent] = [one.position, one.normal, one.tangent];
        if ![position, normal, tangent]
            .iter()
            .all(|delta| delta.is_finite())
        {
            return Err(format!(
                "its morph target {} moves the vertex {} by {position}, {normal} and {tangent}",
                at / vertices,
                at % vertices
            ));
        }
        let numbers = [position, normal, tangent].map(|delta| delta.to_array());
        words.extend(numbers.as_flattened().iter().map(|number| number.to_bits()));
    }
    Ok((words, (all.len() / vertices) as u32))
}

#[cfg(test)]
mod tests;
