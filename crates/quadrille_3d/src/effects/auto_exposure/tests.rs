use bevy_curve::cubic_splines::LinearSpline;

use super::*;

#[test]
fn compensation_follows_points() {
    let points = [(-4.0, -2.0), (0.0, 0.0), (2.0, 0.0), (4.0, 2.0)].map(|(x, y)| Vec2::new(x, y));
    let curve = AutoExposureCompensationCurve::from_curve(LinearSpline::new(points)).unwrap();
    assert_eq!(curve.luminance, [-4.0, 4.0]);
    for (x, expected) in [
        (-4.0, -2.0),
        (-2.0, -1.0),
        (1.0, 0.0),
        (3.0, 1.0),
        (4.0, 2.0),
    ] {
        let entry = ((x + 4.0) / 8.0 * 255.0_f32).round() as usize;
        let found = curve.compensation[entry];
        assert!(
            (found - expected).abs() < 0.02,
            "{found} at {x}, not {expected}"
        );
    }
}

#[test]
fn curves_of_decreasing_luminance_and_of_no_points_are_errors() {
    let make = |points: &[Vec2]| {
        AutoExposureCompensationCurve::from_curve(LinearSpline::new(points.to_vec()))
    };
    let back = [Vec2::ZERO, Vec2::X, Vec2::new(0.5, 0.0)];
    let error = AutoExposureCompensationCurveError::NotMonotonic;
    assert_eq!(make(&back), Err(error));
    let error = AutoExposureCompensationCurveError::InvalidCurve;
    assert_eq!(make(&[]), Err(error));
    assert_eq!(make(&[Vec2::ZERO, Vec2::new(f32::NAN, 1.0)]), Err(error));
}

#[test]
fn settings_that_cannot_be_metered_are_described() {
    assert_eq!(AutoExposure::default().invalid_setting(), None);
    let empty = AutoExposure {
        range: 1.0..=1.0,
        ..AutoExposure::default()
    };
    assert!(empty.invalid_setting().unwrap().contains("range"));
    let negative = AutoExposure {
        speed_darken: -1.0,
        ..AutoExposure::default()
    };
    assert!(negative.invalid_setting().unwrap().contains("speed_darken"));
    assert!(!AutoExposure::default().is_enabled(false));
}
