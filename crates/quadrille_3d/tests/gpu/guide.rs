//! The programs of the guide draw what the guide says.

#[expect(unreachable_pub, reason = "programs have it so")]
#[rustfmt::skip]
#[path = "../programs/film_grain.rs"]
mod film_grain;
#[expect(unreachable_pub, reason = "programs have it so")]
#[rustfmt::skip]
#[path = "../programs/outline.rs"]
mod outline;
#[expect(unreachable_pub, reason = "programs have it so")]
#[rustfmt::skip]
#[path = "../programs/two_tones.rs"]
mod two_tones;
#[expect(unreachable_pub, reason = "programs have it so")]
#[rustfmt::skip]
#[path = "../programs/waves.rs"]
mod waves;

use bevy_app::{App, Startup};
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::common::{Picture, Rig, golden};
use crate::{Materials, Meshes};

/// The first scene of the guide, with a pass of the program.
fn picture(add: fn(&mut App)) -> Picture {
    let mut rig = Rig::new(160, 90);
    rig.app.add_systems(Startup, crate::scene);
    add(&mut rig.app);
    rig.start();
    rig.picture()
}

fn disable_msaa(mut cameras: Query<&mut Msaa>) {
    cameras.iter_mut().for_each(|mut msaa| *msaa = Msaa::Off);
}

fn enable_hdr(mut commands: Commands, cameras: Query<Entity, With<Camera3d>>) {
    for camera in &cameras {
        commands.entity(camera).insert(bevy_camera::Hdr);
    }
}

#[test]
#[ignore = "needs a device"]
fn outline_pass_draws_outlines() {
    let drawn = picture(|app| {
        app.add_systems(bevy_app::PostStartup, disable_msaa);
        outline::add(app);
    });
    let plain = picture(|app| {
        app.add_systems(bevy_app::PostStartup, disable_msaa);
    });
    let darker = |x, y| drawn.at(x, y)[2] < plain.at(x, y)[2];
    let count = (0..160 * 90).filter(|i| darker(i % 160, i / 160)).count();
    assert!((100..2000).contains(&count), "{count} pixels are darker");
    golden::expect("outline", &drawn);
}

#[test]
#[ignore = "needs a device"]
fn film_grain_differs_from_frame_to_frame_and_vignette_darkens_corners() {
    let mut rig = Rig::new(160, 90);
    film_grain::add(&mut rig.app);
    // Without `Hdr`, edges and the clear color of a camera change with an effect.
    rig.app
        .add_systems(Startup, crate::scene)
        .add_systems(bevy_app::PostStartup, enable_hdr);
    rig.start();
    let plain = rig.picture();
    let set = |rig: &mut Rig, effect: film_grain::FilmGrain| {
        let world = rig.app.world_mut();
        let mut cameras = world.query_filtered::<Entity, With<Camera3d>>();
        let camera = cameras.single(world).expect("one camera");
        world.entity_mut(camera).insert(effect);
    };
    let none = film_grain::FilmGrain {
        grain: 0.0,
        vignette: 0.0,
    };
    set(&mut rig, none);
    let unchanged = rig.picture();
    let pairs = unchanged
        .pixels
        .as_flattened()
        .iter()
        .zip(plain.pixels.as_flattened());
    // Half floats round the clear color, and dithering moves some pixels to the next step.
    let most = pairs.map(|(a, b)| a.abs_diff(*b)).max();
    assert!(
        most <= Some(1),
        "an effect of no strength changes the picture by {most:?}"
    );
    set(
        &mut rig,
        film_grain::FilmGrain {
            vignette: 1.0,
            ..none
        },
    );
    let dark = rig.picture();
    let sum = |picture: &Picture, left: u32| -> u32 {
        let pixels = (left..left + 10).flat_map(|x| (48..58).map(move |y| [x, y]));
        pixels.map(|[x, y]| u32::from(picture.at(x, y)[0])).sum()
    };
    // The left end of the floor, and its middle.
    let shades = [40, 75].map(|left| sum(&dark, left) * 100 / sum(&plain, left));
    assert!(shades[0] < 97 && shades[1] > 97, "{shades:?} percent");
    set(&mut rig, film_grain::FilmGrain { grain: 0.5, ..none });
    let grainy = rig.picture();
    assert!(rig.picture() != grainy, "grain stands still");
}

#[test]
#[ignore = "needs a device"]
fn custom_tone_mapping_replaces_builtin() {
    let drawn = picture(|app| {
        app.add_systems(bevy_app::PostStartup, enable_hdr);
        two_tones::add(app);
    });
    let paper = drawn.at(1, 1);
    assert_eq!(paper, [243, 237, 218, 255], "nothing is paper");
    golden::expect("two_tones", &drawn);
}

fn boxes(mut commands: Commands, mut meshes: Meshes, mut materials: Materials) {
    let mesh = meshes.add(Cuboid::from_length(0.4));
    let material = materials.add(Color::srgb_u8(124, 144, 255));
    for index in 0..441u16 {
        let [x, z] = [index % 21, index / 21].map(|at| f32::from(at) * 0.5 - 5.0);
        commands.spawn((
            Mesh3d(mesh.clone()),
            MeshMaterial3d(material.clone()),
            Transform::from_xyz(x, 0.0, z),
        ));
    }
    commands.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        Transform::from_xyz(3.0, 4.0, 1.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 5.0, 9.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

#[test]
#[ignore = "needs a device"]
fn compute_pass_moves_instances() {
    let mut rig = Rig::new(160, 90);
    rig.app.add_systems(Startup, boxes);
    waves::add(&mut rig.app);
    rig.start();
    let first = rig.picture();
    golden::expect("waves", &first);
    assert_ne!(rig.picture(), first, "waves run on");
}
