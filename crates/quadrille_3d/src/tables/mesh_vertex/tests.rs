use bevy_asset::RenderAssetUsages;
use bevy_mesh::{Indices, PrimitiveTopology};
use quadrille_content::meshes::MeshData;

use super::*;

fn triangle() -> Mesh {
    let positions = vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
}

#[test]
fn vertex_layout_matches_struct() {
    let layout = Vertex::layout();
    assert_eq!(layout.stride as usize, size_of::<Vertex>());
    assert_eq!(Vertex::position_layout().stride, layout.stride);
    // In words of 4 bytes, as in `skin.wgsl`.
    let offsets = [
        size_of::<Vertex>(),
        std::mem::offset_of!(Vertex, normal),
        std::mem::offset_of!(Vertex, tangent),
    ];
    assert_eq!(offsets, [18, 3, 14].map(|numbers| numbers * 4));
}

#[test]
fn missing_normals_are_computed() {
    let (data, _) = MeshData::<Vertex>::read(&triangle()).unwrap();
    for vertex in &data.vertices {
        assert_eq!(vertex.normal, [0.0, 0.0, 1.0]);
        assert_eq!(vertex.color, [1.0; 4]);
    }
    let turned = triangle().with_inserted_indices(Indices::U16(vec![0, 2, 1]));
    let (data, _) = MeshData::<Vertex>::read(&turned).unwrap();
    assert_eq!(data.vertices[0].normal, [0.0, 0.0, -1.0]);
}

#[test]
fn normals_are_normalized() {
    let long = triangle().with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 3.0, 4.0]; 3]);
    let (data, _) = MeshData::<Vertex>::read(&long).unwrap();
    assert_eq!(data.vertices[0].normal, [0.0, 0.6, 0.8]);
}

#[test]
fn missing_uv1_falls_back_to_uv0() {
    let shown = triangle()
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, vec![[0.25, 0.5]; 3])
        .with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, vec![[1.0, 0.0, 0.0, -1.0]; 3]);
    let (data, _) = MeshData::<Vertex>::read(&shown).unwrap();
    assert_eq!(data.vertices[1].uvs, [0.25, 0.5, 0.25, 0.5]);
    assert_eq!(data.vertices[1].tangent, [1.0, 0.0, 0.0, -1.0]);
    let both = shown.with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, vec![[1.0, 2.0]; 3]);
    let (data, _) = MeshData::<Vertex>::read(&both).unwrap();
    assert_eq!(data.vertices[1].uvs, [0.25, 0.5, 1.0, 2.0]);
}

#[test]
fn broken_meshes_return_errors() {
    let short = triangle().with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![[1.0f32; 4]; 2]);
    assert_eq!(
        MeshData::<Vertex>::read(&short).unwrap_err(),
        "it has 3 positions and 2 colors; there must be as many"
    );
    let odd = Mesh::new(PrimitiveTopology::PointList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[f32::NAN, 0.0, 0.0]]);
    let error = MeshData::<Vertex>::read(&odd).unwrap_err();
    assert!(
        error.starts_with("its vertex 0 is at [NaN, 0.0, 0.0]"),
        "{error}"
    );
}
