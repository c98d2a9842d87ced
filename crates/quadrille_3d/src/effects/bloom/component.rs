//! Components of bloom. bevy defines these in a crate that needs `wgpu`.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Bloom of a 3D camera with `Hdr`: light that spreads around bright parts of the picture, as in lenses and eyes. Fields
/// and defaults are those of bevy's component.
///
/// Blurred copies of the picture at decreasing resolutions are blended (Jimenez 2014).
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(Hdr)]
pub struct Bloom {
    /// Share of light that is scattered, from 0 to 1; in [`BloomCompositeMode::Additive`] the factor of added light. 0
    /// disables bloom.
    pub intensity: f32,
    /// Additional share of the lowest frequency (the widest blur), from 0 to 1; in [`BloomCompositeMode::Additive`] its
    /// additional factor.
    pub low_frequency_boost: f32,
    /// How far `low_frequency_boost` reaches to higher frequencies: 0 interpolates linearly, 1 boosts all of them.
    pub low_frequency_boost_curvature: f32,
    /// Width of the blur, from 0 to 1 (the widest).
    pub high_pass_frequency: f32,
    /// Threshold of light that is scattered.
    pub prefilter: BloomPrefilter,
    /// How scattered light combines with the picture.
    pub composite_mode: BloomCompositeMode,
    /// Height of the first blurred image in pixels, whatever that of the view. The number of images follows from it: 8
    /// for 512.
    pub max_mip_dimension: u32,
    /// Factors of the blur's width in x and y; 4 in x is an anamorphic lens. Large factors need a larger
    /// `max_mip_dimension`.
    pub scale: Vec2,
}

impl Bloom {
    /// Default settings, energy conserving.
    pub const NATURAL: Self = Self {
        intensity: 0.15,
        low_frequency_boost: 0.7,
        low_frequency_boost_curvature: 0.95,
        high_pass_frequency: 1.0,
        prefilter: BloomPrefilter {
            threshold: 0.0,
            threshold_softness: 0.0,
        },
        composite_mode: BloomCompositeMode::EnergyConserving,
        max_mip_dimension: 512,
        scale: Vec2::ONE,
    };

    /// Bloom of an anamorphic lens, stretched horizontally.
    pub const ANAMORPHIC: Self = Self {
        max_mip_dimension: 1024,
        scale: Vec2::new(4.0, 1.0),
        ..Self::NATURAL
    };

    /// Bloom of older games: light above a threshold is added.
    pub const OLD_SCHOOL: Self = Self {
        intensity: 0.05,
        prefilter: BloomPrefilter {
            threshold: 0.6,
            threshold_softness: 0.2,
        },
        composite_mode: BloomCompositeMode::Additive,
        ..Self::NATURAL
    };

    /// Blur of the whole picture.
    pub const SCREEN_BLUR: Self = Self {
        intensity: 1.0,
        low_frequency_boost: 0.0,
        low_frequency_boost_curvature: 0.0,
        high_pass_frequency: 1.0 / 3.0,
        ..Self::NATURAL
    };

    /// Number of blurred images, as in bevy: the smallest has a height of 4 pixels if the first is a power of two.
    pub(super) fn levels(&self) -> u32 {
        self.max_mip_dimension.max(1).ilog2().max(2) - 1
    }

    /// Blend factor of the blurred image `level` with the next sharper one, as in bevy; level 0 is blended with the
    /// picture. `last` is the level of the widest blur.
    pub(super) fn blend_factor(&self, level: u32, last: u32) -> f32 {
        let frequency = level as f32 / last.max(1) as f32;
        let curve = 1.0 / (1.0 - self.low_frequency_boost_curvature).max(f32::EPSILON);
        let share = match self.composite_mode {
            BloomCompositeMode::EnergyConserving => 1.0 - self.intensity,
            BloomCompositeMode::Additive => 1.0,
        };
        let boost = (1.0 - (1.0 - frequency).powf(curve)) * self.low_frequency_boost * share;
        let high_pass = self.high_pass_frequency.max(f32::EPSILON);
        let pass = 1.0 - ((frequency - high_pass) / high_pass).clamp(0.0, 1.0);
        (self.intensity + boost) * pass
    }
}

impl Default for Bloom {
    /// [`Bloom::NATURAL`].
    fn default() -> Self {
        Self::NATURAL
    }
}

/// Threshold of light that [`Bloom`] scatters, by the largest of red, green and blue. Use it with
/// [`BloomCompositeMode::Additive`].
#[derive(Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct BloomPrefilter {
    /// Radiance times exposure that is subtracted; darker light is not scattered. 0 scatters all light.
    pub threshold: f32,
    /// Softness of the threshold, from 0 (hard) to 1: a quadratic curve between `threshold * (1 - softness)` and
    /// `threshold * (1 + softness)`.
    pub threshold_softness: f32,
}

/// How scattered light combines with the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Hash, PartialEq)]
pub enum BloomCompositeMode {
    /// Replaces the share of light that is scattered.
    EnergyConserving,
    /// Adds to the picture.
    Additive,
}

/// Makes the [`Bloom`] of this camera scatter all light in full.
///
/// Without it, as in bevy, the first blur weights bright light less (Karis 2013), so that single bright pixels do not
/// flicker. That takes 40 % of the scattered light of an area whose radiance times exposure is 10, so that
/// [`BloomCompositeMode::EnergyConserving`] darkens the picture.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct UnweightedBloom;
