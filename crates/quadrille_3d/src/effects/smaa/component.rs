//! [`Smaa`].

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Subpixel morphological antialiasing (SMAA 1x, Jimenez et al. 2012) of a 3D camera, with the field of bevy's component.
/// It blends the pixels beside edges of the finished picture by the areas that the edges cover; use it with `Msaa::Off`.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct Smaa {
    /// Quality.
    pub preset: SmaaPreset,
}

/// Quality of [`Smaa`], with the variants of bevy's type. Lengths of edges are found up to twice the number of steps on
/// each side of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, Hash, PartialEq)]
pub enum SmaaPreset {
    /// Four steps, edges from a difference of luma of 0.15 on; no diagonals and corners.
    Low,
    /// Eight steps, from a difference of 0.1 on; no diagonals and corners.
    Medium,
    /// 16 steps and 8 of diagonals, from a difference of 0.1 on, with corners.
    #[default]
    High,
    /// 32 steps and 8 of diagonals, from a difference of 0.05 on, with corners.
    Ultra,
}
