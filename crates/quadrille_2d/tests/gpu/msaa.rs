//! Pictures with several samples per pixel.

use crate::common::{Picture, Rig, golden, scenes};
use bevy_app::{PostStartup, Startup};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;
use quadrille_2d::prelude::*;

/// A scene with this `Msaa` on all cameras, or without one.
fn with_samples<M>(
    size: [u32; 2],
    setup: impl IntoScheduleConfigs<ScheduleSystem, M>,
    msaa: Option<Msaa>,
) -> Picture {
    let mut rig = Rig::new(size[0], size[1]);
    let ask = move |mut commands: Commands, cameras: Query<Entity, With<Camera2d>>| {
        for (camera, msaa) in cameras.iter().zip(msaa.into_iter().cycle()) {
            commands.entity(camera).insert(msaa);
        }
    };
    rig.app
        .add_systems(Startup, setup)
        .add_systems(PostStartup, ask);
    rig.start();
    rig.picture()
}

/// Number of pixels that differ between two pictures by more than rounding.
fn different(one: &Picture, other: &Picture) -> usize {
    let pairs = one.pixels.iter().zip(&other.pixels);
    pairs
        .filter(|(a, b)| (0..4).any(|channel| a[channel].abs_diff(b[channel]) > 6))
        .count()
}

#[test]
#[ignore = "needs a device"]
fn msaa_smooths_mesh_edges() {
    let default = with_samples([160, 100], scenes::meshes, None);
    let one = with_samples([160, 100], scenes::meshes, Some(Msaa::Off));
    // Compared with one sample, only edges differ.
    let count = different(&one, &default);
    assert!((50..2000).contains(&count), "{count} of 16000 pixels");
    // Both pictures come from this device, since drivers differ in the coverage of samples on edges.
    let four = with_samples([160, 100], scenes::meshes, Some(Msaa::Sample4));
    assert_eq!(different(&four, &default), 0, "the default");
    golden::expect("meshes", &default);
}

#[test]
#[ignore = "needs a device"]
fn msaa_applies_to_all_cameras_of_target() {
    let picture = with_samples([160, 100], scenes::cameras, Some(Msaa::Off));
    let count = different(&picture, &golden::read("cameras"));
    assert!((10..400).contains(&count), "{count} of 16000 pixels");
}

#[test]
#[ignore = "needs a device"]
fn unsupported_sample_count_falls_back() {
    let four = with_samples([160, 100], scenes::meshes, Some(Msaa::Sample4));
    let eight = with_samples([160, 100], scenes::meshes, Some(Msaa::Sample8));
    // Eight samples if the device supports them, else four: edges are smooth with either.
    let count = different(&four, &eight);
    assert!(count < 1000, "{count} of 16000 pixels");
}
