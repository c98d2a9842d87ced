//! [`ScreenSpaceAmbientOcclusion`].

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

use crate::components::prepass::{DepthPrepass, NormalPrepass};
use crate::constants::SSAO_RADIUS;

/// Ambient occlusion of a 3D camera, with the fields and defaults of bevy's component: indirect light (ambient,
/// environment maps, irradiance volumes) is darker in corners and under objects. Direct light and blended surfaces keep
/// theirs.
///
/// Needs `Msaa::Off`: a camera with more samples has one warning, and no occlusion.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(DepthPrepass, NormalPrepass)]
pub struct ScreenSpaceAmbientOcclusion {
    /// Number of samples of a pixel.
    pub quality_level: ScreenSpaceAmbientOcclusionQualityLevel,
    /// Distance up to which occluders are found, in meters. NaN is 0.
    pub radius: f32,
    /// Thickness of all objects in meters, behind which light passes.
    pub constant_object_thickness: f32,
}

impl Default for ScreenSpaceAmbientOcclusion {
    fn default() -> Self {
        Self {
            quality_level: ScreenSpaceAmbientOcclusionQualityLevel::default(),
            radius: SSAO_RADIUS,
            constant_object_thickness: 0.25,
        }
    }
}

/// Quality of [`ScreenSpaceAmbientOcclusion`], with the variants of bevy's type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, Hash, PartialEq)]
pub enum ScreenSpaceAmbientOcclusionQualityLevel {
    /// 4 samples per pixel.
    Low,
    /// 8 samples per pixel.
    Medium,
    /// 18 samples per pixel.
    #[default]
    High,
    /// 54 samples per pixel.
    Ultra,
    /// Twice the product of both numbers, each from 1 to 64.
    Custom {
        /// Directions around a pixel. More are less noisy.
        slice_count: u32,
        /// Samples on each side of a pixel along a direction.
        samples_per_slice_side: u32,
    },
}

impl ScreenSpaceAmbientOcclusionQualityLevel {
    /// Slices, and samples on each of their sides.
    pub(super) fn sample_counts(self) -> [u32; 2] {
        match self {
            Self::Low => [1, 2],
            Self::Medium => [2, 2],
            Self::High => [3, 3],
            Self::Ultra => [9, 3],
            Self::Custom {
                slice_count,
                samples_per_slice_side,
            } => [slice_count, samples_per_slice_side].map(|count| count.clamp(1, 64)),
        }
    }
}
