//! Antialiasing and sharpening of finished pictures.

use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{ContrastAdaptiveSharpening, Fxaa};

use crate::camera_effects::{extents, pixel_camera};
use crate::common::Rig;

pub(crate) const SIDE: u32 = 32;

/// Row of the edge in the middle of the view.
const EDGE: u32 = 21;

/// A grey half plane over black, whose edge rises by `slope` pixels per pixel through [`EDGE`] in the middle of the view.
pub(crate) fn half_plane(slope: f32, effects: impl Bundle) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(200.0, 100.0));
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(0.5, 0.5, 0.5))
    };
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    let turn = Quat::from_rotation_z(slope.atan());
    let below = SIDE as f32 / 2.0 - EDGE as f32;
    let middle = Vec3::new(0.0, below, 0.0) + turn * Vec3::new(0.0, -50.0, 0.0);
    world.spawn((
        Mesh3d(mesh),
        MeshMaterial3d(material),
        Transform::from_translation(middle).with_rotation(turn),
    ));
    world.spawn((pixel_camera(SIDE), effects));
    rig
}

/// Mean difference of coverage from the area below the edge, in pixels within one pixel of it.
pub(crate) fn coverage_error(rows: &[Vec<[f32; 4]>], slope: f32) -> f32 {
    let middle = SIDE as f32 / 2.0;
    let (mut sum, mut count) = (0.0, 0.0);
    for (y, row) in rows.iter().enumerate() {
        // Edges of the picture lack a side of the search.
        for (x, texel) in row.iter().enumerate().skip(4).take(SIDE as usize - 8) {
            let edge = EDGE as f32 - (x as f32 + 0.5 - middle) * slope;
            let covered = (y as f32 + 1.0 - edge).clamp(0.0, 1.0);
            if (y as f32 + 0.5 - edge).abs() <= 1.0 {
                sum += (texel[0] / 0.5 - covered).abs();
                count += 1.0;
            }
        }
    }
    sum / count
}

#[test]
#[ignore = "needs a device"]
fn fxaa_brings_edges_nearer_to_their_coverage() {
    for slope in [0.21, -0.13, 0.4] {
        let aliased = coverage_error(&half_plane(slope, ()).exact_rows(), slope);
        let mut rig = half_plane(slope, Fxaa::default());
        let smoothed = coverage_error(&rig.exact_rows(), slope);
        assert!(
            smoothed < 0.65 * aliased,
            "{slope}: {smoothed} with FXAA, {aliased} without"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn straight_edges_and_uniform_parts_stay_as_they_are() {
    let plain = half_plane(0.0, ()).exact_rows();
    assert!(
        plain[EDGE as usize - 1][8][0] == 0.0 && plain[EDGE as usize][8][0] > 0.4,
        "an edge in the middle"
    );
    let smoothed = half_plane(0.0, Fxaa::default()).exact_rows();
    for (y, (row, before)) in smoothed.iter().zip(&plain).enumerate() {
        for (texel, before) in row.iter().zip(before) {
            // The blur of details changes an edge of full contrast by less than a tenth.
            let most = if (EDGE as usize - 1..=EDGE as usize).contains(&y) {
                0.1
            } else {
                0.0
            };
            let off = (texel[0] - before[0]).abs();
            assert!(
                off <= most && texel[3] == before[3],
                "{texel:?}, not {before:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn disabled_antialiasing_and_sharpening_cost_nothing() {
    let before = half_plane(0.21, ()).exact_rows();
    let fxaa = Fxaa {
        enabled: false,
        ..Fxaa::default()
    };
    for sharpening in [
        ContrastAdaptiveSharpening {
            enabled: false,
            ..ContrastAdaptiveSharpening::default()
        },
        ContrastAdaptiveSharpening {
            sharpening_strength: 0.0,
            ..ContrastAdaptiveSharpening::default()
        },
    ] {
        let mut rig = half_plane(0.21, (fxaa.clone(), sharpening));
        assert!(rig.exact_rows() == before, "the picture changed");
        assert!(extents::<Fxaa>(&rig).is_empty());
        let colors = rig
            .app
            .world()
            .resource::<quadrille_3d::resources::SceneColors>();
        assert_eq!(colors.len(), 1, "a second color image");
    }
}

#[test]
#[ignore = "needs a device"]
fn sharpening_follows_its_formula_after_fxaa() {
    let smoothed = half_plane(0.21, Fxaa::default()).exact_rows();
    let sharpening = ContrastAdaptiveSharpening::default();
    let strength = sharpening.sharpening_strength;
    let sharpened = half_plane(0.21, (Fxaa::default(), sharpening)).exact_rows();
    let mut changed = 0;
    for y in 1..SIDE as usize - 1 {
        for x in 1..SIDE as usize - 1 {
            let ring = [(x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)];
            let ring = ring.map(|(x, y)| smoothed[y][x][0]);
            let least = ring.into_iter().fold(f32::MAX, f32::min);
            let most = ring.into_iter().fold(0.0, f32::max);
            let to_black = least / (4.0 * most).max(1e-6);
            let to_white = (10.0 - most) / (4.0 * (10.0 - least));
            let weight = to_black.min(to_white).clamp(0.0, 0.1875) * strength;
            let sum: f32 = ring.iter().sum();
            let middle = smoothed[y][x][0];
            let expected = ((middle - weight * sum) / (1.0 - 4.0 * weight)).max(0.0);
            let found = sharpened[y][x][0];
            assert!(
                (found - expected).abs() < 1e-4,
                "{found}, not {expected}, at {x}, {y}"
            );
            changed += u32::from((found - middle).abs() > 0.01);
        }
    }
    assert!(changed > 10, "only {changed} pixels changed");
}
