use bevy_asset::RenderAssetUsages;
use bevy_math::Vec3;
use bevy_mesh::PrimitiveTopology;
use bevy_mesh::morph::MorphAttributes;

use super::*;

fn mesh(vertices: usize) -> Mesh {
    Mesh::new(PrimitiveTopology::PointList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; vertices])
}

fn with_joints(joints: Values, weights: Values) -> Mesh {
    let mut of_weights = Mesh::ATTRIBUTE_JOINT_WEIGHT;
    of_weights.format = (&weights).into();
    mesh(2)
        .with_inserted_attribute(Mesh::ATTRIBUTE_JOINT_INDEX, joints)
        .with_inserted_attribute(of_weights, weights)
}

#[test]
fn zero_weight_joints_are_ignored() {
    let joints = Values::Uint16x4(vec![[7, 0, 9, 3], [1, 0, 0, 0]]);
    let weights = Values::Float32x4(vec![[0.0, 0.5, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0]]);
    let read = read(&with_joints(joints, weights)).unwrap().unwrap();
    assert_eq!((read.joints, read.targets, read.vertices), (4, 0, 2));
    let half = 0.5f32.to_bits();
    assert_eq!(read.words[..6], [0, 3 << 16, 0, half, 0, half]);
    assert_eq!(read.words[6..9], [1, 0, 1.0f32.to_bits()]);
}

#[test]
fn unorm_weights_are_read() {
    let joints = Values::Uint16x4(vec![[0; 4], [1; 4]]);
    let weights = Values::Unorm16x4(vec![[65535, 0, 0, 0]; 2]);
    let read = read(&with_joints(joints, weights)).unwrap().unwrap();
    assert_eq!(read.words[2], 1.0f32.to_bits());
    assert_eq!(read.joints, 2);
}

#[test]
fn morph_targets_follow_joints() {
    let weights = Values::Float32x4(vec![[1.0, 0.0, 0.0, 0.0]; 2]);
    let mut mesh = with_joints(Values::Uint16x4(vec![[0; 4]; 2]), weights);
    let up = MorphAttributes::new(Vec3::Y, Vec3::X, Vec3::Z);
    mesh.set_morph_targets(vec![up; 6]);
    let read = read(&mesh).unwrap().unwrap();
    assert_eq!(read.targets, 3);
    assert_eq!(
        read.words.len() as u32,
        2 * (INFLUENCE_WORDS + 3 * TARGET_WORDS)
    );
    let first = &read.words[12..21];
    let wanted = [0.0f32, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0].map(f32::to_bits);
    assert_eq!(first, wanted);
}

#[test]
fn sources_are_stored_in_blocks() {
    let count = BLOCK_VERTICES as usize + 6;
    let position = |at: usize| [at as f32, 0.0, 0.0];
    let mut mesh = mesh(count)
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            Values::Uint16x4((0..count as u16).map(|at| [at, 0, 0, 0]).collect()),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_WEIGHT,
            vec![[1.0, 0.0, 0.0, 0.0]; count],
        );
    let target = |sign: f32| {
        (0..count).map(move |at| MorphAttributes {
            position: Vec3::from(position(at)) * sign,
            ..MorphAttributes::default()
        })
    };
    mesh.set_morph_targets(target(1.0).chain(target(-1.0)).collect());
    let read = read(&mesh).unwrap().unwrap();
    let per_vertex = INFLUENCE_WORDS + 2 * TARGET_WORDS;
    assert_eq!(read.words.len() as u32, count as u32 * per_vertex);
    for vertex in 0..count as u32 {
        let first = vertex / BLOCK_VERTICES * BLOCK_VERTICES;
        let (block, index) = (first * per_vertex, vertex - first);
        let vertices = BLOCK_VERTICES.min(count as u32 - first);
        let word = |at: u32| read.words[at as usize];
        assert_eq!(word(block + index * INFLUENCE_WORDS), vertex);
        for (target, sign) in [(0, 1.0), (1, -1.0)] {
            let targets = block + vertices * (INFLUENCE_WORDS + target * TARGET_WORDS);
            let found = f32::from_bits(word(targets + index * TARGET_WORDS));
            assert_eq!(found, vertex as f32 * sign, "{target}");
        }
    }
}

#[test]
fn invalid_meshes_return_errors() {
    assert!(read(&mesh(3)).unwrap().is_none(), "rigid");
    let weights = Values::Float32x4(vec![[f32::NAN; 4]; 2]);
    let odd = with_joints(Values::Uint16x4(vec![[0; 4]; 2]), weights);
    let error = read(&odd).err().unwrap();
    assert!(
        error.starts_with("its vertex 0 has the joint weights"),
        "{error}"
    );
    let mut short = mesh(2);
    short.set_morph_targets(vec![MorphAttributes::default(); 3]);
    let error = read(&short).err().unwrap();
    assert!(error.contains("2 positions and 3 displacements"), "{error}");
}
