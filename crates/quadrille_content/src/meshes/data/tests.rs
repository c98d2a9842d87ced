use bevy_asset::RenderAssetUsages;

use super::*;

fn mesh(topology: PrimitiveTopology, count: usize) -> Mesh {
    let positions: Vec<[f32; 3]> = (0..count).map(|at| [at as f32, 0.0, 0.0]).collect();
    Mesh::new(topology, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
}

impl MeshVertex for [f32; 3] {
    fn read(mesh: &Mesh, _: PrimitiveKind, _: &[u32]) -> Result<Vec<Self>, String> {
        Ok(crate::meshes::positions(mesh)?
            .into_iter()
            .map(|at| at.to_array())
            .collect())
    }
}

type MeshData = super::MeshData<[f32; 3]>;

#[test]
fn strips_become_lists() {
    let read = |topology| MeshData::read(&mesh(topology, 5)).unwrap().0;
    let triangles = read(PrimitiveTopology::TriangleStrip);
    assert_eq!(triangles.primitive, PrimitiveKind::Triangles);
    assert_eq!(triangles.indices, [0, 1, 2, 2, 1, 3, 2, 3, 4]);
    let lines = read(PrimitiveTopology::LineStrip);
    assert_eq!(lines.indices, [0, 1, 1, 2, 2, 3, 3, 4]);
    assert_eq!(read(PrimitiveTopology::PointList).indices, [0, 1, 2, 3, 4]);
}

#[test]
fn largest_index_restarts_strip() {
    let indices = Indices::U16(vec![0, 1, 2, 3, u16::MAX, 4, 3, 2]);
    let strips = mesh(PrimitiveTopology::TriangleStrip, 5).with_inserted_indices(indices);
    let (triangles, skipped) = MeshData::read(&strips).unwrap();
    assert_eq!(skipped, None);
    assert_eq!(triangles.indices, [0, 1, 2, 2, 1, 3, 4, 3, 2]);
}

#[test]
fn invalid_meshes_report_reason() {
    let empty = Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    );
    assert_eq!(MeshData::read(&empty).unwrap_err(), "it has no positions");
    let beyond =
        mesh(PrimitiveTopology::TriangleList, 3).with_inserted_indices(Indices::U16(vec![0, 1, 3]));
    assert_eq!(
        MeshData::read(&beyond).unwrap_err(),
        "1 of its 1 triangles have an index beyond its 3 vertices, the first 3"
    );
}

#[test]
fn primitives_with_out_of_range_index_are_skipped() {
    let indices = Indices::U16(vec![0, 1, 2, 255, 1, 2, 2, 1, 3, 3, 0, 7]);
    let triangles = mesh(PrimitiveTopology::TriangleList, 4).with_inserted_indices(indices.clone());
    let (data, skipped) = MeshData::read(&triangles).unwrap();
    assert_eq!(data.indices, [0, 1, 2, 2, 1, 3]);
    assert_eq!(data.vertices.len(), 4);
    assert_eq!(
        skipped.as_deref(),
        Some("2 of its 4 triangles have an index beyond its 4 vertices, the first 255")
    );
    let lines = mesh(PrimitiveTopology::LineList, 4).with_inserted_indices(indices);
    let (data, _) = MeshData::read(&lines).unwrap();
    assert_eq!(data.indices, [0, 1, 1, 2, 2, 1, 3, 3]);
}
