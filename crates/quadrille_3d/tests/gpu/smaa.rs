//! Morphological antialiasing: coverage of edges, and what stays as it is.

use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{Smaa, SmaaPreset};

use crate::camera_effects::{extents, pixel_camera, set_viewport};
use crate::common::Rig;
use crate::fxaa::{SIDE, coverage_error, half_plane};
use crate::prepass::spawn;

const PRESETS: [SmaaPreset; 4] = [
    SmaaPreset::Low,
    SmaaPreset::Medium,
    SmaaPreset::High,
    SmaaPreset::Ultra,
];

#[test]
#[ignore = "needs a device"]
fn edges_are_blended_by_their_coverage() {
    for slope in [0.21, -0.13, 0.4] {
        let aliased = coverage_error(&half_plane(slope, ()).exact_rows(), slope);
        for preset in PRESETS {
            let mut rig = half_plane(slope, Smaa { preset });
            let smoothed = coverage_error(&rig.exact_rows(), slope);
            assert!(
                smoothed < 0.3 * aliased && smoothed < 0.04,
                "{slope}, {preset:?}: {smoothed} with SMAA, {aliased} without"
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn diagonals_are_found_from_high_on() {
    let mut errors = Vec::new();
    for slope in [0.9, -0.9] {
        let aliased = coverage_error(&half_plane(slope, ()).exact_rows(), slope);
        let smoothed = |preset| {
            let mut rig = half_plane(slope, Smaa { preset });
            coverage_error(&rig.exact_rows(), slope)
        };
        let (medium, high) = (smoothed(SmaaPreset::Medium), smoothed(SmaaPreset::High));
        assert!(
            high < 0.6 * medium && high < 0.5 * aliased,
            "{slope}: {high}, {medium} without diagonals, {aliased} without SMAA"
        );
        errors.push(high);
    }
    // Both directions are mirror images.
    assert!((errors[0] - errors[1]).abs() < 0.02, "{errors:?}");
}

#[test]
#[ignore = "needs a device"]
fn straight_edges_and_uniform_parts_stay_byte_for_byte() {
    let plain = half_plane(0.0, ()).exact_rows();
    for preset in PRESETS {
        assert!(
            half_plane(0.0, Smaa { preset }).exact_rows() == plain,
            "{preset:?}"
        );
    }
    // Only pixels beside the edge change.
    let plain = half_plane(0.21, ()).exact_rows();
    let smoothed = half_plane(0.21, Smaa::default()).exact_rows();
    let mut changed = 0;
    for (y, (row, before)) in smoothed.iter().zip(&plain).enumerate() {
        for (x, (texel, texel_before)) in row.iter().zip(before).enumerate() {
            if texel == texel_before {
                continue;
            }
            changed += 1;
            let around = |dx: i32, dy: i32| {
                let (x, y) = (x as i32 + dx, y as i32 + dy);
                let row = plain.get(usize::try_from(y).ok()?)?;
                row.get(usize::try_from(x).ok()?)
            };
            let ring = [(0, 1), (0, -1), (1, 0), (-1, 0)];
            let is_beside = ring
                .into_iter()
                .any(|(dx, dy)| around(dx, dy).is_some_and(|other| other != texel_before));
            assert!(is_beside, "{x}, {y} changed");
        }
    }
    assert!(changed > 20, "only {changed} pixels changed");
}

/// A square of 12 pixels in the middle.
fn square(effects: impl Bundle) -> Vec<Vec<[f32; 4]>> {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(0.5, 0.5, 0.5))
    };
    spawn(
        world,
        Rectangle::new(12.0, 12.0),
        material,
        Transform::IDENTITY,
    );
    world.spawn((pixel_camera(SIDE), effects));
    rig.exact_rows()
}

#[test]
#[ignore = "needs a device"]
fn corners_are_kept_sharper_with_corner_detection() {
    let plain = square(());
    let changed = |preset| {
        let rows = square(Smaa { preset });
        let pairs = rows.iter().flatten().zip(plain.iter().flatten());
        pairs.map(|(a, b)| (a[0] - b[0]).abs()).sum::<f32>()
    };
    let (medium, high) = (changed(SmaaPreset::Medium), changed(SmaaPreset::High));
    assert!(medium > 0.1, "{medium}");
    assert!(high < 0.5 * medium, "{high}, {medium} without corners");
}

#[test]
#[ignore = "needs a device"]
fn views_have_images_of_their_own_size_and_lose_them_with_the_component() {
    let mut rig = half_plane(0.21, Smaa::default());
    let mut cameras = rig
        .app
        .world_mut()
        .query_filtered::<Entity, With<Camera3d>>();
    let eye = cameras.single(rig.app.world()).expect("one camera");
    set_viewport(&mut rig, eye, [3, 2, 20, 9]);
    rig.update(2);
    assert_eq!(extents::<Smaa>(&rig), [[20, 9, 1]; 2]);
    rig.app.world_mut().entity_mut(eye).remove::<Smaa>();
    rig.update(2);
    assert!(extents::<Smaa>(&rig).is_empty());
}
