//! Occlusion culling omits hidden instances, and no others.

use bevy_ecs::prelude::*;
use bevy_light::GlobalAmbientLight;
use quadrille::prelude::Readback;
use quadrille_3d::Scene3d;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{DrawArgs3d, LateDrawArgs};

use crate::common::Rig;

const BOXES: usize = 200;

/// A wall in front of many boxes, seen by a camera.
fn rig(msaa: Msaa) -> (Rig, Entity) {
    let mut rig = Rig::scene(
        50,
        38,
        |mut commands: Commands,
         mut meshes: ResMut<Assets<Mesh>>,
         mut materials: ResMut<Assets<StandardMaterial>>| {
            commands.insert_resource(GlobalAmbientLight::NONE);
            let mut unlit = |color: Color| {
                MeshMaterial3d(materials.add(StandardMaterial {
                    base_color: color,
                    unlit: true,
                    ..StandardMaterial::default()
                }))
            };
            let block = Mesh3d(meshes.add(Cuboid::from_length(1.0)));
            let wall = Transform::from_xyz(0.0, 0.0, 0.0).with_scale(Vec3::new(16.0, 8.0, 0.5));
            commands.spawn((Name::new("wall"), block.clone(), unlit(Color::WHITE), wall));
            let colors = [Srgba::RED, Srgba::GREEN, Srgba::BLUE].map(|color| unlit(color.into()));
            for number in 0..BOXES {
                let part = |by: usize| (number * by % 97) as f32 / 97.0 - 0.5;
                let place = Vec3::new(part(31) * 14.0, part(17) * 6.0, -2.0 - 0.03 * number as f32);
                let size = Transform::from_translation(place).with_scale(Vec3::splat(0.4));
                commands.spawn((block.clone(), colors[number % 3].clone(), size));
            }
        },
    );
    let eye = Transform::from_xyz(0.0, 0.0, 6.0);
    let world = rig.app.world_mut();
    let camera = world.spawn((Camera3d::default(), Tonemapping::None, msaa, eye));
    let camera = camera.id();
    rig.update(1);
    (rig, camera)
}

/// Number of instances that the camera draws, early and late phase together.
fn drawn(rig: &mut Rig) -> u32 {
    let world = rig.app.world();
    let first = (**world.resource::<DrawArgs3d>()).clone();
    let behind = (**world.resource::<LateDrawArgs>()).clone();
    // The boxes are one chunk: each row of the views has one draw.
    let counts = [(first, 0), (behind, 1)].map(|(args, row)| {
        let bytes = rig.read_back(Readback::buffer(&args)).bytes;
        let count = &bytes[20 * row + 4..20 * row + 8];
        u32::from_le_bytes(count.try_into().expect("4 bytes"))
    });
    counts.iter().sum()
}

/// Motion of the camera and the boxes, one step per frame.
fn moves(frame: u32, camera: &mut Transform, boxes: &mut [Mut<Transform>]) {
    match frame {
        // Behind the wall in one step, from a position where it occludes nothing.
        2 => *camera = Transform::from_xyz(0.0, 0.0, -14.0).looking_at(Vec3::ZERO, Vec3::Y),
        3 => *camera = Transform::from_xyz(0.0, 0.0, 6.0),
        // Around the edge, step by step.
        4..7 => {
            *camera = Transform::from_xyz(4.0 * (frame - 3) as f32, 1.0, 6.0)
                .looking_at(Vec3::new(0.0, 0.0, -4.0), Vec3::Y);
        }
        // Boxes move in front of the wall, and the wall is removed.
        7 => boxes[3].translation = Vec3::new(1.0, 0.0, 2.0),
        8 => boxes[0].translation.y = 30.0,
        9 => boxes[0].translation.y = 0.0,
        _ => {}
    }
}

/// The pictures of all frames, with further components of the camera.
fn pictures(msaa: Msaa, more: impl Bundle) -> Vec<Vec<[u8; 4]>> {
    let (mut rig, camera) = rig(msaa);
    rig.app.world_mut().entity_mut(camera).insert(more);
    (0..11)
        .map(|frame| {
            let world = rig.app.world_mut();
            let mut eye = *world.get::<Transform>(camera).expect("it is there");
            let mut boxes = world.query_filtered::<&mut Transform, With<Mesh3d>>();
            let mut boxes: Vec<_> = boxes.iter_mut(world).collect();
            moves(frame, &mut eye, &mut boxes);
            world.entity_mut(camera).insert(eye);
            rig.read(Readback::primary_window()).pixels
        })
        .collect()
}

#[test]
#[ignore = "needs a device"]
fn occlusion_culling_keeps_visible_meshes() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let (with, without) = (pictures(msaa, OcclusionCulling), pictures(msaa, ()));
        for (frame, (with, without)) in with.iter().zip(&without).enumerate() {
            assert!(with == without, "frame {frame} with {msaa:?} differs");
        }
        assert!(without[1] != without[2], "the cut shows something else");
    }
}

#[test]
#[ignore = "needs a device"]
fn occlusion_culling_with_prepass_keeps_visible_meshes() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let without = pictures(msaa, ());
        let depth = pictures(msaa, (OcclusionCulling, DepthPrepass));
        let normal = pictures(msaa, (OcclusionCulling, NormalPrepass));
        for (frame, without) in without.iter().enumerate() {
            assert!(depth[frame] == *without, "frame {frame} with {msaa:?}");
            assert!(normal[frame] == *without, "frame {frame} with {msaa:?}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn occluded_meshes_are_not_drawn_with_prepass() {
    let (mut rig, camera) = rig(Msaa::default());
    let world = rig.app.world_mut();
    world
        .entity_mut(camera)
        .insert((OcclusionCulling, DepthPrepass));
    rig.update(3);
    let calls = rig.app.world().resource::<Scene3d>().draws();
    assert_eq!(calls, 4, "two phases, each with its prepass");
    assert_eq!(drawn(&mut rig), 1, "the wall alone");
}

#[test]
#[ignore = "needs a device"]
fn occluded_meshes_are_not_drawn() {
    let (mut rig, camera) = rig(Msaa::default());
    rig.update(2);
    let world = rig.app.world_mut();
    world.entity_mut(camera).insert(OcclusionCulling);
    rig.update(3);
    let calls = rig.app.world().resource::<Scene3d>().draws();
    assert_eq!(calls, 2, "one for what was seen and one for the rest");
    let found = drawn(&mut rig);
    assert_eq!(
        found, 1,
        "of the {BOXES} boxes behind the wall none is drawn"
    );
    let behind = Transform::from_xyz(0.0, 0.0, -14.0).looking_at(Vec3::ZERO, Vec3::Y);
    rig.app.world_mut().entity_mut(camera).insert(behind);
    rig.update(1);
    let found = drawn(&mut rig);
    assert!(found > 60, "{found} are seen from behind");
}
