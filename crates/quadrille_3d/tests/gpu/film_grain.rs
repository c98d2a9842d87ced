//! Film grain by its statistics.

use bevy_camera::Hdr;
use bevy_ecs::prelude::Bundle;
use quadrille_3d::FilmGrain;
use quadrille_3d::prelude::*;

use crate::common::Rig;

/// Width and height of the pictures.
const SIDE: u32 = 128;

/// Rig whose camera sees its clear color alone, of this linear value.
fn rig(value: f32, camera: impl Bundle) -> Rig {
    let mut rig = Rig::with(SIDE, SIDE, Quadrille3dPlugin::default());
    rig.start();
    rig.app.world_mut().spawn((
        Camera3d::default(),
        Camera {
            clear_color: Color::linear_rgb(value, value, value).into(),
            ..Camera::default()
        },
        Tonemapping::None,
        DebandDither::Disabled,
        Msaa::Off,
        camera,
    ));
    rig
}

/// Square roots of the linear red of all pixels.
fn roots(rig: &mut Rig) -> Vec<f64> {
    let picture = rig.picture();
    let pixels = picture.pixels.iter();
    let red = pixels.map(|&[red, ..]| Color::srgb_u8(red, 0, 0).to_linear().red);
    red.map(|red| f64::from(red).sqrt()).collect()
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
    (mean, (squares / count).sqrt())
}

/// Correlation of pixels at a horizontal distance.
fn correlation(values: &[f64], distance: usize) -> f64 {
    let (mean, deviation) = mean_and_deviation(values);
    let rows = values.chunks(SIDE as usize);
    let pairs = rows.flat_map(|row| row.iter().zip(&row[distance..]));
    let products: Vec<f64> = pairs.map(|(a, b)| (a - mean) * (b - mean)).collect();
    products.iter().sum::<f64>() / products.len() as f64 / deviation.powi(2)
}

#[test]
#[ignore = "needs a device"]
fn grain_has_the_mean_and_deviation_of_its_settings() {
    for is_hdr in [false, true] {
        let grain = FilmGrain {
            intensity: 0.05,
            size: 1.0,
            response: 1.0,
        };
        let mut rig = match is_hdr {
            true => rig(0.25, (grain, Hdr)),
            false => rig(0.25, grain),
        };
        let first = roots(&mut rig);
        // Middle gray of this curve has all of the grain. 16384 samples: the error of a deviation is 0.6 %.
        let (mean, deviation) = mean_and_deviation(&first);
        assert!((mean - 0.5).abs() < 2e-3, "Hdr {is_hdr}: mean {mean}");
        assert!(
            (deviation / 0.05 - 1.0).abs() < 0.04,
            "Hdr {is_hdr}: {deviation}"
        );
        assert!(
            correlation(&first, 1).abs() < 0.04,
            "neighbours are independent"
        );
        let second = roots(&mut rig);
        let same = first.iter().zip(&second).filter(|(a, b)| a == b).count();
        assert!(
            same < first.len() / 10,
            "another grain in each frame: {same}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn grain_grows_with_its_size_and_leaves_black_and_white() {
    let coarse = FilmGrain {
        intensity: 0.05,
        size: 4.0,
        response: 1.0,
    };
    let values = roots(&mut rig(0.25, coarse.clone()));
    let (_, deviation) = mean_and_deviation(&values);
    // Correlated pixels: about 1000 independent samples.
    assert!((deviation / 0.05 - 1.0).abs() < 0.15, "{deviation}");
    assert!(correlation(&values, 1) > 0.7, "{}", correlation(&values, 1));
    assert!(
        correlation(&values, 12).abs() < 0.15,
        "{}",
        correlation(&values, 12)
    );
    for value in [0.0, 1.0] {
        let (mean, deviation) = mean_and_deviation(&roots(&mut rig(value, coarse.clone())));
        assert!(
            (mean - f64::from(value)).abs() < 1e-6 && deviation < 1e-6,
            "{value}: {mean}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn disabled_grain_draws_no_pass() {
    for grain in [
        FilmGrain {
            intensity: 0.0,
            ..FilmGrain::default()
        },
        FilmGrain {
            size: f32::NAN,
            ..FilmGrain::default()
        },
    ] {
        let values = roots(&mut rig(0.25, grain));
        assert!(values.iter().all(|value| *value == values[0]));
    }
}
