use bevy_asset::RenderAssetUsages;
use bevy_mesh::{PrimitiveTopology, VertexAttributeValues as Values};

use super::*;

const HEIGHT: MeshVertexAttribute =
    MeshVertexAttribute::new("Height", 700_001, VertexFormat::Float32);
const KIND: MeshVertexAttribute = MeshVertexAttribute::new("Kind", 700_002, VertexFormat::Sint16x2);
const PART: MeshVertexAttribute = MeshVertexAttribute::new("Part", 700_003, VertexFormat::Unorm8x4);
const HALF: MeshVertexAttribute =
    MeshVertexAttribute::new("Half", 700_004, VertexFormat::Float16x2);

fn mesh() -> Mesh {
    Mesh::new(
        PrimitiveTopology::PointList,
        RenderAssetUsages::MAIN_WORLD | RenderAssetUsages::RENDER_WORLD,
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; 2])
    .with_inserted_attribute(PART, Values::Unorm8x4(vec![[0, 51, 255, 102]; 2]))
    .with_inserted_attribute(KIND, Values::Sint16x2(vec![[1, -2], [3, -4]]))
    .with_inserted_attribute(HEIGHT, vec![0.5_f32, 2.5])
}

#[test]
fn words_follow_ids_and_conversions_of_vulkan() {
    let own = OwnAttributes::of(&mesh());
    let offsets: Vec<_> = own.attributes.iter().map(|it| it.offset).collect();
    assert_eq!((offsets, own.stride), (vec![0, 1, 3], 7));
    let float = |value: f32| value.to_bits();
    let vertex = |height: f32, kind: [i32; 2]| {
        let part = [0.0, 0.2, 1.0, 0.4].map(float);
        let [a, b] = kind.map(|it| it as u32);
        [vec![float(height), a, b], part.to_vec()].concat()
    };
    let expected = [vertex(0.5, [1, -2]), vertex(2.5, [3, -4])].concat();
    assert_eq!(own.read(&mesh()), expected);
}

#[test]
fn halves_are_exact() {
    for (bits, value) in [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x3555, 0.333_251_95),
        (0x0001, 5.960_464_5e-8),
        (0x7c00, f32::INFINITY),
    ] {
        assert_eq!(half(bits), value, "{bits:x}");
    }
    assert!(half(0x7e00).is_nan());
    let (scalar, components, bytes, _) = decode(HALF.format).expect("it can be read");
    assert_eq!((scalar, components, bytes), (AttributeScalar::Float, 2, 2));
}

#[test]
fn layout_has_what_the_mesh_has() {
    let own = OwnAttributes::of(&mesh());
    const STANDARD: VertexAttributes = &[
        (Mesh::ATTRIBUTE_POSITION, VertexFormat::Float32x3, 0),
        (Mesh::ATTRIBUTE_UV_0, VertexFormat::Float32x2, 12),
    ];
    let has = |attribute: &MeshVertexAttribute| mesh().contains_attribute(attribute.id);
    let layout = own.buffer_layout(has, STANDARD, 20);
    assert!(layout.contains(Mesh::ATTRIBUTE_POSITION) && layout.contains(KIND));
    assert!(!layout.contains(Mesh::ATTRIBUTE_UV_0));
    let found = layout.get_layout(&[KIND.at_shader_location(3)]);
    let found = found.expect("the mesh has it");
    assert_eq!(found.attributes[0].offset, 20 + 4);
    assert_eq!(found.attributes[0].shader_location, 3);
    assert_eq!(found.array_stride, 20 + 28);
    assert!(layout.get_layout(&[HALF.at_shader_location(0)]).is_err());
}
