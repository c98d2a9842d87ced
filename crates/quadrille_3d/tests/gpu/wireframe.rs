//! Wireframes, drawn over their meshes.

use bevy_app::Startup;
use bevy_ecs::prelude::*;
use quadrille_3d::Quadrille3dPlugin;
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::*;

use crate::common::{Picture, Rig};

const RED: Color = Color::srgb(1.0, 0.0, 0.0);
const IS_RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: Color = Color::srgb(0.0, 1.0, 0.0);
const IS_GREEN: [u8; 4] = [0, 255, 0, 255];

#[derive(Component)]
struct Square;

/// A camera with one pixel per unit, and a square of 40 in the center of 64 by 64 pixels, whose edges are on pixel
/// centers. Behind it is a square of 20, whose wireframe is drawn through everything.
fn rig(config: WireframeConfig) -> Rig {
    let mut rig = Rig::with(
        64,
        64,
        (Quadrille3dPlugin::default(), WireframePlugin::default()),
    );
    rig.app.insert_resource(config).add_systems(Startup, setup);
    rig.start();
    rig
}

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.insert_resource(ClearColor(Color::BLACK));
    let material = materials.add(StandardMaterial {
        base_color: Color::srgb_u8(128, 128, 128),
        unlit: true,
        ..StandardMaterial::default()
    });
    commands.spawn((
        Square,
        Mesh3d(meshes.add(Rectangle::new(40.0, 40.0))),
        MeshMaterial3d(material.clone()),
        Transform::from_xyz(0.5, 0.5, 0.0),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Rectangle::new(20.0, 20.0))),
        MeshMaterial3d(material),
        Transform::from_xyz(0.5, 0.5, -5.0),
        Wireframe,
        WireframeColor { color: GREEN },
        WireframeXray(true),
    ));
    commands.spawn((
        Camera3d::default(),
        Msaa::Off,
        Projection::from(OrthographicProjection::default_3d()),
        Transform::from_xyz(0.0, 0.0, 10.0),
    ));
}

fn mark(rig: &mut Rig, marks: impl Bundle) {
    let world = rig.app.world_mut();
    let square = world.query_filtered::<Entity, With<Square>>().single(world);
    let square = square.expect("there is one");
    world.entity_mut(square).insert(marks);
}

fn count(picture: &Picture, color: [u8; 4]) -> usize {
    let at = |at: u32| picture.at(at % 64, at / 64);
    (0..64 * 64).filter(|&it| at(it) == color).count()
}

#[test]
#[ignore = "needs a device"]
fn wireframes_have_color_width_and_topology() {
    let mut rig = rig(WireframeConfig::default());
    let picture = rig.picture();
    assert_eq!(count(&picture, IS_RED), 0, "nobody wants edges of it");
    // Through the square in front of it: all four sides, and the diagonal.
    let seen = count(&picture, IS_GREEN);
    assert!((95..=105).contains(&seen), "{seen} pixels");
    let color = WireframeColor { color: RED };
    mark(&mut rig, (Wireframe, color, WireframeTopology::Quads));
    let picture = rig.picture();
    let seen = count(&picture, IS_RED);
    assert!((156..=164).contains(&seen), "{seen} pixels of four sides");
    // The left side: 12 black pixels, then one pixel of the edge.
    let row = |picture: &Picture| [10, 11, 12, 13].map(|x| picture.at(x, 20) == IS_RED);
    assert_eq!(row(&picture), [false, false, true, false]);
    mark(&mut rig, WireframeTopology::Triangles);
    let seen = count(&rig.picture(), IS_RED);
    // Green covers half of the diagonal.
    assert!((174..=182).contains(&seen), "{seen} pixels with a diagonal");
    mark(
        &mut rig,
        (WireframeTopology::Quads, WireframeLineWidth { width: 3.0 }),
    );
    assert_eq!(row(&rig.picture()), [false, true, true, true]);
}

#[test]
#[ignore = "needs a device"]
fn global_wireframe_config_applies_to_all_meshes() {
    let mut rig = rig(WireframeConfig {
        global: true,
        default_color: RED,
        default_topology: WireframeTopology::Quads,
        ..WireframeConfig::default()
    });
    let seen = count(&rig.picture(), IS_RED);
    assert!((156..=164).contains(&seen), "{seen} pixels");
    mark(&mut rig, NoWireframe);
    let picture = rig.picture();
    assert_eq!(count(&picture, IS_RED), 0);
    assert!(count(&picture, IS_GREEN) > 70, "the other one has its own");
    mark(&mut rig, Visibility::Hidden);
    let mut config = rig.app.world_mut().resource_mut::<WireframeConfig>();
    config.global = false;
    assert_eq!(count(&rig.picture(), IS_RED), 0);
}

#[test]
#[ignore = "needs a device"]
fn wireframes_end_when_their_config_is_removed() {
    let mut rig = rig(WireframeConfig {
        global: true,
        default_color: RED,
        ..WireframeConfig::default()
    });
    let picture = rig.picture();
    assert!(count(&picture, IS_RED) > 0);
    assert!(count(&picture, IS_GREEN) > 0);
    rig.app.world_mut().remove_resource::<WireframeConfig>();
    let picture = rig.picture();
    assert_eq!(count(&picture, IS_RED), 0);
    assert_eq!(count(&picture, IS_GREEN), 0);
}
