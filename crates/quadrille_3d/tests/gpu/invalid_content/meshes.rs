//! Meshes that are invalid in different ways.

use bevy_asset::RenderAssetUsages;
use bevy_mesh::{Indices, PrimitiveTopology, VertexAttributeValues};
use quadrille_3d::prelude::*;

/// Words of the lines that 3D and 2D log.
type Words = [&'static [&'static str]; 2];

/// Meshes that cannot be drawn, or only in part, with words of the warnings of 3D and 2D. A mesh without triangles is
/// valid.
pub(super) fn odd() -> Vec<(&'static str, Mesh, Words)> {
    let mesh = |topology| Mesh::new(topology, RenderAssetUsages::default());
    let triangles = || mesh(PrimitiveTopology::TriangleList);
    let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let with_positions =
        || triangles().with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions.clone());
    let nowhere = vec![[f32::NAN, f32::INFINITY, 1e38]; 3];
    vec![
        (
            "no attributes",
            triangles(),
            [&["it has no positions"], &[]],
        ),
        (
            "no vertices",
            triangles().with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, Vec::<[f32; 3]>::new()),
            [&[], &[]],
        ),
        (
            "indices out of range",
            with_positions().with_inserted_indices(Indices::U32(vec![0, 1, u32::MAX])),
            [
                &["1 of its 1 triangles have an index beyond its 3 vertices, the first 4294967295"],
                &[],
            ],
        ),
        (
            "no indices",
            with_positions().with_inserted_indices(Indices::U16(Vec::new())),
            [&[], &[]],
        ),
        (
            "odd count of indices",
            with_positions().with_inserted_indices(Indices::U16(vec![0, 1])),
            [&[], &[]],
        ),
        (
            "fewer normals than positions",
            with_positions().with_inserted_attribute(
                Mesh::ATTRIBUTE_NORMAL,
                VertexAttributeValues::Float32x3(vec![[0.0, 0.0, 1.0]]),
            ),
            [
                &["it has 3 positions and 1 normals; there must be as many"],
                &[],
            ],
        ),
        (
            "nowhere",
            triangles().with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, nowhere),
            [
                &["its vertex 0 is at [NaN, inf, 1e38]"],
                &["all must be finite"],
            ],
        ),
        (
            "one point of a strip",
            mesh(PrimitiveTopology::TriangleStrip)
                .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]]),
            [&[], &[]],
        ),
    ]
}
