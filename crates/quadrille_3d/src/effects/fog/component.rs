//! The component of distance fog. bevy defines this component in crates that need `wgpu`.

use std::f32::consts::E;

use bevy_camera::Camera3d;
use bevy_color::{Color, ColorToComponents as _, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Distance fog of a camera, with the fields of bevy's component.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Camera3d)]
pub struct DistanceFog {
    /// Color of the fog; alpha is the maximum coverage.
    pub color: Color,
    /// Color of directional light inscattered by the fog; alpha is the strength.
    pub directional_light_color: Color,
    /// Exponent of the glow around the light's direction; plausible from 8.
    pub directional_light_exponent: f32,
    /// Falloff: coverage by distance.
    pub falloff: FogFalloff,
}

impl Default for DistanceFog {
    /// White linear fog from 0 to 100.
    fn default() -> Self {
        Self {
            color: Color::WHITE,
            directional_light_color: Color::NONE,
            directional_light_exponent: 8.0,
            falloff: FogFalloff::Linear {
                start: 0.0,
                end: 100.0,
            },
        }
    }
}

/// Coverage of fog by distance, with the variants of bevy's type.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub enum FogFalloff {
    /// Linear from 0 to 1 between two distances.
    Linear {
        /// Distance of coverage 0.
        start: f32,
        /// Distance of coverage 1.
        end: f32,
    },
    /// `1 - exp(-density * distance)`.
    Exponential {
        /// Per unit of length.
        density: f32,
    },
    /// `1 - exp(-(density * distance)^2)`.
    ExponentialSquared {
        /// Per unit of length.
        density: f32,
    },
    /// Extinction dims the surface and inscattering adds the fog's color, each with one density per
    /// channel.
    Atmospheric {
        /// Per unit of length.
        extinction: Vec3,
        /// Per unit of length.
        inscattering: Vec3,
    },
}

impl FogFalloff {
    /// Default contrast threshold: 5 %, by which the World Meteorological Organization defines meteorological optical
    /// range.
    pub const REVISED_KOSCHMIEDER_CONTRAST_THRESHOLD: f32 = 0.05;

    /// Density by Koschmieder's law: a black object before white fog keeps the fraction `contrast_threshold` of its
    /// contrast at distance `visibility`.
    pub fn koschmieder(visibility: f32, contrast_threshold: f32) -> f32 {
        -contrast_threshold.ln() / visibility
    }

    /// [`Self::Exponential`] that leaves 5 % of the contrast at distance `visibility`.
    pub fn from_visibility(visibility: f32) -> Self {
        Self::from_visibility_contrast(visibility, Self::REVISED_KOSCHMIEDER_CONTRAST_THRESHOLD)
    }

    /// [`Self::Exponential`] that leaves the fraction `contrast_threshold` of the contrast at distance `visibility`.
    pub fn from_visibility_contrast(visibility: f32, contrast_threshold: f32) -> Self {
        Self::Exponential {
            density: Self::koschmieder(visibility, contrast_threshold),
        }
    }

    /// [`Self::ExponentialSquared`] that leaves 5 % of the contrast at distance `visibility`.
    pub fn from_visibility_squared(visibility: f32) -> Self {
        let contrast = Self::REVISED_KOSCHMIEDER_CONTRAST_THRESHOLD;
        Self::from_visibility_contrast_squared(visibility, contrast)
    }

    /// [`Self::ExponentialSquared`] that leaves the fraction `contrast_threshold` of the contrast at distance
    /// `visibility`.
    pub fn from_visibility_contrast_squared(visibility: f32, contrast_threshold: f32) -> Self {
        // Solves `(density * visibility)^2 = koschmieder * visibility`.
        Self::ExponentialSquared {
            density: (-contrast_threshold.ln()).sqrt() / visibility,
        }
    }

    /// [`Self::Atmospheric`] of one color that leaves 5 % of the contrast at distance `visibility`.
    pub fn from_visibility_color(visibility: f32, extinction_inscattering_color: Color) -> Self {
        let color = extinction_inscattering_color;
        Self::from_visibility_colors(visibility, color, color)
    }

    /// [`Self::Atmospheric`] that leaves 5 % of the contrast at distance `visibility`. Surfaces are tinted by
    /// `extinction_color`, and the fog by `inscattering_color`.
    pub fn from_visibility_colors(
        visibility: f32,
        extinction_color: Color,
        inscattering_color: Color,
    ) -> Self {
        let contrast = Self::REVISED_KOSCHMIEDER_CONTRAST_THRESHOLD;
        Self::from_visibility_contrast_colors(
            visibility,
            contrast,
            extinction_color,
            inscattering_color,
        )
    }

    /// [`Self::Atmospheric`] of one color that leaves the fraction `contrast_threshold` of the contrast at distance
    /// `visibility`.
    pub fn from_visibility_contrast_color(
        visibility: f32,
        contrast_threshold: f32,
        extinction_inscattering_color: Color,
    ) -> Self {
        let color = extinction_inscattering_color;
        Self::from_visibility_contrast_colors(visibility, contrast_threshold, color, color)
    }

    /// [`Self::Atmospheric`] of two colors that leaves the fraction `contrast_threshold` of the contrast at distance
    /// `visibility`. Alpha of a color is its strength.
    pub fn from_visibility_contrast_colors(
        visibility: f32,
        contrast_threshold: f32,
        extinction_color: Color,
        inscattering_color: Color,
    ) -> Self {
        let density = Self::koschmieder(visibility, contrast_threshold);
        let [removed, added] = [extinction_color, inscattering_color].map(LinearRgba::from);
        // Extinction removes the complement of its color, so that blue extinction leaves blue.
        let lacks = Vec3::ONE - removed.to_vec3();
        // bevy's curve with e as the exponent, so that colors match.
        let curve = |color: Vec3, alpha: f32| color.powf(E) * (density * alpha.powf(E));
        Self::Atmospheric {
            extinction: curve(lacks, removed.alpha),
            inscattering: curve(added.to_vec3(), added.alpha),
        }
    }
}
