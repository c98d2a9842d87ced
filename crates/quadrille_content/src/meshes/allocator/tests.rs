use bevy_asset::{Assets, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_ecs::system::{RunSystemOnce as _, SystemState};
use bevy_mesh::PrimitiveTopology;

use super::*;
use crate::meshes::assets::{DrawnMeshes, release_meshes};

/// Allocator, and a world with mesh assets.
struct Rig {
    app: bevy_app::App,
    state: SystemState<MeshAssets<'static, 'static>>,
    meshes: MeshAllocator<[f32; 3]>,
}

impl Rig {
    fn new() -> Self {
        use bevy_asset::AssetApp as _;
        let mut app = bevy_app::App::new();
        app.add_plugins((
            bevy_app::TaskPoolPlugin::default(),
            bevy_asset::AssetPlugin::default(),
        ))
        .init_asset::<Mesh>()
        .init_resource::<DrawnMeshes>();
        let state = SystemState::new(app.world_mut());
        let mut meshes = MeshAllocator::default();
        let allocation = meshes.add_builtin(&MeshData {
            primitive: PrimitiveKind::Triangles,
            vertices: vec![[7.0; 3]; 6],
            indices: (0..6).collect(),
        });
        assert_eq!((allocation.first_index, allocation.base_vertex), (0, 0));
        Self { app, state, meshes }
    }

    fn assets(&mut self) -> Mut<'_, Assets<Mesh>> {
        self.app.world_mut().resource_mut()
    }

    /// Runs a frame in which entities first request these meshes.
    fn frame(&mut self, requested: &[AssetId<Mesh>]) {
        self.app.update();
        let mut assets = self.state.get_mut(self.app.world_mut()).unwrap();
        self.meshes.apply_asset_events(&mut assets);
        for &id in requested {
            self.meshes.request(id, &mut assets);
        }
        self.meshes.compact();
        self.app
            .world_mut()
            .run_system_once(release_meshes)
            .unwrap();
    }

    fn allocation(&self, id: AssetId<Mesh>) -> (u32, u32, i32) {
        let allocation = self.meshes.allocation(id).unwrap();
        (
            allocation.first_index,
            allocation.index_count,
            allocation.base_vertex,
        )
    }
}

fn mesh(count: usize) -> Mesh {
    mesh_for(count, RenderAssetUsages::default())
}

fn mesh_for(count: usize, usages: RenderAssetUsages) -> Mesh {
    Mesh::new(PrimitiveTopology::TriangleList, usages)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; count])
}

#[test]
fn meshes_are_allocated_contiguously() {
    let mut rig = Rig::new();
    let [a, b] = [3, 6].map(|count| rig.assets().add(mesh(count)));
    rig.frame(&[a.id(), b.id()]);
    assert_eq!(rig.allocation(a.id()), (6, 3, 6), "behind what is built in");
    assert_eq!(rig.allocation(b.id()), (9, 6, 9));
}

#[test]
fn unused_meshes_are_not_uploaded() {
    let mut rig = Rig::new();
    let [a, b] = [3, 6].map(|count| rig.assets().add(mesh(count)));
    rig.frame(&[b.id()]);
    assert_eq!(rig.meshes.allocation(a.id()), None);
    rig.assets().get_mut(&a).unwrap();
    rig.frame(&[]);
    assert_eq!(rig.meshes.allocation(a.id()), None, "nor when they change");
    rig.frame(&[a.id()]);
    assert_eq!(
        rig.allocation(a.id()),
        (12, 3, 12),
        "but when they are shown"
    );
    let id = a.id();
    drop(a);
    rig.frame(&[]);
    assert_eq!(rig.meshes.allocation(id), None);
    assert!(!rig.meshes.requested.contains(&id));
}

#[test]
fn reinserted_mesh_is_uploaded_again() {
    let mut rig = Rig::new();
    let a = rig.assets().add(mesh(3));
    rig.frame(&[a.id()]);
    rig.assets().remove(&a);
    rig.frame(&[]);
    assert_eq!(rig.meshes.allocation(a.id()), None);
    rig.assets().insert(a.id(), mesh(9)).unwrap();
    rig.frame(&[]);
    assert_eq!(rig.allocation(a.id()).1, 9);
}

#[test]
fn repeated_mesh_changes_do_not_grow_buffers() {
    let mut rig = Rig::new();
    let kept = rig.assets().add(mesh(3));
    let changing = rig
        .assets()
        .add(mesh(40_401).with_inserted_indices(bevy_mesh::Indices::U32(vec![0, 1, 2])));
    rig.frame(&[kept.id(), changing.id()]);
    for turn in 0..120 {
        let other = mesh(40_401 + turn % 5)
            .with_inserted_indices(bevy_mesh::Indices::U32(vec![0, 1, 2, 3, 4, 5]));
        rig.assets().insert(changing.id(), other).unwrap();
        rig.frame(&[]);
    }
    assert!(
        rig.meshes.tail_start() < 2 * 40_420,
        "{}",
        rig.meshes.tail_start()
    );
    assert_eq!(rig.allocation(kept.id()).1, 3);
}

#[test]
fn render_world_mesh_data_is_released() {
    let mut rig = Rig::new();
    let usages = RenderAssetUsages::RENDER_WORLD;
    let [a, b] = [3, 6].map(|count| rig.assets().add(mesh_for(count, usages)));
    rig.frame(&[a.id()]);
    assert!(is_released(rig.assets().get(&a).unwrap()));
    assert!(!is_released(rig.assets().get(&b).unwrap()), "not shown yet");
    let allocation = rig.allocation(a.id());
    rig.assets().get_mut(&a).unwrap();
    rig.frame(&[b.id()]);
    assert_eq!(
        rig.allocation(a.id()),
        allocation,
        "it stays as the device has it"
    );
    assert!(is_released(rig.assets().get(&b).unwrap()));
    // A complete mesh replaces it.
    rig.assets().insert(a.id(), mesh_for(12, usages)).unwrap();
    rig.frame(&[]);
    assert_eq!(rig.allocation(a.id()).1, 12);
    assert!(is_released(rig.assets().get(&a).unwrap()));
}

#[test]
fn new_device_reuploads_assets() {
    let mut rig = Rig::new();
    let a = rig.assets().add(mesh(3));
    let b = rig
        .assets()
        .add(mesh_for(6, RenderAssetUsages::RENDER_WORLD));
    let c = rig.assets().add(mesh(9));
    rig.frame(&[a.id(), b.id(), c.id()]);
    rig.meshes.mark_all_dirty();
    rig.frame(&[]);
    assert_eq!(rig.allocation(a.id()), (6, 3, 6), "behind what is built in");
    assert_eq!(rig.meshes.allocation(b.id()), None, "its data is gone");
    assert_eq!(rig.allocation(c.id()), (9, 9, 9));
    let whole = mesh_for(6, RenderAssetUsages::RENDER_WORLD);
    rig.assets().insert(b.id(), whole).unwrap();
    rig.frame(&[]);
    assert_eq!(rig.allocation(b.id()), (18, 6, 18));
}
