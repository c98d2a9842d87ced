use bevy_asset::AssetId;
use bevy_shape::Cuboid;

use super::*;
use quadrille_content::meshes::MeshLayouts;
use wgpu_types::VertexFormat;

const OWN: MeshVertexAttribute =
    MeshVertexAttribute::new("Own", 988_540_917, VertexFormat::Float32x4);

fn with_layout<T>(mesh: &Mesh, test: impl FnOnce(&MeshLayout) -> T) -> T {
    let mut layouts = MeshLayouts::<Vertex>::default();
    assert!(layouts.update(AssetId::default(), mesh));
    assert!(!layouts.update(AssetId::default(), mesh), "it is known");
    let layout = layouts.of(AssetId::default()).expect("it is read");
    test(layouts.get(layout))
}

fn mesh() -> Mesh {
    Mesh::from(Cuboid::default()).with_inserted_attribute(OWN, vec![[1.0_f32, 0.0, 0.0, 1.0]; 24])
}

#[test]
fn shader_defs_are_those_of_the_mesh() {
    with_layout(&mesh(), |layout| {
        let desc = default_descriptor(layout, Some(Face::Back));
        let defs: Vec<_> = desc.vertex.shader_defs.iter().map(|it| it.name()).collect();
        let expected = [
            "VERTEX_POSITIONS",
            "VERTEX_NORMALS",
            "VERTEX_UVS",
            "VERTEX_UVS_A",
        ];
        assert_eq!(defs, expected);
        let buffers = desc.vertex.buffers.clone();
        let state = MaterialPipelineState::new(desc, &buffers, layout);
        assert_eq!(state.inputs, None);
        assert!(state.pulled().is_none());
        assert_eq!(state.cull(), CullMode::Back);
    });
}

#[test]
fn attributes_of_programs_are_pulled() {
    with_layout(&mesh(), |layout| {
        let mut desc = default_descriptor(layout, None);
        let before = desc.vertex.buffers.clone();
        let wanted = [
            Mesh::ATTRIBUTE_NORMAL.at_shader_location(4),
            OWN.at_shader_location(1),
        ];
        desc.vertex.buffers = vec![layout.reference.0.get_layout(&wanted).expect("it has both")];
        let state = MaterialPipelineState::new(desc, &before, layout);
        let own = state.vertex_layout(true, MaterialLocations::Forward);
        let of_vertex = Vertex::layout();
        assert_eq!(own.stride, of_vertex.stride);
        assert_eq!(own.attributes.len(), 1);
        assert_eq!(
            (own.attributes[0].location, own.attributes[0].offset),
            (4, 12)
        );
        let shared = state.vertex_layout(false, MaterialLocations::Prepass);
        assert_eq!(shared, MaterialLocations::Prepass.layout());
        let pulled = state.pulled().expect("it has an attribute of the program");
        assert_eq!((pulled.attributes[0].location, pulled.stride), (1, 4));
    });
}

#[test]
fn front_faces_turn_culling_around() {
    with_layout(&mesh(), |layout| {
        let mut desc = default_descriptor(layout, Some(Face::Back));
        desc.primitive.front_face = FrontFace::Cw;
        desc.depth_stencil = None;
        let state = MaterialPipelineState::new(desc, &[], layout);
        assert_eq!(state.cull(), CullMode::Front);
        let fixed = state.fixed_state();
        assert_eq!(fixed.depth_write, Some(false));
        assert!(!fixed.fits_prepass());
    });
}
