use bevy_color::LinearRgba;

use super::*;

/// Transmittance of a falloff with one density at a distance, by the formulas in its docs.
fn left(falloff: &FogFalloff, distance: f32) -> f32 {
    match *falloff {
        FogFalloff::Exponential { density } => (-density * distance).exp(),
        FogFalloff::ExponentialSquared { density } => (-(density * distance).powi(2)).exp(),
        ref other => panic!("{other:?} has no single density"),
    }
}

#[test]
fn fog_contrast_at_visibility_is_threshold() {
    for visibility in [0.5, 20.0, 7000.0] {
        let five = [
            FogFalloff::from_visibility(visibility),
            FogFalloff::from_visibility_squared(visibility),
        ];
        for falloff in five {
            let left = left(&falloff, visibility);
            assert!((left - 0.05).abs() < 1e-6, "{falloff:?} leaves {left}");
        }
        let third = [
            FogFalloff::from_visibility_contrast(visibility, 0.3),
            FogFalloff::from_visibility_contrast_squared(visibility, 0.3),
        ];
        for falloff in third {
            let left = left(&falloff, visibility);
            assert!((left - 0.3).abs() < 1e-6, "{falloff:?} leaves {left}");
        }
    }
}

#[test]
fn atmospheric_densities_match_bevy() {
    let removed = LinearRgba::new(0.25, 0.5, 1.0, 0.5).into();
    let added = LinearRgba::new(0.0, 1.0, 0.75, 1.0).into();
    let falloff = FogFalloff::from_visibility_colors(10.0, removed, added);
    let FogFalloff::Atmospheric {
        extinction,
        inscattering,
    } = falloff
    else {
        panic!("{falloff:?}");
    };
    let density = 20_f64.ln() / 10.0;
    let power = |x: f64| x.powf(std::f64::consts::E);
    let removes = [0.75, 0.5, 0.0].map(|x| density * power(0.5) * power(x));
    let adds = [0.0, 1.0, 0.75].map(|x| density * power(x));
    for (ours, formula) in [(extinction, removes), (inscattering, adds)] {
        for (ours, formula) in ours.to_array().into_iter().zip(formula) {
            assert!(
                (f64::from(ours) - formula).abs() < 1e-6,
                "{ours}, {formula}"
            );
        }
    }
    let both = FogFalloff::from_visibility_colors(10.0, removed, removed);
    assert_eq!(FogFalloff::from_visibility_color(10.0, removed), both);
    let via_contrast = FogFalloff::from_visibility_contrast_color(10.0, 0.05, removed);
    assert_eq!(via_contrast, both);
}
