//! GPU culling: visible instances of views.

use bevy_camera::primitives::{Aabb, Frustum};
use bevy_ecs::prelude::*;
use quadrille::prelude::Readback;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::DrawArgs3d;

use crate::common::Rig;

const BEHIND: [u8; 4] = [0, 0, 0, 255];

fn unlit(color: Color) -> StandardMaterial {
    StandardMaterial {
        base_color: color,
        unlit: true,
        ..StandardMaterial::default()
    }
}

/// A camera that looks along -z from the origin at nothing yet.
fn empty() -> (Rig, Entity) {
    let mut rig = Rig::new(16, 16);
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::BLACK));
    let camera = world.spawn((Camera3d::default(), Tonemapping::None)).id();
    (rig, camera)
}

fn spawn_box(rig: &mut Rig, color: Color) -> (Mesh3d, MeshMaterial3d<StandardMaterial>) {
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Cuboid::from_length(2.0));
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    (Mesh3d(mesh), MeshMaterial3d(materials.add(unlit(color))))
}

#[test]
#[ignore = "needs a device"]
fn changes_are_visible_in_next_frame() {
    for color in [Color::srgb_u8(255, 0, 0), Color::srgba_u8(255, 0, 0, 254)] {
        let (mut rig, camera) = empty();
        let (mesh, material) = spawn_box(&mut rig, color);
        if color.alpha() < 1.0 {
            let mut materials = rig
                .app
                .world_mut()
                .resource_mut::<Assets<StandardMaterial>>();
            let mut material = materials.get_mut(&material.0).expect("it was added");
            material.alpha_mode = AlphaMode::Blend;
        }
        let there = Transform::from_xyz(0.0, 0.0, -5.0);
        let world = rig.app.world_mut();
        let thing = world.spawn((mesh.clone(), material.clone(), there)).id();
        let mut expect = |what, is_seen, change: &dyn Fn(&mut World)| {
            change(rig.app.world_mut());
            let seen = rig.picture().at(8, 8);
            assert_eq!(seen != BEHIND, is_seen, "{color:?} {what}: {seen:?}");
        };
        let set = |bundle: Box<dyn Fn(&mut EntityWorldMut)>| {
            move |world: &mut World| bundle(&mut world.entity_mut(thing))
        };
        expect("new", true, &|_| {});
        expect(
            "hidden",
            false,
            &set(Box::new(|thing| {
                thing.insert(Visibility::Hidden);
            })),
        );
        expect(
            "shown",
            true,
            &set(Box::new(|thing| {
                thing.insert(Visibility::Visible);
            })),
        );
        expect(
            "beside",
            false,
            &set(Box::new(|thing| {
                thing.insert(Transform::from_xyz(50.0, 0.0, -5.0));
            })),
        );
        expect(
            "nowhere",
            false,
            &set(Box::new(|thing| {
                thing.insert(Transform::from_xyz(f32::NAN, 0.0, -5.0));
            })),
        );
        expect(
            "back",
            true,
            &set(Box::new(move |thing| {
                thing.insert(there);
            })),
        );
        expect(
            "on another layer",
            false,
            &set(Box::new(|thing| {
                thing.insert(RenderLayers::layer(40));
            })),
        );
        expect("on a layer of the camera", true, &|world| {
            world
                .entity_mut(camera)
                .insert(RenderLayers::from_layers(&[3, 40]));
        });
        expect(
            "on no layer of the camera",
            false,
            &set(Box::new(|thing| {
                thing.remove::<RenderLayers>();
            })),
        );
        expect("on the first layer", true, &|world| {
            world.entity_mut(camera).remove::<RenderLayers>();
        });
        expect("behind", false, &|world| {
            let turned = Transform::IDENTITY.looking_to(Vec3::Z, Vec3::Y);
            world.entity_mut(camera).insert(turned);
        });
        expect("in view again", true, &|world| {
            world.entity_mut(camera).insert(Transform::IDENTITY);
        });
        expect(
            "without mesh",
            false,
            &set(Box::new(|thing| {
                thing.remove::<Mesh3d>();
            })),
        );
        expect(
            "with its mesh",
            true,
            &set(Box::new(move |thing| {
                thing.insert(mesh.clone());
            })),
        );
        expect(
            "without material",
            false,
            &set(Box::new(|thing| {
                thing.remove::<MeshMaterial3d<StandardMaterial>>();
            })),
        );
        expect(
            "with its material",
            true,
            &set(Box::new(move |thing| {
                thing.insert(material.clone());
            })),
        );
        expect("gone", false, &|world| {
            world.despawn(thing);
        });
    }
}

#[test]
#[ignore = "needs a device"]
fn gpu_culling_matches_bevy() {
    let (mut rig, camera) = empty();
    let (mesh, material) = spawn_box(&mut rig, Color::WHITE);
    for number in 0..700_u16 {
        let part = |by: u16| f32::from(number.wrapping_mul(by) % 499) / 499.0 - 0.5;
        let place = Vec3::new(part(7), part(31), part(113)) * 60.0;
        let turned = Quat::from_rotation_x(part(211) * 6.0);
        let place = Transform::from_translation(place).with_rotation(turned);
        rig.app
            .world_mut()
            .spawn((mesh.clone(), material.clone(), place));
    }
    for to in [Vec3::NEG_Z, Vec3::X, Vec3::new(1.0, 2.0, -3.0)] {
        let world = rig.app.world_mut();
        let looks = Transform::from_xyz(1.0, 2.0, 3.0).looking_to(to, Vec3::Y);
        world.entity_mut(camera).insert(looks);
        rig.update(1);
        let world = rig.app.world_mut();
        let frustum = *world.get::<Frustum>(camera).expect("cameras have one");
        let mut boxes = world.query::<(&Aabb, &GlobalTransform)>();
        let seen = boxes.iter(world).filter(|(bounds, transform)| {
            frustum.intersects_obb(bounds, &transform.affine(), true, false)
        });
        let seen = seen.count() as u32;
        assert!(20 < seen && seen < 400, "{seen} are a test of little");
        let args = (**world.resource::<DrawArgs3d>()).clone();
        let found = rig.read_back(Readback::buffer(&args)).bytes;
        // 700 boxes are three draws of `VkDrawIndexedIndirectCommand`.
        let draws = found.chunks_exact(20).take(3);
        let counts = draws.map(|draw| u32::from_le_bytes([draw[4], draw[5], draw[6], draw[7]]));
        assert_eq!(counts.sum::<u32>(), seen, "towards {to}");
    }
}
