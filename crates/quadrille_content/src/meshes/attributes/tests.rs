use bevy_asset::RenderAssetUsages;
use bevy_mesh::PrimitiveTopology;

use super::*;

fn mesh() -> Mesh {
    let way = [[0.6, -0.8, 0.0], [0.0, 0.28, -0.96], [-1.0, 0.0, 0.0]];
    let tangents = [
        [0.8, 0.6, 0.0, -1.0],
        [1.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, -1.0],
    ];
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_POSITION,
        vec![[-3.0, 100.0, 7.0], [5.0, 108.0, 7.0], [1.0, 101.5, 7.0]],
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, way.to_vec())
    .with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, tangents.to_vec())
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_UV_0,
        vec![[-2.0, 0.5], [3.0, 0.5], [0.0, 0.5]],
    )
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_UV_1,
        vec![[0.0, 10.0], [1.0, 12.0], [0.5, 11.0]],
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![[0.2f32, 0.4, 0.6, 1.0]; 3])
}

#[track_caller]
fn expect_near(found: &[f32], wanted: &[f32], tolerance: f32) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() <= tolerance, "{found}, not {wanted}");
    }
}

#[test]
fn compressed_meshes_decode_to_original() {
    let whole = mesh();
    let mut small = mesh();
    small.compress_positions().unwrap();
    small.compress_normals().unwrap();
    small.compress_tangents().unwrap();
    small.compress_uv0().unwrap();
    small.compress_uv1().unwrap();
    let flat = |vectors: Vec<Vec3>| bytemuck::cast_slice::<Vec3, f32>(&vectors).to_vec();
    let [a, b] = [&small, &whole].map(|mesh| flat(positions(mesh).unwrap()));
    expect_near(&a, &b, 4.0 / 32767.0 + 1e-5);
    let [a, b] = [&small, &whole].map(|mesh| flat(normals(mesh).unwrap().unwrap()));
    expect_near(&a, &b, 1e-4);
    let [a, b] = [&small, &whole].map(|mesh| tangents(mesh).unwrap().unwrap().concat());
    expect_near(&a, &b, 2e-4);
    for second in [false, true] {
        let [a, b] = [&small, &whole].map(|mesh| {
            let uvs = uvs(mesh, second).unwrap().unwrap();
            bytemuck::cast_slice::<Vec2, f32>(&uvs).to_vec()
        });
        expect_near(&a, &b, 5.0 / 65535.0);
    }
}

#[test]
fn all_attribute_formats_are_read() {
    let with = |values: Values| {
        let mut attribute = Mesh::ATTRIBUTE_COLOR;
        attribute.format = (&values).into();
        let mut mesh = mesh();
        mesh.insert_attribute(attribute, values);
        colors(&mesh).map(|colors| colors.unwrap()[0])
    };
    assert_eq!(
        with(Values::Float32x3(vec![[0.5; 3]; 3])),
        Ok([0.5, 0.5, 0.5, 1.0])
    );
    assert_eq!(
        with(Values::Unorm8x4(vec![[255, 0, 51, 102]; 3])),
        Ok([1.0, 0.0, 0.2, 0.4])
    );
    let signed = with(Values::Snorm16x4(vec![[i16::MIN, 32767, 0, -32767]; 3]));
    assert_eq!(signed, Ok([-1.0, 1.0, 0.0, -1.0]));
    let whole = with(Values::Uint8x4(vec![[1; 4]; 3])).unwrap_err();
    assert_eq!(whole, "its colors are not three or four floats");
}
