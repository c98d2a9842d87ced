//! Meshes that are added, changed and removed while others are drawn.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_mesh::PrimitiveTopology;
use quadrille_3d::prelude::*;

use crate::analytic_lighting::assert_near;
use crate::common::Rig;
use crate::environment::plane;

const RED: [u8; 4] = [255, 0, 0, 255];

/// A red sheet whose data is only on the device.
fn sheet(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.insert_resource(ClearColor(Color::BLACK));
    let eye = Transform::from_xyz(0.0, 0.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((Camera3d::default(), Tonemapping::None, eye));
    let mut mesh = Mesh::from(Rectangle::new(2.0, 2.0));
    mesh.asset_usage = RenderAssetUsages::RENDER_WORLD;
    let red = StandardMaterial {
        base_color: Color::srgb(1.0, 0.0, 0.0),
        unlit: true,
        ..StandardMaterial::default()
    };
    commands.spawn((Mesh3d(meshes.add(mesh)), MeshMaterial3d(materials.add(red))));
}

/// Spawns a mesh with this number of vertices behind the camera.
fn crowd(rig: &mut Rig, vertices: usize) -> Entity {
    let mesh = Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::RENDER_WORLD,
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0, 0.0, 50.0]; vertices]);
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(StandardMaterial::default());
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material))).id()
}

#[test]
#[ignore = "needs a device"]
fn mesh_without_cpu_data_survives_reallocation() {
    let mut rig = Rig::scene(32, 32, sheet);
    rig.update(2);
    let mut mesh = rig
        .app
        .world_mut()
        .query_filtered::<&Mesh3d, Without<Camera3d>>();
    let id = mesh.single(rig.app.world()).expect("there is one").id();
    let meshes = rig.app.world().resource::<Assets<Mesh>>();
    let data = meshes.get(id).expect("it is there").try_indices();
    assert!(data.is_err(), "its data is still there");
    // Buffers grow, shrink, and are replaced at the same size.
    for vertices in [3000, 60_000, 300, 90_000] {
        let first = crowd(&mut rig, vertices);
        let second = crowd(&mut rig, vertices / 3);
        assert_eq!(rig.picture().at(16, 16), RED, "beside {vertices}");
        rig.app.world_mut().despawn(first);
        assert_eq!(rig.picture().at(16, 16), RED, "after {vertices}");
        rig.app.world_mut().despawn(second);
        assert_eq!(rig.picture().at(16, 16), RED, "alone");
    }
    assert_eq!(rig.picture().at(1, 1), [0, 0, 0, 255]);
}

/// The red of a double-sided plane of a scale, lit from the side of the camera.
fn double_sided_plane(scale: Vec3) -> f32 {
    let material = StandardMaterial {
        double_sided: true,
        cull_mode: None,
        ..StandardMaterial::default()
    };
    let mut rig = plane(material, |world| {
        world.spawn(DirectionalLight::default());
        let meshes = &mut world.query_filtered::<&mut Transform, With<Mesh3d>>();
        for mut transform in meshes.iter_mut(world) {
            transform.scale = scale;
        }
    });
    rig.exactly(4, 4)[0]
}

#[test]
#[ignore = "needs a device"]
fn mirrored_double_sided_mesh_is_lit_on_the_side_of_the_light() {
    let plain = double_sided_plane(Vec3::ONE);
    assert!(plain > 0.01, "it is lit: {plain}");
    for scale in [[-1.0, 1.0, 1.0], [-1.0; 3], [1.0, 1.0, -1.0]] {
        let mirrored = double_sided_plane(scale.into());
        assert_near(mirrored, plain.into(), 1e-3, &format!("scale {scale:?}"));
    }
}
