//! More deformed vertices than fit into one storage buffer range.

use bevy_asset::RenderAssetUsages;
use bevy_camera::visibility::NoFrustumCulling;
use bevy_ecs::prelude::*;
use bevy_mesh::morph::{MeshMorphWeights, MorphAttributes};
use bevy_mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use bevy_mesh::{Indices, PrimitiveTopology, VertexAttributeValues};
use quadrille_3d::prelude::*;
use quadrille_3d::resources::Vertices3d;

use crate::common::Rig;

/// Entities side by side, and one above the other.
const COLUMNS: usize = 8;
const ROWS: usize = 5;

/// Vertices of the mesh.
const COUNT: usize = 1 << 16;

/// Required minimum of `maxStorageBufferRange`: with less data nothing would be split even at this minimum.
const MIN_STORAGE_BUFFER_RANGE: u64 = 1 << 27;

/// A square of half a unit. Its corners are the last vertices of a long list; the first joint moves them, and
/// the only target makes the square half as high.
fn square() -> Mesh {
    let corners = [[-0.25, -0.25], [0.25, -0.25], [0.25, 0.25], [-0.25, 0.25]];
    let places = (0..COUNT).map(|at| match at.checked_sub(COUNT - 4) {
        Some(corner) => [corners[corner][0], corners[corner][1], 0.0],
        None => [0.0; 3],
    });
    let places: Vec<[f32; 3]> = places.collect();
    let lower = |place: &[f32; 3]| MorphAttributes {
        position: Vec3::new(0.0, place[1] * -0.5, 0.0),
        ..MorphAttributes::default()
    };
    let targets = places.iter().map(lower).collect();
    let last = COUNT as u32 - 4;
    let indices = [0, 1, 2, 0, 2, 3].map(|at| last + at);
    let mut mesh = Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, places)
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_JOINT_INDEX,
        VertexAttributeValues::Uint16x4(vec![[0; 4]; COUNT]),
    )
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_JOINT_WEIGHT,
        vec![[1.0, 0.0, 0.0, 0.0]; COUNT],
    )
    .with_inserted_indices(Indices::U32(indices.to_vec()));
    mesh.set_morph_targets(targets);
    mesh
}

/// The middle of each entity: they cover the view.
fn places() -> impl Iterator<Item = Vec3> {
    (0..COLUMNS * ROWS).map(|at| {
        let [column, row] = [at % COLUMNS, at / COLUMNS].map(|at| at as f32 + 0.5);
        Vec3::new(column - COLUMNS as f32 / 2.0, ROWS as f32 / 2.0 - row, 0.0)
    })
}

fn scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut binds: ResMut<Assets<SkinnedMeshInverseBindposes>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mesh = meshes.add(square());
    let inverse_bindposes = binds.add(vec![Mat4::IDENTITY]);
    let material = materials.add(StandardMaterial {
        unlit: true,
        ..StandardMaterial::default()
    });
    for place in places() {
        let joint = commands.spawn(Transform::from_translation(place)).id();
        commands.spawn((
            Mesh3d(mesh.clone()),
            MeshMaterial3d(material.clone()),
            NoFrustumCulling,
            MeshMorphWeights::Value { weights: vec![1.0] },
            SkinnedMesh {
                inverse_bindposes: inverse_bindposes.clone(),
                joints: vec![joint],
            },
        ));
    }
    commands.insert_resource(ClearColor(Color::BLACK));
    commands.spawn((
        Camera3d::default(),
        Tonemapping::None,
        Msaa::Off,
        Projection::from(OrthographicProjection {
            scaling_mode: ScalingMode::FixedVertical {
                viewport_height: ROWS as f32,
            },
            ..OrthographicProjection::default_3d()
        }),
        Transform::from_xyz(0.0, 0.0, 8.0),
    ));
}

#[test]
#[ignore = "needs a device"]
fn skinning_exceeds_storage_buffer_range() {
    const CELL: u32 = 16;
    let [columns, rows] = [COLUMNS, ROWS].map(|count| count as u32);
    let mut rig = Rig::scene(columns * CELL, rows * CELL, scene);
    let picture = rig.picture();
    for cell in 0..columns * rows {
        let [x, y] = [cell % columns, cell / columns].map(|at| at * CELL);
        let at = |right: u32, down: u32| picture.at(x + right, y + down)[0];
        // Eight pixels wide, four high.
        assert_eq!([at(8, 8), at(5, 7), at(10, 9)], [255; 3], "{cell}");
        assert_eq!([at(8, 4), at(8, 11), at(2, 8), at(13, 8)], [0; 4], "{cell}");
    }
    let bytes = rig.app.world().resource::<Vertices3d>().bytes();
    assert!(bytes > MIN_STORAGE_BUFFER_RANGE, "{bytes}");
}
