use bevy_asset::RenderAssetUsages;
use bevy_mesh::PrimitiveTopology;

use super::*;

fn mesh(count: usize) -> Mesh {
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; count])
}

fn with_built_in() -> MeshStore<[f32; 3]> {
    let mut store = MeshStore::default();
    let place = store.add_built_in(&MeshData {
        shape: Shape::Triangles,
        vertices: vec![[7.0; 3]; 6],
        indices: (0..6).collect(),
    });
    assert_eq!((place.first_index, place.base_vertex), (0, 0));
    store
}

#[test]
fn meshes_lie_one_behind_the_other() {
    let mut assets = Assets::<Mesh>::default();
    let (a, b) = (assets.add(mesh(3)), assets.add(mesh(6)));
    let mut meshes = with_built_in();
    meshes.put(a.id(), assets.get(&a).unwrap());
    meshes.put(b.id(), assets.get(&b).unwrap());
    let place = meshes.place(b.id()).unwrap();
    assert_eq!(
        (place.first_index, place.index_count, place.base_vertex),
        (9, 6, 9),
        "behind what is built in and the first"
    );
}

#[test]
fn what_is_gone_makes_room() {
    let mut assets = Assets::<Mesh>::default();
    let kept = assets.add(mesh(3));
    let changing = assets.add(mesh(6000));
    let mut meshes = with_built_in();
    meshes.put(kept.id(), assets.get(&kept).unwrap());
    for _ in 0..8 {
        meshes.put(changing.id(), assets.get(&changing).unwrap());
        if meshes.is_mostly_garbage() {
            meshes.rebuild(&assets);
        }
    }
    assert!(meshes.indices.len() < 4 * 6000);
    assert_eq!(meshes.place(kept.id()).unwrap().index_count, 3);
    assert_eq!(
        meshes.vertices[..6],
        [[7.0; 3]; 6],
        "what is built in stays"
    );
}
