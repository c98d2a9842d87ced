//! Levels of quality: what costs much and changes little of the game's look.

use bevy_camera::visibility::VisibilityRange;
use bevy_ecs::prelude::*;
use clap::ValueEnum;
use quadrille_3d::prelude::Msaa;

/// How much a frame may cost.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Quality {
    /// For devices without a GPU.
    Low,
    /// For integrated GPUs.
    Medium,
    /// For others.
    High,
}

impl Quality {
    fn choose<T>(self, [low, medium, high]: [T; 3]) -> T {
        match self {
            Self::Low => low,
            Self::Medium => medium,
            Self::High => high,
        }
    }

    /// Street lamps near the courier that are point lights.
    pub(crate) fn lamps(self) -> usize {
        self.choose([4, 16, 40])
    }

    /// Cars near the courier whose head lamps are spot lights.
    pub(crate) fn headlights(self) -> usize {
        self.choose([1, 3, 8])
    }

    /// Whether the nearest head lamps cast shadows.
    pub(crate) fn has_shadows(self) -> bool {
        self != Self::Low
    }

    /// Share of roofs with things on them.
    pub(crate) fn props(self) -> f32 {
        self.choose([0.35, 0.8, 1.0])
    }

    /// Number of rain drops.
    pub(crate) fn drops(self) -> u32 {
        self.choose([1024, 4096, 16384])
    }

    /// Whether streets reflect what is on the screen, by default. Rays cost too much on software devices.
    pub(crate) fn reflections(self, is_software: bool) -> bool {
        self == Self::High && !is_software
    }

    /// Samples of a pixel.
    pub(crate) fn msaa(self) -> Msaa {
        self.choose([Msaa::Off, Msaa::Off, Msaa::Sample4])
    }

    /// Range of something small that is not drawn beyond so many meters, at the highest quality.
    pub(crate) fn visible_up_to(self, meters: f32) -> VisibilityRange {
        let end = meters * self.choose([0.5, 0.8, 1.0]);
        VisibilityRange {
            start_margin: 0.0..0.0,
            end_margin: 0.9 * end..end,
            use_aabb: false,
        }
    }
}

#[cfg(test)]
#[path = "quality_tests.rs"]
mod tests;
