//! Each number of each component by itself: other entities are drawn beside it, and in the same view.

use super::numbers::{INVALID_INTEGERS, Numbered};
use super::subjects::{CAMERAS, EFFECTS, ENTITIES, Subject, small_atmosphere};
use super::*;

/// Values of one number, each in a view of its own.
const VALUES: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -1.0, 1e30];
/// Size of a view.
const VIEW: [u32; 2] = [16, 32];
/// First layer of the views.
const LAYER: usize = 2;

/// Subjects that all views have: decals have no render layers.
const WITHOUT_LAYERS: [&str; 1] = ["clustered decal"];

/// Entities of a view, other than the valid ones.
struct View {
    camera: Entity,
    subject: Entity,
}

fn layer(view: usize) -> RenderLayers {
    RenderLayers::layer(LAYER + view)
}

fn spawn_camera(world: &mut World, view: usize, is_lit_by_sky: bool) -> Entity {
    let mut camera = world.spawn((
        Camera3d::default(),
        Camera {
            order: view as isize,
            viewport: Some(Viewport {
                physical_position: UVec2::new(VIEW[0] * view as u32, 0),
                physical_size: UVec2::from(VIEW),
                ..Viewport::default()
            }),
            ..Camera::default()
        },
        Msaa::Off,
        AmbientLight::default(),
        Transform::from_xyz(0.0, 0.0, 3.0),
        layer(view),
    ));
    if is_lit_by_sky {
        camera.insert((small_atmosphere(), VolumetricFog::default()));
    }
    camera.id()
}

/// Spawns a view for each value, with a subject.
fn spawn_views(world: &mut World, subject: &Subject) -> Vec<View> {
    let is_lit_by_sky = ["planet", "fog volume"].contains(&subject.name);
    let views = (0..VALUES.len()).map(|view| {
        let camera = spawn_camera(world, view, is_lit_by_sky);
        let entity = match subject.is_camera {
            true => camera,
            false => {
                let place = Transform::from_xyz(0.4, 0.8, 0.0);
                world
                    .spawn((place, Visibility::default(), layer(view)))
                    .id()
            }
        };
        (subject.insert)(world, entity);
        View {
            camera,
            subject: entity,
        }
    });
    views.collect()
}

/// Meshes of all views, opaque and blended, and their light.
fn spawn_valid_meshes(world: &mut World) {
    let pool = world.resource::<AssetPool>();
    let (mesh, materials) = (pool.mesh.clone(), pool.materials.clone());
    let mut assets = world.resource_mut::<Assets<StandardMaterial>>();
    let materials: Vec<_> = materials.into_iter().map(|it| assets.add(it)).collect();
    for view in 0..VALUES.len() {
        for (at, material) in materials.iter().take(2).enumerate() {
            world.spawn((
                Mesh3d(mesh.clone()),
                MeshMaterial3d(material.clone()),
                Transform::from_xyz(0.0, -(at as f32), 0.0),
                layer(view),
            ));
        }
        let light = Transform::from_xyz(1.0, 2.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y);
        world.spawn((DirectionalLight::default(), light, layer(view)));
    }
}

/// The part that the camera of valid entities draws.
fn valid_part(picture: &Picture) -> Vec<[u8; 4]> {
    let first = VIEW[0] * VALUES.len() as u32;
    let pixels = (0..VIEW[1]).flat_map(|y| (first..first + SIZE[0] / 2).map(move |x| (x, y)));
    pixels.map(|(x, y)| picture.at(x, y)).collect()
}

/// Whether the mesh in the center of a view is visible.
fn is_mesh_visible(picture: &Picture, view: usize) -> bool {
    let pixel = picture.at(VIEW[0] * view as u32 + VIEW[0] / 2, VIEW[1] / 2);
    pixel[..3].iter().any(|channel| *channel > 0)
}

/// Whether cameras without effects have a component with numbers.
fn is_of_cameras(world: &mut World, numbered: &Numbered) -> bool {
    let camera = spawn_camera(world, 0, false);
    let count = numbered.count(world, camera);
    world.despawn(camera);
    count > 0
}

/// Draws each number of a subject with each value. Returns descriptions of the views without the mesh.
fn test_subject(rig: &mut Rig, subject: &Subject, wanted: &[[u8; 4]]) -> Vec<String> {
    let mut failures = Vec::new();
    let is_effect = EFFECTS.iter().any(|effect| effect.name == subject.name);
    for numbered in NUMBERED {
        // Components of all cameras are tested once.
        if is_effect && is_of_cameras(rig.app.world_mut(), numbered) {
            continue;
        }
        let mut index = 0;
        loop {
            let world = rig.app.world_mut();
            let views = spawn_views(world, subject);
            let count = numbered.count(world, views[0].subject);
            let values = VALUES.into_iter().zip(INVALID_INTEGERS);
            let set = views.iter().zip(values);
            let set: Vec<_> = set
                .map(|(view, values)| numbered.set(world, view.subject, index, values))
                .collect();
            if index < count {
                let picture = rig.picture();
                let label = format!("{}: {}[{index}]", subject.name, (numbered.name)());
                let valid = valid_part(&picture);
                let is_drawn = match WITHOUT_LAYERS.contains(&subject.name) {
                    true => valid.iter().any(|pixel| *pixel != valid[0]),
                    false => valid == wanted,
                };
                if !is_drawn {
                    failures.push(format!("{label}: valid entities of another view"));
                }
                // A decal with a valid number covers the meshes of all views.
                let is_judged = !WITHOUT_LAYERS.contains(&subject.name);
                for (view, value) in set.iter().enumerate().filter(|_| is_judged) {
                    // A valid number may hide the mesh.
                    let is_invalid = value.is_some_and(|value| !value.is_finite());
                    if is_invalid && !is_mesh_visible(&picture, view) {
                        failures.push(format!("{label} = {value:?}"));
                    }
                }
            }
            for view in views {
                rig.app.world_mut().despawn(view.camera);
                let _ = rig.app.world_mut().try_despawn(view.subject);
            }
            index += 1;
            if index >= count {
                break;
            }
        }
    }
    failures
}

#[test]
#[ignore = "needs a device"]
fn each_invalid_number_leaves_other_entities_drawn() {
    let filter = std::env::var("QUADRILLE_ODD_SUBJECT").unwrap_or_default();
    let width = VIEW[0] * VALUES.len() as u32 + SIZE[0] / 2;
    let mut rig = rig_with_plugins([width, VIEW[1]]);
    setup(rig.app.world_mut());
    let world = rig.app.world_mut();
    let mut cameras = world.query::<&mut Camera>();
    for mut camera in cameras.iter_mut(world) {
        if let Some(viewport) = &mut camera.viewport {
            viewport.physical_position.x = width - SIZE[0] / 2;
        }
    }
    spawn_valid_meshes(world);
    rig.start();
    let wanted = valid_part(&rig.picture());
    assert!(wanted.iter().any(|pixel| *pixel != wanted[0]));
    let mut failures = Vec::new();
    let subjects = [ENTITIES, CAMERAS, EFFECTS].into_iter().flatten();
    for subject in subjects.filter(|subject| subject.name.contains(&filter)) {
        let begin = std::time::Instant::now();
        failures.extend(test_subject(&mut rig, subject, &wanted));
        println!("{}: {:.1?}", subject.name, begin.elapsed());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
