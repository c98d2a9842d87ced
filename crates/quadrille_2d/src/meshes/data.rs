//! Converts mesh assets to one vertex layout.

use std::mem::offset_of;

use bevy_math::{Vec2, Vec3};
use bevy_mesh::Mesh;
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::pipeline::VertexLayout;

use quadrille_content::meshes::{
    MeshVertex, PrimitiveKind, VertexAttributes, colors, positions, uvs,
};
use quadrille_content::warnings::is_finite;
use wgpu_types::VertexFormat;

/// Location of the instance's index in materials' vertex shaders, which bevy's vertices do not use.
pub(crate) const MATERIAL_INSTANCE_LOCATION: u32 = 15;

/// Its attribute.
pub(crate) const MATERIAL_INSTANCE_ATTRIBUTE: &str = "@location(15)";

/// Vertex of a 2D mesh.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_2d/vertex.wgsl", "Vertex")]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    pub(crate) uv: [f32; 2],
    /// Linear; white if the mesh has no vertex colors.
    pub(crate) color: [f32; 4],
}

impl Vertex {
    /// Vertex layout: locations 0 to 2.
    pub(crate) fn layout() -> VertexLayout {
        VertexLayout::of_row::<Self>(0)
    }

    /// Vertex layout of materials' vertex shaders: locations 0, 2 and 4, as bevy's.
    pub(crate) fn material_layout() -> VertexLayout {
        let mut layout = Self::layout();
        for attribute in &mut layout.attributes {
            attribute.location *= 2;
        }
        layout
    }
}

/// Vertices and indices of a 2D mesh.
pub(crate) type MeshData = quadrille_content::meshes::MeshData<Vertex>;

/// Unit quad of sprites, centred at the origin, uv (0, 0) at the top left.
pub(crate) fn quad() -> MeshData {
    let vertex = |x: f32, y: f32| Vertex {
        position: [x - 0.5, 0.5 - y, 0.0],
        uv: [x, y],
        color: [1.0; 4],
    };
    MeshData {
        primitive: PrimitiveKind::Triangles,
        vertices: vec![
            vertex(0.0, 1.0),
            vertex(1.0, 1.0),
            vertex(1.0, 0.0),
            vertex(0.0, 0.0),
        ],
        indices: vec![0, 1, 2, 0, 2, 3],
    }
}

/// Unit triangle: a corner at the origin and unit legs along x and y. Instances map it to any triangle.
pub(crate) fn triangle() -> MeshData {
    let vertex = |x: f32, y: f32| Vertex {
        position: [x, y, 0.0],
        uv: [x, y],
        color: [1.0; 4],
    };
    MeshData {
        primitive: PrimitiveKind::Triangles,
        vertices: vec![vertex(0.0, 0.0), vertex(1.0, 0.0), vertex(0.0, 1.0)],
        indices: vec![0, 1, 2],
    }
}

/// Attributes of meshes that [`Vertex`] has, with their formats and offsets.
const ATTRIBUTES: VertexAttributes = &[
    (
        Mesh::ATTRIBUTE_POSITION,
        VertexFormat::Float32x3,
        offset_of!(Vertex, position) as u64,
    ),
    (
        Mesh::ATTRIBUTE_UV_0,
        VertexFormat::Float32x2,
        offset_of!(Vertex, uv) as u64,
    ),
    (
        Mesh::ATTRIBUTE_COLOR,
        VertexFormat::Float32x4,
        offset_of!(Vertex, color) as u64,
    ),
];

impl MeshVertex for Vertex {
    const KEEPS_OWN_ATTRIBUTES: bool = true;

    const ATTRIBUTES: VertexAttributes = ATTRIBUTES;

    const HAS_ALL_ATTRIBUTES: bool = true;

    fn read(mesh: &Mesh, _: PrimitiveKind, _: &[u32]) -> Result<Vec<Self>, String> {
        vertices(mesh)
    }
}

fn vertices(mesh: &Mesh) -> Result<Vec<Vertex>, String> {
    let positions = positions(mesh)?;
    let uvs = uvs(mesh, false)?.unwrap_or_else(|| vec![Vec2::ZERO; positions.len()]);
    let colors = colors(mesh)?.unwrap_or_else(|| vec![[1.0; 4]; positions.len()]);
    if uvs.len() != positions.len() || colors.len() != positions.len() {
        return Err(format!(
            "it has {} positions, {} texture coordinates and {} colors; the counts must be equal",
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
            "its vertex {at} has position {position}, texture coordinates {uv} and color {color:?}; all \
             must be finite"
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

#[cfg(test)]
mod tests;
