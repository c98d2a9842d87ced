use super::*;

#[test]
fn chain_has_as_many_levels_as_bevys() {
    let levels = |max_mip_dimension| {
        Bloom {
            max_mip_dimension,
            ..Bloom::NATURAL
        }
        .levels()
    };
    assert_eq!(
        [512, 1024, 700, 8, 4, 1, 0].map(levels),
        [8, 9, 8, 2, 1, 1, 1]
    );
}

#[test]
fn blend_factors_follow_bevys_formula() {
    // intensity + (1 - (1 - f)^(1 / 0.05)) * 0.7 * 0.85, of f = level / 7.
    let expected = |level: f64| 0.15 + (1.0 - (1.0 - level / 7.0).powf(20.0)) * 0.7 * 0.85;
    for level in 0..8 {
        let factor = f64::from(Bloom::NATURAL.blend_factor(level, 7));
        let expected = expected(f64::from(level));
        assert!(
            (factor - expected).abs() < 1e-4,
            "{level}: {factor}, not {expected}"
        );
    }
    // The blur is 1 up to a frequency of 1 / 3, then falls to 0 at 2 / 3.
    let blur = [0, 3, 4, 5, 6, 9].map(|level| Bloom::SCREEN_BLUR.blend_factor(level, 9));
    let expected = [1.0, 1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0];
    for (factor, expected) in blur.into_iter().zip(expected) {
        assert!((factor - expected).abs() < 1e-5, "{blur:?}");
    }
}

#[test]
fn blend_factors_are_finite_at_ends_of_ranges() {
    let bloom = Bloom {
        low_frequency_boost_curvature: 1.0,
        high_pass_frequency: 0.0,
        ..Bloom::NATURAL
    };
    for (level, last) in [(0, 0), (0, 7), (3, 7), (7, 7)] {
        assert!(bloom.blend_factor(level, last).is_finite());
    }
}

#[test]
fn bloom_needs_hdr_intensity_and_finite_values() {
    let with = |intensity, threshold| Bloom {
        intensity,
        prefilter: BloomPrefilter {
            threshold,
            threshold_softness: 0.0,
        },
        ..Bloom::NATURAL
    };
    assert!(with(0.1, 0.0).is_enabled(true));
    assert!(!with(0.1, 0.0).is_enabled(false));
    assert!(!with(0.0, 0.0).is_enabled(true));
    assert_eq!(with(0.1, 0.0).invalid_setting(), None);
    for (bloom, field) in [
        (with(f32::NAN, 0.0), "intensity"),
        (with(0.1, f32::INFINITY), "prefilter.threshold"),
    ] {
        let setting = bloom.invalid_setting();
        assert!(
            setting.as_ref().is_some_and(|it| it.contains(field)),
            "{setting:?}"
        );
    }
}
