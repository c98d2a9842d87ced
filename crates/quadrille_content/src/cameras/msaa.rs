//! How many samples the pixels of a camera have.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// How many samples the pixels of a camera have, with the values of bevy's component of this
/// name, which has it in a crate that needs `wgpu`.
///
/// Each camera has four unless it says otherwise, as in bevy. Sprites and glyphs have smooth edges in their
/// images, so in 2D what gains is the outline of meshes and of turned sprites, and the price is paid by
/// every pixel: four times the memory to write, blend and resolve. Nodes always have one.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub enum Msaa {
    /// One sample per pixel.
    Off = 1,
    /// Two samples per pixel.
    Sample2 = 2,
    /// Four samples per pixel.
    #[default]
    Sample4 = 4,
    /// Eight samples per pixel.
    Sample8 = 8,
}

impl Msaa {
    /// The number of samples.
    pub fn samples(self) -> u32 {
        self as u32
    }
}
