//! Temporal upscaling against supersampled pictures, beside temporal antialiasing of the whole resolution and bilinear scaling.

#[path = "upscaling/behavior.rs"]
mod behavior;
#[path = "upscaling/scenes.rs"]
mod scenes;

use bevy_math::UVec2;
use quadrille_3d::prelude::*;
use quadrille_3d::{ContrastAdaptiveSharpening, TemporalAntiAliasing, TemporalUpscaling};

use crate::common::{Picture, Rig, write_png};
use scenes::{FIRST, MEASURED, Rows, SCENES, SIZE};

/// Difference of pictures from supersampled ones, in the sRGB encoding.
#[derive(Clone, Copy, Debug, Default)]
struct Quality {
    /// Root of the mean squared error.
    rms: f64,
    /// Mean absolute error.
    mean: f64,
    /// Mean absolute second difference in time, minus that of the supersampled pictures: positive for flicker, negative for
    /// motion that is blurred.
    flicker: f64,
}

/// Encoded channels of a picture.
fn encoded(rows: &Rows) -> Vec<f64> {
    let channels = rows.iter().flatten().flat_map(|texel| &texel[..3]);
    let encode = |linear: f64| match linear {
        ..=0.003_130_8 => linear * 12.92,
        _ => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    };
    channels
        .map(|channel| encode(f64::from(channel.clamp(0.0, 1.0))))
        .collect()
}

/// Mean absolute second difference in time.
fn second_difference(pictures: &[Vec<f64>]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for window in pictures.windows(3) {
        let [before, now, after] = window else {
            continue;
        };
        for ((before, now), after) in before.iter().zip(now).zip(after) {
            sum += (before - 2.0 * now + after).abs();
            count += 1.0;
        }
    }
    sum / count
}

fn quality(found: &[Rows], expected: &[Rows]) -> Quality {
    let [found, expected] =
        [found, expected].map(|all| all.iter().map(encoded).collect::<Vec<_>>());
    let (mut squares, mut sum, mut count) = (0.0, 0.0, 0.0);
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        squares += (found - expected).powi(2);
        sum += (found - expected).abs();
        count += 1.0;
    }
    Quality {
        rms: f64::sqrt(squares / count),
        mean: sum / count,
        flicker: second_difference(&found) - second_difference(&expected),
    }
}

/// Writes pictures to the folder `QUADRILLE_PICTURES`, if it is set, for other measures such as FLIP.
fn save(name: &str, pictures: &[Rows]) {
    let Some(folder) = std::env::var_os("QUADRILLE_PICTURES") else {
        return;
    };
    for (at, rows) in pictures.iter().enumerate() {
        let channels = encoded(rows);
        let pixels = channels.as_chunks::<3>().0.iter();
        let pixels = pixels.map(|color| {
            let [r, g, b] = color.map(|channel| (channel * 255.0).round() as u8);
            [r, g, b, 255]
        });
        let picture = Picture {
            width: SIZE[0],
            height: SIZE[1],
            pixels: pixels.collect(),
        };
        let file = format!("{name}, {at}.png").replace(' ', "-");
        write_png(&std::path::Path::new(&folder).join(file), &picture);
    }
}

/// The resolution of [`TemporalUpscaling::BALANCED`], scaled bilinearly.
fn bilinear() -> MainPassResolutionOverride {
    let size = UVec2::from(SIZE).as_vec2() * 0.67;
    MainPassResolutionOverride(size.round().as_uvec2())
}

#[test]
#[ignore = "needs a device"]
fn upscaled_pictures_are_nearer_to_supersampled_ones_than_bilinear() {
    for scene in SCENES {
        let expected = scene.supersampled(FIRST..FIRST + MEASURED);
        save(&format!("{}, supersampled", scene.name), &expected);
        let measure = |name: &str, found: &[Rows]| {
            save(&format!("{}, {name}", scene.name), found);
            let quality = quality(found, &expected);
            let Quality { rms, mean, flicker } = quality;
            let scene = scene.name;
            println!("{scene}, {name}: {rms:.4} rms, {mean:.4} mean, {flicker:.4} flicker");
            quality
        };
        let upscaled = measure("0.67", &scene.pictures(TemporalUpscaling::BALANCED));
        let whole = measure("TAA", &scene.pictures(TemporalAntiAliasing::default()));
        let scaled = measure("bilinear", &scene.pictures(bilinear()));
        let sharpened = (
            TemporalUpscaling::BALANCED,
            ContrastAdaptiveSharpening::default(),
        );
        measure("0.67 sharpened", &scene.pictures(sharpened));
        measure("0.77", &scene.pictures(TemporalUpscaling::QUALITY));
        let half = measure("0.5", &scene.pictures(TemporalUpscaling::PERFORMANCE));
        let native = TemporalUpscaling::with_scale(1.0);
        let native = measure("1.0", &scene.pictures(native));
        assert!(upscaled.rms < 0.8 * scaled.rms, "{upscaled:?}, {scaled:?}");
        assert!(half.rms < 0.95 * scaled.rms, "{half:?}, {scaled:?}");
        assert!(upscaled.rms < 1.15 * whole.rms, "{upscaled:?}, {whole:?}");
        assert!(native.rms < whole.rms, "{native:?}, {whole:?}");
        assert!(upscaled.flicker.abs() < 0.008, "{upscaled:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn still_scenes_converge_to_supersampled_pictures() {
    for scene in SCENES {
        let expected = scene.supersampled([0]);
        let still = |mut rig: Rig| {
            rig.update(100);
            quality(&[rig.exact_rows()], &expected)
        };
        let upscaled = still(scene.rig(SIZE, TemporalUpscaling::BALANCED));
        let whole = still(scene.rig(SIZE, TemporalAntiAliasing::default()));
        let scaled = still(scene.rig(SIZE, bilinear()));
        let name = scene.name;
        for (kind, quality) in [("0.67", upscaled), ("TAA", whole), ("bilinear", scaled)] {
            let Quality { rms, mean, .. } = quality;
            println!("{name} at rest, {kind}: {rms:.4} rms, {mean:.4} mean");
        }
        assert!(upscaled.rms < 0.03 && upscaled.mean < 0.012, "{upscaled:?}");
        assert!(upscaled.rms < 0.5 * scaled.rms, "{upscaled:?}, {scaled:?}");
    }
}
