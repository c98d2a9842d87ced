//! bevy's mesh tags, as passes of a program read them.

use bevy_ecs::prelude::*;
use bevy_mesh::MeshTag;
use quadrille::prelude::{GpuBuffer, Readback};
use quadrille_3d::prelude::*;
use quadrille_3d::resources::MeshTags3d;

use crate::common::Rig;

#[derive(Resource)]
struct Tagged([Entity; 3]);

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mesh = Mesh3d(meshes.add(Cuboid::default()));
    let material = MeshMaterial3d(materials.add(Color::WHITE));
    let mut spawn = |tag: Option<u32>| {
        let mut entity = commands.spawn((mesh.clone(), material.clone()));
        if let Some(tag) = tag {
            entity.insert(MeshTag::new(tag));
        }
        entity.id()
    };
    let tagged = Tagged([spawn(Some(7)), spawn(None), spawn(Some(9))]);
    commands.insert_resource(tagged);
    commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.0, 5.0)));
}

fn tags(rig: &mut Rig) -> [u32; 3] {
    rig.update(1);
    let buffer = GpuBuffer::clone(rig.app.world().resource::<MeshTags3d>());
    let data = rig.read_back(Readback::buffer(&buffer)).bytes;
    [0, 4, 8].map(|at| u32::from_le_bytes(data[at..at + 4].try_into().expect("4 bytes")))
}

#[test]
#[ignore = "needs a device"]
fn mesh_tags_follow_instance_order() {
    let mut rig = Rig::scene(8, 8, setup);
    assert_eq!(tags(&mut rig), [7, 0, 9]);
    let Tagged([first, _, last]) = *rig.app.world().resource::<Tagged>();
    let world = rig.app.world_mut();
    world.entity_mut(first).remove::<MeshTag>();
    let mesh = world.get::<Mesh3d>(last).cloned();
    let material = world.get::<MeshMaterial3d<StandardMaterial>>(last).cloned();
    world.despawn(last);
    assert_eq!(tags(&mut rig)[0], 0);
    // Replaced by another instance, without a tag.
    let both = mesh.zip(material).expect("it had both");
    rig.app.world_mut().spawn((both.0, both.1));
    assert_eq!(tags(&mut rig), [0; 3]);
}
