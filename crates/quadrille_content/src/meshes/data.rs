//! From a mesh asset to vertices and indices in one layout.

use bevy_mesh::{Indices, Mesh, PrimitiveTopology};
use bytemuck::Pod;

use crate::meshes::attributes::attribute;

/// Primitives that vertices form; strips have become lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrimitiveKind {
    /// Points.
    Points,
    /// Lines, two vertices each.
    Lines,
    /// Triangles, three vertices each.
    #[default]
    Triangles,
}

/// A vertex as shaders read it, made of a mesh asset.
pub trait MeshVertex: Pod + Send + Sync + 'static {
    /// Reads all vertices of a mesh; `primitive` is what they form, and `indices` how.
    ///
    /// # Errors
    /// What is wrong with it, after the words "the mesh cannot be drawn:".
    fn read(mesh: &Mesh, primitive: PrimitiveKind, indices: &[u32]) -> Result<Vec<Self>, String>;
}

/// A mesh ready for the device.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshData<V> {
    /// Primitives that its vertices form.
    pub primitive: PrimitiveKind,
    /// Its vertices.
    pub vertices: Vec<V>,
    /// Index of the vertex, for each corner.
    pub indices: Vec<u32>,
}

impl<V: MeshVertex> MeshData<V> {
    /// Reads a mesh asset, and says what of it is left out: points, lines and triangles with an index beyond its vertices.
    ///
    /// # Errors
    /// What is wrong with it: no positions, attributes of different lengths, formats that are not
    /// floats, no index that is not beyond its vertices.
    pub fn read(mesh: &Mesh) -> Result<(Self, Option<String>), String> {
        let positions = attribute(mesh, Mesh::ATTRIBUTE_POSITION)?.ok_or("it has no positions")?;
        let count = positions.len();
        let topology = mesh.primitive_topology();
        let (indices, restart) = match mesh.try_indices_option().map_err(|e| e.to_string())? {
            Some(Indices::U16(indices)) => {
                let wide = indices.iter().map(|&i| u32::from(i)).collect();
                (wide, u32::from(u16::MAX))
            }
            Some(Indices::U32(indices)) => (indices.clone(), u32::MAX),
            None => ((0..count as u32).collect(), u32::MAX),
        };
        let (primitive, mut indices) = to_list_topology(topology, indices, restart);
        let skipped = remove_out_of_range(primitive, &mut indices, count as u32);
        if let Some(reason) = skipped.as_ref().filter(|_| indices.is_empty()) {
            return Err(reason.clone());
        }
        let vertices = V::read(mesh, primitive, &indices)?;
        let data = Self {
            primitive,
            vertices,
            indices,
        };
        Ok((data, skipped))
    }
}

/// Removes points, lines and triangles of which a vertex does not exist, and says how many.
fn remove_out_of_range(
    primitive: PrimitiveKind,
    indices: &mut Vec<u32>,
    count: u32,
) -> Option<String> {
    let beyond = *indices.iter().find(|&&index| index >= count)?;
    let (corners, what) = match primitive {
        PrimitiveKind::Points => (1, "points"),
        PrimitiveKind::Lines => (2, "lines"),
        PrimitiveKind::Triangles => (3, "triangles"),
    };
    let all = indices.len() / corners;
    let mut kept = 0;
    for first in (0..all * corners).step_by(corners) {
        let whole = first..first + corners;
        if indices[whole.clone()].iter().all(|&index| index < count) {
            indices.copy_within(whole, kept);
            kept += corners;
        }
    }
    indices.truncate(kept);
    let gone = all - kept / corners;
    Some(format!(
        "{gone} of its {all} {what} have an index beyond its {count} vertices, the first {beyond}"
    ))
}

/// Strips as lists: what pipelines there are stays few, and meshes share draws. The largest index that
/// there can be begins another strip, as with `primitiveRestartEnable`.
fn to_list_topology(
    topology: PrimitiveTopology,
    indices: Vec<u32>,
    restart: u32,
) -> (PrimitiveKind, Vec<u32>) {
    let strips = indices.split(|&index| index == restart);
    match topology {
        PrimitiveTopology::PointList => (PrimitiveKind::Points, indices),
        PrimitiveTopology::LineList => (PrimitiveKind::Lines, indices),
        PrimitiveTopology::LineStrip => {
            let lines = strips.flat_map(|strip| strip.windows(2).flatten().copied());
            (PrimitiveKind::Lines, lines.collect())
        }
        PrimitiveTopology::TriangleList => (PrimitiveKind::Triangles, indices),
        PrimitiveTopology::TriangleStrip => {
            let triangles = strips.flat_map(|strip| strip.windows(3).enumerate());
            // Every other triangle of a strip runs the other way round.
            let ordered = |(at, corners): (usize, &[u32])| match at % 2 {
                0 => [corners[0], corners[1], corners[2]],
                _ => [corners[1], corners[0], corners[2]],
            };
            (
                PrimitiveKind::Triangles,
                triangles.flat_map(ordered).collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests;
