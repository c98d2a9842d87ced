//! Bloom: conservation of energy, symmetry, threshold, and cameras that have none.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{Bloom, BloomCompositeMode, BloomPrefilter, UnweightedBloom, Vignette};

use crate::camera_effects::{camera, extents, pixel_camera, set_viewport};
use crate::common::{Rig, log};

/// Side of the square view. The first level has half of it, so that each texel covers 2 x 2 pixels.
const SIDE: u32 = 64;

const BLOOM: Bloom = Bloom {
    max_mip_dimension: SIDE / 2,
    ..Bloom::NATURAL
};

/// A black view with a bright square of 2 x 2 pixels, some pixels off its middle.
fn square(brightness: f32, offset: Vec2, bloom: impl Bundle) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(2.0, 2.0));
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(brightness, brightness, brightness))
    };
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    world.spawn((
        Mesh3d(mesh),
        MeshMaterial3d(material),
        Transform::from_translation(offset.extend(0.0)),
    ));
    world.spawn((pixel_camera(SIDE), Hdr, bloom));
    rig
}

/// Adds a camera whose picture has one value.
fn uniform_camera(rig: &mut Rig, layer: usize, value: f32, bloom: impl Bundle) -> Entity {
    let world = rig.app.world_mut();
    let eye = camera(world, layer, value, Msaa::Off);
    world.entity_mut(eye).insert(bloom);
    eye
}

fn red_sum(rows: &[Vec<[f32; 4]>]) -> f64 {
    rows.iter().flatten().map(|texel| f64::from(texel[0])).sum()
}

#[test]
#[ignore = "needs a device"]
fn energy_conserving_bloom_keeps_sum_of_light() {
    let wide = Bloom {
        intensity: 0.6,
        low_frequency_boost: 0.0,
        ..BLOOM
    };
    // In the middle, and in a corner.
    for (bloom, offset) in [(BLOOM, 0.0), (wide.clone(), 0.0), (wide, 30.0)] {
        let offset = Vec2::splat(offset);
        let mut rig = square(16.0, offset, (bloom.clone(), UnweightedBloom));
        let rows = rig.exact_rows();
        let sum = red_sum(&rows);
        assert!((sum / 64.0 - 1.0).abs() < 5e-3, "{bloom:?}: {sum}, not 64");
        let [x, y] = [32.0 + offset.x, 31.0 - offset.y].map(|at| at as usize);
        let peak = rows[y][x][0];
        let kept = 16.0 * (1.0 - bloom.intensity);
        assert!(peak > kept && peak < 16.0, "{bloom:?}: {peak} is the peak");
    }
}

#[test]
#[ignore = "needs a device"]
fn light_spreads_symmetrically_and_falls_off() {
    let mut rig = square(16.0, Vec2::ZERO, BLOOM);
    let rows = rig.exact_rows();
    let last = SIDE as usize - 1;
    let red = |x: usize, y: usize| rows[y][x][0];
    for y in 0..=last {
        for x in 0..=last {
            for mirrored in [red(last - x, y), red(x, last - y), red(y, x)] {
                let off = (red(x, y) - mirrored).abs();
                assert!(off <= 2e-3 * mirrored.abs() + 1e-6, "{off} at {x}, {y}");
            }
        }
    }
    let row: Vec<f32> = (SIDE as usize / 2..=last)
        .map(|x| red(x, SIDE as usize / 2))
        .collect();
    assert!(row.windows(2).all(|pair| pair[0] >= pair[1]), "{row:?}");
    assert!(row[8] > 1e-4, "{row:?}");
}

#[test]
#[ignore = "needs a device"]
fn bright_light_is_weighted_less_unless_bloom_is_unweighted() {
    // Shares of a group of taps: 1/2 and four times 1/8 of 10, each divided by 1 plus a quarter of it.
    let weighted = |share: f64| share / (1.0 + share / 4.0);
    let scattered = weighted(5.0) + 4.0 * weighted(1.25);
    let expected = 10.0 + (scattered - 10.0) * f64::from(BLOOM.intensity);
    for (is_unweighted, expected) in [(false, expected), (true, 10.0)] {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.start();
        let eye = uniform_camera(&mut rig, 0, 10.0, BLOOM);
        if is_unweighted {
            rig.app.world_mut().entity_mut(eye).insert(UnweightedBloom);
        }
        for [x, y] in [[0, 0], [SIDE / 2, SIDE / 3], [SIDE - 1, SIDE - 1]] {
            let found = f64::from(rig.exactly(x, y)[0]);
            assert!(
                (found / expected - 1.0).abs() < 2e-3,
                "{found}, not {expected}"
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn bloom_of_intensity_0_or_without_hdr_changes_no_byte() {
    log::collect();
    let mut rig = square(16.0, Vec2::ZERO, ());
    let mut cameras = rig
        .app
        .world_mut()
        .query_filtered::<Entity, With<Camera3d>>();
    let eye = cameras.single(rig.app.world()).expect("one camera");
    let before = rig.exact_rows();
    let off = Bloom {
        intensity: 0.0,
        ..BLOOM
    };
    rig.app.world_mut().entity_mut(eye).insert(off);
    assert!(
        rig.exact_rows() == before,
        "intensity 0 changes the picture"
    );
    assert!(extents::<Bloom>(&rig).is_empty(), "it has images");
    rig.app.world_mut().entity_mut(eye).insert(BLOOM);
    assert!(rig.exact_rows() != before, "bloom changes nothing");
    log::take();
    rig.app
        .world_mut()
        .entity_mut(eye)
        .insert(BLOOM)
        .remove::<Hdr>();
    assert!(rig.exact_rows() == before, "bloom without Hdr");
    let lines = log::take();
    let is_warning = |line: &String| line.contains("Bloom") && line.contains("Add Hdr");
    assert!(lines.iter().any(is_warning), "{lines:#?}");
}

#[test]
#[ignore = "needs a device"]
fn effects_of_cameras_without_3d_are_reported() {
    log::collect();
    for effect in ["Bloom", "Vignette"] {
        let mut rig = square(16.0, Vec2::ZERO, BLOOM);
        rig.exact_rows();
        log::take();
        let mut page = rig
            .app
            .world_mut()
            .spawn((Name::new("page"), Camera::default(), Hdr));
        match effect {
            "Bloom" => page.insert(BLOOM),
            _ => page.insert(Vignette::default()),
        };
        rig.exact_rows();
        let lines = log::take();
        let is_warning = |line: &&String| {
            line.contains("page") && line.contains(effect) && line.contains("Add `Camera3d`")
        };
        assert_eq!(
            lines.iter().filter(is_warning).count(),
            1,
            "{effect}: {lines:#?}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn threshold_keeps_dark_light_out() {
    let bloom = Bloom {
        prefilter: BloomPrefilter {
            threshold: 1.0,
            threshold_softness: 0.5,
        },
        composite_mode: BloomCompositeMode::Additive,
        ..BLOOM
    };
    // The knee is 0.5 to 1.5: within it (b - 0.5)^2 / 2 is scattered, above it b - 1.
    for (value, scattered) in [(0.45, 0.0), (1.0, 0.125), (3.0, 2.0)] {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.start();
        uniform_camera(&mut rig, 0, value, (bloom.clone(), UnweightedBloom));
        // Levels of equal light are added with their factors: 0.15, and 0.85 for all others but the widest.
        let mut light = scattered;
        for factor in [0.85, 0.85, 0.849_9] {
            light = scattered + light * factor;
        }
        let found = rig.exactly(5, 9)[0] - value;
        let expected = light * 0.15;
        assert!(
            (found - expected).abs() < 5e-3 * value,
            "{value}: {found}, not {expected}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn cameras_and_viewports_have_bloom_of_their_own() {
    let mut rig = Rig::new(48, 32);
    rig.start();
    let bloom = (BLOOM, UnweightedBloom);
    let left = uniform_camera(&mut rig, 0, 4.0, bloom.clone());
    let right = uniform_camera(&mut rig, 1, 0.5, bloom);
    set_viewport(&mut rig, left, [0, 0, 30, 32]);
    set_viewport(&mut rig, right, [30, 0, 18, 32]);
    let check = |rig: &mut Rig, border: usize| {
        for row in rig.exact_rows() {
            for (x, texel) in row.iter().enumerate() {
                let expected = if x < border { 4.0 } else { 0.5 };
                let off = (texel[0] / expected - 1.0).abs();
                assert!(off < 2e-3 && texel[3] == 1.0, "{texel:?} at {x}");
            }
        }
    };
    check(&mut rig, 30);
    assert_eq!(extents::<Bloom>(&rig), [[30, 32, 1], [18, 32, 1]]);
    set_viewport(&mut rig, left, [0, 0, 11, 32]);
    set_viewport(&mut rig, right, [11, 0, 37, 32]);
    check(&mut rig, 11);
    assert_eq!(extents::<Bloom>(&rig), [[11, 32, 1], [37, 32, 1]]);
    rig.app.world_mut().entity_mut(left).remove::<Bloom>();
    check(&mut rig, 11);
    assert_eq!(extents::<Bloom>(&rig), [[37, 32, 1]]);
}
