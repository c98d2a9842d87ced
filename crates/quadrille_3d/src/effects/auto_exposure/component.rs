//! Components of auto exposure. bevy defines these in a crate that needs `wgpu`.

use std::ops::RangeInclusive;

use bevy_asset::Handle;
use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

use super::curve::AutoExposureCompensationCurve;

/// Auto exposure of a 3D camera with `Hdr`: exposure follows the mean luminance of the picture, from a histogram of 64 bins.
/// Fields and defaults are those of bevy's component. The app needs [`AutoExposurePlugin`](super::AutoExposurePlugin).
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(Hdr)]
pub struct AutoExposure {
    /// Range of the histogram in stops, log2 of radiance times exposure. Darker pixels do not count, brighter ones count
    /// as its end.
    pub range: RangeInclusive<f32>,
    /// Part of the pixels that count, from the darkest (0) to the brightest (1).
    pub filter: RangeInclusive<f32>,
    /// Speed of adaptation to brighter pictures, in stops per second.
    pub speed_brighten: f32,
    /// Speed of adaptation to darker pictures, in stops per second.
    pub speed_darken: f32,
    /// Distance from the target, in stops, from which on adaptation is exponential, and not linear.
    pub exponential_transition_distance: f32,
    /// 2D image over the view, whose red is the weight of a pixel, in 16 steps. All pixels count equally while it is not
    /// uploaded.
    pub metering_mask: Handle<Image>,
    /// Compensation by mean luminance. None while the asset is not loaded.
    pub compensation_curve: Handle<AutoExposureCompensationCurve>,
}

impl Default for AutoExposure {
    fn default() -> Self {
        Self {
            range: -8.0..=8.0,
            filter: 0.1..=0.9,
            speed_brighten: 3.0,
            speed_darken: 1.0,
            exponential_transition_distance: 1.5,
            metering_mask: Handle::default(),
            compensation_curve: Handle::default(),
        }
    }
}
