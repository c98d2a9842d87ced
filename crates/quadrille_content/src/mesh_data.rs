//! From a mesh asset to vertices and indices in one layout.

use bevy_math::{Vec2, Vec3};
use bevy_mesh::{
    Indices, Mesh, MeshVertexAttribute, PrimitiveTopology, VertexAttributeValues as Values,
};
use bytemuck::Pod;

/// What vertices form; strips have become lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// Points.
    Points,
    /// Lines, two vertices each.
    Lines,
    /// Triangles, three vertices each.
    #[default]
    Triangles,
}

/// A vertex as shaders read it, made of a mesh asset.
pub trait MeshVertex: Pod + Send + Sync {
    /// Reads all vertices of a mesh; `shape` is what they form, and `indices` how.
    ///
    /// # Errors
    /// What is wrong with it, after the words "the mesh cannot be drawn:".
    fn read(mesh: &Mesh, shape: Shape, indices: &[u32]) -> Result<Vec<Self>, String>;
}

/// A mesh ready for the device.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshData<V> {
    /// What its vertices form.
    pub shape: Shape,
    /// Its vertices.
    pub vertices: Vec<V>,
    /// For each corner the place of its vertex.
    pub indices: Vec<u32>,
}

impl<V: MeshVertex> MeshData<V> {
    /// Reads a mesh asset.
    ///
    /// # Errors
    /// What is wrong with it: no positions, attributes of different lengths, formats that are not
    /// floats, indices beyond its vertices.
    pub fn read(mesh: &Mesh) -> Result<Self, String> {
        let positions = attribute(mesh, Mesh::ATTRIBUTE_POSITION)?.ok_or("it has no positions")?;
        let count = positions.len();
        let topology = mesh.primitive_topology();
        let indices = match mesh.try_indices_option().map_err(|e| e.to_string())? {
            Some(Indices::U16(indices)) => indices.iter().map(|&i| u32::from(i)).collect(),
            Some(Indices::U32(indices)) => indices.clone(),
            None => (0..count as u32).collect(),
        };
        let (shape, indices) = as_list(topology, indices);
        let beyond = indices.iter().find(|&&i| i as usize >= count);
        if let Some(beyond) = beyond {
            return Err(format!("its index {beyond} is beyond its {count} vertices"));
        }
        let vertices = V::read(mesh, shape, &indices)?;
        Ok(Self {
            shape,
            vertices,
            indices,
        })
    }
}

/// The values of an attribute, if the mesh has it.
///
/// # Errors
/// They were dropped after an upload.
pub fn attribute(mesh: &Mesh, attribute: MeshVertexAttribute) -> Result<Option<&Values>, String> {
    mesh.try_attribute_option(attribute)
        .map_err(|error| error.to_string())
}

/// Values as vectors of three, as positions are given.
///
/// # Errors
/// They are of another format.
pub fn vec3s(values: &Values) -> Result<Vec<Vec3>, String> {
    match values {
        Values::Float32x3(values) => Ok(values.iter().map(|&v| v.into()).collect()),
        Values::Float32x2(values) => {
            Ok(values.iter().map(|&v| Vec2::from(v).extend(0.0)).collect())
        }
        _ => Err("its positions are neither Float32x3 nor Float32x2".to_owned()),
    }
}

/// Values as vectors of two, as texture coordinates are given.
///
/// # Errors
/// They are of another format.
pub fn vec2s(values: &Values) -> Result<Vec<Vec2>, String> {
    match values {
        Values::Float32x2(values) => Ok(values.iter().map(|&v| v.into()).collect()),
        _ => Err("its texture coordinates are not Float32x2".to_owned()),
    }
}

/// Values as linear colours.
///
/// # Errors
/// They are of another format.
pub fn colors(values: &Values) -> Result<Vec<[f32; 4]>, String> {
    match values {
        Values::Float32x4(values) => Ok(values.clone()),
        Values::Float32x3(values) => Ok(values.iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect()),
        Values::Unorm8x4(values) => Ok(values
            .iter()
            .map(|color| color.map(|channel| f32::from(channel) / 255.0))
            .collect()),
        _ => Err("its colours are neither Float32x4, Float32x3 nor Unorm8x4".to_owned()),
    }
}

/// Strips as lists: what pipelines there are stays few, and meshes share draws.
fn as_list(topology: PrimitiveTopology, indices: Vec<u32>) -> (Shape, Vec<u32>) {
    match topology {
        PrimitiveTopology::PointList => (Shape::Points, indices),
        PrimitiveTopology::LineList => (Shape::Lines, indices),
        PrimitiveTopology::LineStrip => {
            let lines = indices.windows(2).flatten().copied();
            (Shape::Lines, lines.collect())
        }
        PrimitiveTopology::TriangleList => (Shape::Triangles, indices),
        PrimitiveTopology::TriangleStrip => {
            let triangles = indices.windows(3).enumerate();
            // Every other triangle of a strip runs the other way round.
            let ordered = |(at, corners): (usize, &[u32])| match at % 2 {
                0 => [corners[0], corners[1], corners[2]],
                _ => [corners[1], corners[0], corners[2]],
            };
            (Shape::Triangles, triangles.flat_map(ordered).collect())
        }
    }
}

#[cfg(test)]
mod tests;
