//! Sub-pixel jitter of cameras.

use bevy_ecs::prelude::*;
use bevy_image::Image;
use quadrille_3d::TemporalJitter;
use quadrille_3d::prelude::*;

use crate::analytic_lighting::exposure;
use crate::common::Rig;
use crate::environment::{eye, image};
use crate::fxaa::{SIDE, coverage_error, half_plane};

/// Sets the jitter of the camera.
fn set(rig: &mut Rig, offset: Vec2) {
    let world = rig.app.world_mut();
    let mut cameras = world.query::<&mut TemporalJitter>();
    cameras.single_mut(world).expect("one camera").offset = offset;
}

#[test]
#[ignore = "needs a device"]
fn jitter_moves_sample_positions_and_their_mean_is_the_supersampled_picture() {
    const GRID: usize = 4;
    let slope = 0.21;
    let mut rig = half_plane(slope, TemporalJitter::default());
    let aliased = coverage_error(&rig.exact_rows(), slope);
    let mut mean = vec![vec![[0.0; 4]; SIDE as usize]; SIDE as usize];
    for at in 0..GRID * GRID {
        let offset = [at % GRID, at / GRID].map(|at| (at as f32 + 0.5) / GRID as f32 - 0.5);
        let offset = Vec2::from(offset);
        set(&mut rig, offset);
        let jittered = rig.exact_rows();
        // The camera sees one unit per pixel.
        set(&mut rig, Vec2::ZERO);
        let world = rig.app.world_mut();
        let mut cameras = world.query_filtered::<&mut Transform, With<Camera3d>>();
        let mut camera = cameras.single_mut(world).expect("one camera");
        camera.translation = Vec3::new(offset.x, -offset.y, 5.0);
        assert!(rig.exact_rows() == jittered, "{offset} is another picture");
        let world = rig.app.world_mut();
        let mut camera = cameras.single_mut(world).expect("one camera");
        camera.translation = Vec3::new(0.0, 0.0, 5.0);
        for (sum, texel) in mean.iter_mut().flatten().zip(jittered.iter().flatten()) {
            for (sum, value) in sum.iter_mut().zip(texel) {
                *sum += value / (GRID * GRID) as f32;
            }
        }
    }
    let error = coverage_error(&mean, slope);
    assert!(
        error < 0.15 * aliased,
        "{error} of the mean, {aliased} of one picture"
    );
}

#[test]
#[ignore = "needs a device"]
fn jitter_that_leaves_the_pixel_moves_nothing() {
    let expected = half_plane(0.21, ()).exact_rows();
    for offset in [
        Vec2::new(f32::NAN, 0.0),
        Vec2::new(0.0, f32::INFINITY),
        Vec2::new(0.6, 0.0),
    ] {
        let mut rig = half_plane(0.21, TemporalJitter { offset });
        assert!(rig.exact_rows() == expected, "{offset}");
    }
}

#[test]
#[ignore = "needs a device"]
fn jitter_moves_the_skybox() {
    let mut rig = Rig::scene(
        8,
        8,
        |mut commands: Commands, mut images: ResMut<Assets<Image>>| {
            let sky = image([16, 16, 6], |[x, y, _]| {
                [x as f32 / 16.0, y as f32 / 16.0, 0.5]
            });
            let skybox = Skybox {
                image: Some(images.add(sky)),
                brightness: (1.0 / exposure()) as f32,
                ..Skybox::default()
            };
            let eye = eye(Transform::default());
            commands.spawn((eye, Msaa::Off, skybox, TemporalJitter::default()));
        },
    );
    rig.update(1);
    set(&mut rig, Vec2::splat(-0.5));
    let plain = rig.exact_rows();
    set(&mut rig, Vec2::splat(0.5));
    // The sample positions are those of the next pixels.
    let jittered = rig.exact_rows();
    for y in 0..7 {
        for x in 0..7 {
            for (found, expected) in jittered[y][x].iter().zip(plain[y + 1][x + 1]) {
                assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
            }
        }
    }
    assert!(
        (plain[4][6][0] - plain[4][4][0]).abs() > 0.05,
        "the sky has a gradient"
    );
}
