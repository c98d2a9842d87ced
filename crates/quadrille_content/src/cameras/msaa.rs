//! Multisampling of cameras.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Samples per pixel of a camera, with the values of bevy's component. bevy defines it in a crate that needs
/// `wgpu`.
///
/// The default is four, as in bevy. Sprites and glyphs have antialiased edges in their images, so in 2D only
/// outlines of meshes and rotated sprites gain, while every pixel costs four times the memory to write, blend and
/// resolve. UI nodes are never multisampled.
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
    /// Number of samples per pixel.
    pub fn samples(self) -> u32 {
        self as u32
    }
}
