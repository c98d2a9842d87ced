//! [`OrderIndependentTransparencySettings`].

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Maximum number of fragments of a pixel that are sorted.
pub(crate) const MAX_SORTED: u32 = 32;

/// Order-independent transparency of a 3D camera, with the fields and defaults of bevy's component: blended surfaces are
/// sorted for each pixel, so that those that cross each other are right as well.
///
/// Standard materials of the alpha modes `Blend`, `Premultiplied` and `Add` take part; other blended surfaces are drawn over
/// them, sorted as without the component. Needs `Msaa::Off`: a camera with more samples has one warning, and its surfaces are
/// sorted by mesh.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct OrderIndependentTransparencySettings {
    /// Number of fragments of a pixel that are sorted, the nearest ones; from 1 to 32. Those behind them are blended in the order
    /// of their meshes.
    pub sorted_fragment_max_count: u32,
    /// Number of fragments that there is memory for, 16 bytes each, for each pixel on average. Further ones are left out.
    pub fragments_per_pixel_average: f32,
    /// Fragments of which no channel, alpha included, reaches this value are left out.
    pub alpha_threshold: f32,
}

impl Default for OrderIndependentTransparencySettings {
    fn default() -> Self {
        Self {
            sorted_fragment_max_count: 8,
            fragments_per_pixel_average: 4.0,
            alpha_threshold: 0.0,
        }
    }
}

impl OrderIndependentTransparencySettings {
    /// Number of sorted fragments, within its range.
    pub(crate) fn sorted_count(&self) -> u32 {
        self.sorted_fragment_max_count.clamp(1, MAX_SORTED)
    }

    /// Number of fragments for this number of pixels. NaN is none.
    pub(crate) fn capacity(&self, pixels: u64) -> u64 {
        (pixels as f64 * f64::from(self.fragments_per_pixel_average)).ceil() as u64
    }
}

#[cfg(test)]
mod tests;
