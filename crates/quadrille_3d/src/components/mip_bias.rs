//! Bias of mip levels of a camera.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::std_traits::ReflectDefault;

/// Bias of the mip levels of materials' textures under a camera, by bevy's name and default: -1 samples levels of twice the
/// resolution, for temporal effects, which average several frames. Values that are not finite are ignored, with a warning.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct MipBias(pub f32);

impl Default for MipBias {
    fn default() -> Self {
        Self(-1.0)
    }
}
