//! Visibility ranges of meshes.

use bevy_camera::visibility::VisibilityRange;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::common::Rig;

const SIDE: u32 = 16;

/// Numbers of red and green pixels at a distance from a red sheet, which crossfades to a green one between 8 and 12.
/// The green one ends at 20.
fn seen_from(rig: &mut Rig, distance: f32) -> (u32, u32) {
    let world = rig.app.world_mut();
    let mut cameras = world.query_filtered::<&mut Transform, With<Camera3d>>();
    let mut camera = cameras.single_mut(world).expect("there is one");
    camera.translation.z = distance;
    let picture = rig.picture();
    let count = |wanted: [u8; 4]| picture.pixels.iter().filter(|&&it| it == wanted).count() as u32;
    (count([255, 0, 0, 255]), count([0, 255, 0, 255]))
}

fn sheets(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mesh = meshes.add(Rectangle::new(100.0, 100.0));
    let mut sheet = |color: Color, start_margin, end_margin| {
        commands.spawn((
            Mesh3d(mesh.clone()),
            MeshMaterial3d(materials.add(StandardMaterial {
                base_color: color,
                unlit: true,
                ..StandardMaterial::default()
            })),
            VisibilityRange {
                start_margin,
                end_margin,
                use_aabb: false,
            },
        ));
    };
    sheet(Color::linear_rgb(1.0, 0.0, 0.0), 0.0..0.0, 8.0..12.0);
    sheet(Color::linear_rgb(0.0, 1.0, 0.0), 8.0..12.0, 20.0..20.0);
    commands.spawn((
        Camera3d::default(),
        Tonemapping::None,
        DebandDither::Disabled,
        Msaa::Off,
        Transform::default(),
    ));
}

#[test]
#[ignore = "needs a device"]
fn visibility_ranges_cross_fade_per_pixel() {
    let mut rig = Rig::scene(SIDE, SIDE, sheets);
    rig.update(1);
    let all = SIDE * SIDE;
    assert_eq!(seen_from(&mut rig, 5.0), (all, 0));
    // A quarter, a half and three quarters of the way from 8 to 12.
    for (distance, quarters) in [(9.0, 1), (10.0, 2), (11.0, 3)] {
        let green = all / 4 * quarters;
        assert_eq!(seen_from(&mut rig, distance), (all - green, green));
    }
    assert_eq!(seen_from(&mut rig, 15.0), (0, all));
    assert_eq!(seen_from(&mut rig, 25.0), (0, 0));
}
