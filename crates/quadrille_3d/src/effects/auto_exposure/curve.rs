//! Compensation curves of auto exposure.

use std::fmt;

use bevy_asset::{Asset, ReflectAsset};
use bevy_curve::cubic_splines::{CubicCurve, CubicGenerator};
use bevy_math::{FloatExt as _, Vec2};
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Number of entries of the lookup table.
pub(super) const ENTRIES: usize = 256;

/// Number of samples per segment of a curve.
const SAMPLES: u16 = 64;

/// Exposure compensation by the mean luminance of the picture, both in stops. The default is none.
#[derive(Asset, Clone, Debug, PartialEq, Reflect)]
#[reflect(Asset, Clone, Debug, Default, PartialEq)]
pub struct AutoExposureCompensationCurve {
    /// Luminance of the first and the last entry.
    pub(super) luminance: [f32; 2],
    pub(super) compensation: Vec<f32>,
}

impl Default for AutoExposureCompensationCurve {
    fn default() -> Self {
        Self {
            luminance: [0.0, 1.0],
            compensation: vec![0.0; ENTRIES],
        }
    }
}

/// Error of [`AutoExposureCompensationCurve::from_curve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AutoExposureCompensationCurveError {
    /// The points make no curve.
    InvalidCurve,
    /// A segment does not begin where the previous one ends.
    DiscontinuityFound,
    /// Luminance decreases along the curve.
    NotMonotonic,
}

impl fmt::Display for AutoExposureCompensationCurveError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::InvalidCurve => "the points make no curve. Add points.",
            Self::DiscontinuityFound => {
                "the curve has a gap between two segments. Begin each segment where the previous one ends."
            }
            Self::NotMonotonic => "luminance decreases along the curve. Sort the points by luminance.",
        })
    }
}

impl std::error::Error for AutoExposureCompensationCurveError {}

impl AutoExposureCompensationCurve {
    /// Samples a curve of points: mean luminance and compensation, in stops.
    ///
    /// ```
    /// # use bevy_curve::cubic_splines::LinearSpline;
    /// # use bevy_math::Vec2;
    /// # use quadrille_3d::auto_exposure::AutoExposureCompensationCurve;
    /// // Dark pictures stay darker than the mean.
    /// let points = [Vec2::new(-4.0, -2.0), Vec2::ZERO];
    /// let curve = AutoExposureCompensationCurve::from_curve(LinearSpline::new(points));
    /// assert!(curve.is_ok());
    /// ```
    ///
    /// # Errors
    /// The points make no curve, it has gaps, or its luminance decreases.
    pub fn from_curve(
        curve: impl CubicGenerator<Vec2>,
    ) -> Result<Self, AutoExposureCompensationCurveError> {
        let Ok(curve) = curve.to_curve() else {
            return Err(AutoExposureCompensationCurveError::InvalidCurve);
        };
        let points = sample(&curve)?;
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err(AutoExposureCompensationCurveError::InvalidCurve);
        };
        let luminance = [first.x, last.x];
        let entry = |index: usize| {
            let x = luminance[0].lerp(luminance[1], index as f32 / (ENTRIES - 1) as f32);
            let after = points.partition_point(|point| point.x < x);
            let after = after.clamp(1, points.len() - 1);
            let [from, to] = [points[after - 1], points[after]];
            let length = (to.x - from.x).max(f32::EPSILON);
            from.y.lerp(to.y, ((x - from.x) / length).clamp(0.0, 1.0))
        };
        Ok(Self {
            luminance,
            compensation: (0..ENTRIES).map(entry).collect(),
        })
    }
}

/// Points along a curve; at least two.
fn sample(curve: &CubicCurve<Vec2>) -> Result<Vec<Vec2>, AutoExposureCompensationCurveError> {
    let mut points: Vec<Vec2> = Vec::new();
    for segment in curve.segments() {
        let start = segment.position(0.0);
        if points
            .last()
            .is_some_and(|last| !last.abs_diff_eq(start, 1e-4))
        {
            return Err(AutoExposureCompensationCurveError::DiscontinuityFound);
        }
        let samples =
            (0..SAMPLES).map(|at| segment.position(f32::from(at) / f32::from(SAMPLES - 1)));
        points.extend(samples);
    }
    if points.iter().any(|point| !point.is_finite()) {
        return Err(AutoExposureCompensationCurveError::InvalidCurve);
    }
    match points.is_sorted_by(|before, after| before.x <= after.x + 1e-5) {
        true => Ok(points),
        false => Err(AutoExposureCompensationCurveError::NotMonotonic),
    }
}
