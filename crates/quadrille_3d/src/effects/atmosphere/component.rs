//! [`AtmosphereSettings`]. bevy defines it in a crate that needs `wgpu`.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_math::{UVec2, UVec3};
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Atmosphere of a 3D camera: the nearest [`Atmosphere`](bevy_light::Atmosphere) of the world is its sky, with the disks of
/// directional lights, and lies between it and all opaque surfaces (Hillaire 2020). Fields and defaults are those of
/// bevy's component.
///
/// LUTs of the medium are computed when the medium or these settings change, those of the view when the camera or a
/// directional light moves.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(Hdr)]
pub struct AtmosphereSettings {
    /// Size of the transmittance LUT.
    pub transmittance_lut_size: UVec2,
    /// Size of the LUT of multiple scattering.
    pub multiscattering_lut_size: UVec2,
    /// Size of the sky-view LUT: azimuths, and zenith angles.
    pub sky_view_lut_size: UVec2,
    /// Size of the aerial-view LUT: the view, and slices of distance.
    pub aerial_view_lut_size: UVec3,
    /// Samples of a ray of the transmittance LUT.
    pub transmittance_lut_samples: u32,
    /// Rays of a texel of the LUT of multiple scattering.
    pub multiscattering_lut_dirs: u32,
    /// Samples of each of these rays.
    pub multiscattering_lut_samples: u32,
    /// Samples of a ray of the sky-view LUT.
    pub sky_view_lut_samples: u32,
    /// Samples of a slice of the aerial-view LUT.
    pub aerial_view_lut_samples: u32,
    /// Distance in meters up to which the aerial-view LUT reaches. Beyond it, rays of pixels are integrated.
    pub aerial_view_lut_max_distance: f32,
    /// Samples of a pixel's ray with [`AtmosphereMode::Raymarched`], and beyond the aerial-view LUT.
    pub sky_max_samples: u32,
    /// Method of rendering.
    pub rendering_method: AtmosphereMode,
}

impl Default for AtmosphereSettings {
    fn default() -> Self {
        Self {
            transmittance_lut_size: UVec2::new(256, 128),
            multiscattering_lut_size: UVec2::new(32, 32),
            sky_view_lut_size: UVec2::new(400, 200),
            aerial_view_lut_size: UVec3::new(32, 32, 32),
            transmittance_lut_samples: 40,
            multiscattering_lut_dirs: 64,
            multiscattering_lut_samples: 20,
            sky_view_lut_samples: 16,
            aerial_view_lut_samples: 10,
            aerial_view_lut_max_distance: 3.2e4,
            sky_max_samples: 16,
            rendering_method: AtmosphereMode::default(),
        }
    }
}

/// Rendering method of an atmosphere, with the variants of bevy's type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, Hash, PartialEq)]
pub enum AtmosphereMode {
    /// LUTs: fast, for scenes within the atmosphere.
    #[default]
    LookupTexture,
    /// Integration of each pixel's ray: slower, for planets seen from space and exact long distances.
    Raymarched,
}
