//! [`ScreenSpaceTransmission`].

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Refraction of a 3D camera, with the fields and defaults of bevy's component: surfaces with
/// [`specular_transmission`](crate::StandardMaterial::specular_transmission), and materials with
/// [`reads_view_transmission_texture`](crate::Material::reads_view_transmission_texture), show what lies behind them in the picture,
/// refracted through their thickness and blurred by their roughness.
///
/// Under a camera without it these surfaces are drawn by their alpha mode, with less diffuse light and nothing behind them. The
/// colors of a camera with it are scene-referred as soon as the world has such a surface, as with `Hdr`, and the background is
/// tone mapped with them.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct ScreenSpaceTransmission {
    /// Number of groups of transmissive meshes, each of which sees those that are farther away: the picture is copied before
    /// each group that has a mesh. 0 refracts environment maps alone.
    pub steps: usize,
    /// Number of samples of the blur behind rough surfaces.
    pub quality: ScreenSpaceTransmissionQuality,
}

impl Default for ScreenSpaceTransmission {
    fn default() -> Self {
        Self {
            steps: 1,
            quality: ScreenSpaceTransmissionQuality::default(),
        }
    }
}

/// Quality of [`ScreenSpaceTransmission`], with the variants of bevy's type.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum ScreenSpaceTransmissionQuality {
    /// 4 samples per pixel.
    Low,
    /// 8 samples per pixel.
    #[default]
    Medium,
    /// 16 samples per pixel.
    High,
    /// 32 samples per pixel.
    Ultra,
}

impl ScreenSpaceTransmissionQuality {
    /// Samples of a pixel.
    pub(crate) fn taps(self) -> u32 {
        match self {
            Self::Low => 4,
            Self::Medium => 8,
            Self::High => 16,
            Self::Ultra => 32,
        }
    }
}
