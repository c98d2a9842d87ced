//! Converts mesh assets to vertices and list-topology indices.

use bevy_mesh::{Indices, Mesh, MeshVertexAttribute, PrimitiveTopology};
use bytemuck::Pod;
use quadrille::rows::RowValue;
use wgpu_types::VertexFormat;

use crate::meshes::attributes::attribute;

/// Primitive topology after conversion of strips to lists.
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

/// Attributes of meshes, with format and offset in a vertex.
pub type VertexAttributes = &'static [(MeshVertexAttribute, VertexFormat, u64)];

/// Vertex type that is read from mesh assets.
pub trait MeshVertex: Pod + RowValue + Send + Sync + 'static {
    /// Whether attributes of programs are kept as well ([`OwnAttributes`](crate::meshes::OwnAttributes)).
    const KEEPS_OWN_ATTRIBUTES: bool = false;

    /// Attributes of meshes that vertices have.
    const ATTRIBUTES: VertexAttributes = &[];

    /// Whether layouts have all of them, whatever attributes a mesh has.
    const HAS_ALL_ATTRIBUTES: bool = false;

    /// Reads all vertices of a mesh with this topology and these indices.
    ///
    /// # Errors
    /// The reason, phrased to follow "the mesh cannot be drawn: ".
    fn read(mesh: &Mesh, primitive: PrimitiveKind, indices: &[u32]) -> Result<Vec<Self>, String>;
}

/// Vertices and list-topology indices of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshData<V> {
    /// Primitive topology.
    pub primitive: PrimitiveKind,
    /// Vertices.
    pub vertices: Vec<V>,
    /// Vertex indices.
    pub indices: Vec<u32>,
}

impl<V: MeshVertex> MeshData<V> {
    /// Reads a mesh asset, and describes the primitives that were skipped because of indices out of range.
    ///
    /// # Errors
    /// The mesh has no positions, attributes of different lengths, unsupported formats, or only indices out of
    /// range.
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

/// Removes primitives with indices out of range, and describes them.
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

/// Converts strips to lists, so that they share pipelines and batches. The largest index value restarts a strip,
/// as with `primitiveRestartEnable`.
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
            // Every other triangle of a strip has reversed winding.
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
