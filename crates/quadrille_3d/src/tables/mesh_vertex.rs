//! Vertices of 3D meshes.

use std::mem::offset_of;

use bevy_math::{Vec2, Vec3};
use bevy_mesh::{Mesh, MeshVertexAttribute};
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::{VertexAttribute, VertexLayout};
use quadrille_content::meshes::{
    MeshVertex, PrimitiveKind, VertexAttributes, colors, normals, positions, tangents, uvs,
};
use quadrille_content::warnings::is_finite;
use wgpu_types::VertexFormat;

use crate::constants::{NO_UV, NORMAL_OFFSET, TANGENT_OFFSET, VERTEX_WORDS};

/// Vertex of a 3D mesh.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/mesh_types.wgsl", "Vertex")]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    /// Unit length, or 0 if the mesh has no normals.
    pub(crate) normal: [f32; 3],
    /// Linear; white if the mesh has no vertex colors.
    pub(crate) color: [f32; 4],
    /// Texture coordinates 0 and 1; [`NO_UV`] if the mesh has none, coordinates 0 twice if it has no coordinates 1.
    pub(crate) uvs: [f32; 4],
    /// Unit length; w is the sign of the bitangent; zeros if the mesh has none.
    pub(crate) tangent: [f32; 4],
}

const _: () = assert!(
    size_of::<Vertex>() == 4 * VERTEX_WORDS as usize
        && offset_of!(Vertex, normal) == 4 * NORMAL_OFFSET as usize
        && offset_of!(Vertex, tangent) == 4 * TANGENT_OFFSET as usize
);

impl Vertex {
    /// Vertex attributes of all fields: locations 0 to 4.
    pub(crate) fn layout() -> VertexLayout {
        VertexLayout::of_row::<Self>(0)
    }

    /// Vertex attribute of the position: location 0.
    pub(crate) fn position_layout() -> VertexLayout {
        VertexLayout {
            attributes: vec![VertexAttribute {
                location: 0,
                format: Format::R32G32B32_SFLOAT,
                offset: 0,
            }],
            ..Self::layout()
        }
    }
}

/// Attributes of meshes that [`Vertex`] has, with their formats and offsets.
pub(crate) const STANDARD_ATTRIBUTES: [(MeshVertexAttribute, VertexFormat, u64); 6] = {
    let uvs = offset_of!(Vertex, uvs) as u64;
    [
        (
            Mesh::ATTRIBUTE_POSITION,
            VertexFormat::Float32x3,
            offset_of!(Vertex, position) as u64,
        ),
        (
            Mesh::ATTRIBUTE_NORMAL,
            VertexFormat::Float32x3,
            offset_of!(Vertex, normal) as u64,
        ),
        (Mesh::ATTRIBUTE_UV_0, VertexFormat::Float32x2, uvs),
        (Mesh::ATTRIBUTE_UV_1, VertexFormat::Float32x2, uvs + 8),
        (
            Mesh::ATTRIBUTE_TANGENT,
            VertexFormat::Float32x4,
            offset_of!(Vertex, tangent) as u64,
        ),
        (
            Mesh::ATTRIBUTE_COLOR,
            VertexFormat::Float32x4,
            offset_of!(Vertex, color) as u64,
        ),
    ]
};

/// Locations of vertex attributes in shaders of materials, by bevy's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaterialLocations {
    /// `bevy_pbr::render::forward_io::Vertex`.
    Forward,
    /// `bevy_pbr::prepass::io::Vertex`.
    Prepass,
}

impl MaterialLocations {
    /// Vertex attributes of all fields at these locations.
    pub(crate) fn layout(self) -> VertexLayout {
        let [normal, uv, uv_b, tangent, color] = match self {
            Self::Forward => [1, 2, 3, 4, 5],
            Self::Prepass => [3, 1, 2, 4, 7],
        };
        let uvs = offset_of!(Vertex, uvs);
        let attributes = [
            (0, Format::R32G32B32_SFLOAT, offset_of!(Vertex, position)),
            (normal, Format::R32G32B32_SFLOAT, offset_of!(Vertex, normal)),
            (uv, Format::R32G32_SFLOAT, uvs),
            (uv_b, Format::R32G32_SFLOAT, uvs + size_of::<[f32; 2]>()),
            (
                tangent,
                Format::R32G32B32A32_SFLOAT,
                offset_of!(Vertex, tangent),
            ),
            (
                color,
                Format::R32G32B32A32_SFLOAT,
                offset_of!(Vertex, color),
            ),
        ];
        let attributes = attributes.map(|(location, format, offset)| VertexAttribute {
            location,
            format,
            offset: offset as u32,
        });
        VertexLayout {
            attributes: attributes.to_vec(),
            ..Vertex::layout()
        }
    }
}

impl MeshVertex for Vertex {
    const KEEPS_OWN_ATTRIBUTES: bool = true;

    const ATTRIBUTES: VertexAttributes = &STANDARD_ATTRIBUTES;

    fn read(mesh: &Mesh, primitive: PrimitiveKind, indices: &[u32]) -> Result<Vec<Self>, String> {
        let positions = positions(mesh)?;
        let normals = match normals(mesh)? {
            Some(normals) => normals,
            None if primitive == PrimitiveKind::Triangles => smooth_normals(&positions, indices),
            None => vec![Vec3::ZERO; positions.len()],
        };
        let count = positions.len();
        let colors = colors(mesh)?.unwrap_or_else(|| vec![[1.0; 4]; count]);
        let second = uvs(mesh, true)?;
        let uvs = uvs(mesh, false)?.unwrap_or_else(|| vec![Vec2::splat(NO_UV); count]);
        let second = second.unwrap_or_else(|| uvs.clone());
        let tangents = tangents(mesh)?.unwrap_or_else(|| vec![[0.0; 4]; count]);
        let counts = [
            (normals.len(), "normals"),
            (colors.len(), "colors"),
            (uvs.len(), "texture coordinates"),
            (second.len(), "second texture coordinates"),
            (tangents.len(), "tangents"),
        ];
        if let Some((other, what)) = counts.into_iter().find(|&(other, _)| other != count) {
            return Err(format!(
                "it has {count} positions and {other} {what}; there must be as many"
            ));
        }
        let vertices: Vec<_> = (0..count)
            .map(|at| Self {
                position: positions[at].to_array(),
                normal: normals[at].normalize_or_zero().to_array(),
                color: colors[at],
                uvs: [uvs[at].x, uvs[at].y, second[at].x, second[at].y],
                tangent: tangents[at],
            })
            .collect();
        let is_invalid =
            |vertex: &Self| !is_finite(bytemuck::cast_slice(std::slice::from_ref(vertex)));
        match vertices.iter().position(is_invalid) {
            Some(at) => {
                let Self {
                    position,
                    color,
                    uvs,
                    tangent,
                    ..
                } = vertices[at];
                let (uvs, _) = uvs.as_chunks::<2>();
                Err(format!(
                    "its vertex {at} is at {position:?}, shows {uvs:?}, has the color {color:?} and \
                     the tangent {tangent:?}; all must be finite"
                ))
            }
            None => Ok(vertices),
        }
    }
}

/// Computes area-weighted vertex normals of a mesh without normals.
fn smooth_normals(positions: &[Vec3], indices: &[u32]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    let (triangles, _) = indices.as_chunks::<3>();
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| positions[corner as usize]);
        let area = (b - a).cross(c - a);
        for &corner in corners {
            normals[corner as usize] += area;
        }
    }
    normals
}

#[cfg(test)]
mod tests;
