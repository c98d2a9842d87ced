//! From a mesh asset to vertices and indices in one layout.

use bevy_math::{Vec2, Vec3};
use bevy_mesh::{Indices, Mesh, PrimitiveTopology, VertexAttributeValues};
use bytemuck::{Pod, Zeroable};
use quadrille::vulkan::{Format, VertexLayout};

use quadrille_content::is_finite;

/// A vertex as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    pub(crate) uv: [f32; 2],
    /// Linear; white if the mesh has no colours.
    pub(crate) color: [f32; 4],
}

impl Vertex {
    /// How vertex shaders read vertices: locations 0 to 2.
    pub(crate) fn layout() -> VertexLayout {
        VertexLayout::packed(
            0,
            &[
                Format::R32G32B32_SFLOAT,
                Format::R32G32_SFLOAT,
                Format::R32G32B32A32_SFLOAT,
            ],
        )
    }
}

/// What vertices form; strips have become lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Points,
    Lines,
    #[default]
    Triangles,
}

/// A mesh ready for the device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeshData {
    pub(crate) shape: Shape,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) indices: Vec<u32>,
}

impl MeshData {
    /// The quad of sprites: 1 by 1 around the origin, the image's top left at the top left.
    pub(crate) fn quad() -> Self {
        let vertex = |x: f32, y: f32| Vertex {
            position: [x - 0.5, 0.5 - y, 0.0],
            uv: [x, y],
            color: [1.0; 4],
        };
        Self {
            shape: Shape::Triangles,
            vertices: vec![
                vertex(0.0, 1.0),
                vertex(1.0, 1.0),
                vertex(1.0, 0.0),
                vertex(0.0, 0.0),
            ],
            indices: vec![0, 1, 2, 0, 2, 3],
        }
    }

    /// The triangle that all others are made of: a corner at the origin, sides of 1 along x and y.
    pub(crate) fn triangle() -> Self {
        let vertex = |x: f32, y: f32| Vertex {
            position: [x, y, 0.0],
            uv: [x, y],
            color: [1.0; 4],
        };
        Self {
            shape: Shape::Triangles,
            vertices: vec![vertex(0.0, 0.0), vertex(1.0, 0.0), vertex(0.0, 1.0)],
            indices: vec![0, 1, 2],
        }
    }

    /// Reads a mesh asset.
    ///
    /// # Errors
    /// What is wrong with it: no positions, attributes of different lengths, formats that are not
    /// floats, indices beyond its vertices.
    pub(crate) fn read(mesh: &Mesh) -> Result<Self, String> {
        let vertices = vertices(mesh)?;
        let topology = mesh.primitive_topology();
        let indices = match mesh.try_indices_option().map_err(|e| e.to_string())? {
            Some(Indices::U16(indices)) => indices.iter().map(|&i| u32::from(i)).collect(),
            Some(Indices::U32(indices)) => indices.clone(),
            None => (0..vertices.len() as u32).collect(),
        };
        let (shape, indices) = as_list(topology, indices);
        let beyond = indices.iter().find(|&&i| i as usize >= vertices.len());
        if let Some(beyond) = beyond {
            let count = vertices.len();
            return Err(format!("its index {beyond} is beyond its {count} vertices"));
        }
        Ok(Self {
            shape,
            vertices,
            indices,
        })
    }
}

fn vertices(mesh: &Mesh) -> Result<Vec<Vertex>, String> {
    let attribute = |attribute: bevy_mesh::MeshVertexAttribute| {
        mesh.try_attribute_option(attribute)
            .map_err(|error| error.to_string())
    };
    let positions = attribute(Mesh::ATTRIBUTE_POSITION)?.ok_or("it has no positions")?;
    let positions = vec3s(positions)?;
    let uvs = match attribute(Mesh::ATTRIBUTE_UV_0)? {
        Some(values) => vec2s(values)?,
        None => vec![Vec2::ZERO; positions.len()],
    };
    let colors = match attribute(Mesh::ATTRIBUTE_COLOR)? {
        Some(values) => colors(values)?,
        None => vec![[1.0; 4]; positions.len()],
    };
    if uvs.len() != positions.len() || colors.len() != positions.len() {
        return Err(format!(
            "it has {} positions, {} texture coordinates and {} colours; all must be as many",
            positions.len(),
            uvs.len(),
            colors.len()
        ));
    }
    let is_odd = |((position, uv), color): &((&Vec3, &Vec2), &[f32; 4])| {
        !(position.is_finite() && uv.is_finite() && is_finite(*color))
    };
    if let Some(at) = positions
        .iter()
        .zip(&uvs)
        .zip(&colors)
        .position(|it| is_odd(&it))
    {
        let (position, uv, color) = (positions[at], uvs[at], colors[at]);
        return Err(format!(
            "its vertex {at} is at {position}, shows {uv} and has the colour {color:?}; all must \
             be finite"
        ));
    }
    let vertex = |((position, uv), color): ((Vec3, Vec2), [f32; 4])| Vertex {
        position: position.to_array(),
        uv: uv.to_array(),
        color,
    };
    let zipped = positions.into_iter().zip(uvs).zip(colors);
    Ok(zipped.map(vertex).collect())
}

fn vec3s(values: &VertexAttributeValues) -> Result<Vec<Vec3>, String> {
    match values {
        VertexAttributeValues::Float32x3(values) => Ok(values.iter().map(|&v| v.into()).collect()),
        VertexAttributeValues::Float32x2(values) => {
            Ok(values.iter().map(|&v| Vec2::from(v).extend(0.0)).collect())
        }
        _ => Err("its positions are neither Float32x3 nor Float32x2".to_owned()),
    }
}

fn vec2s(values: &VertexAttributeValues) -> Result<Vec<Vec2>, String> {
    match values {
        VertexAttributeValues::Float32x2(values) => Ok(values.iter().map(|&v| v.into()).collect()),
        _ => Err("its texture coordinates are not Float32x2".to_owned()),
    }
}

fn colors(values: &VertexAttributeValues) -> Result<Vec<[f32; 4]>, String> {
    match values {
        VertexAttributeValues::Float32x4(values) => Ok(values.clone()),
        VertexAttributeValues::Float32x3(values) => {
            Ok(values.iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect())
        }
        VertexAttributeValues::Unorm8x4(values) => Ok(values
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
