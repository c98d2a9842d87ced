//! The component of tone mapping. bevy defines it in a crate that needs `wgpu`.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

use crate::constants::{
    ACES_FITTED, AGX, BLENDER_FILMIC, KHRONOS_PBR_NEUTRAL, REINHARD, REINHARD_LUMINANCE,
    SOMEWHAT_BORING_DISPLAY_TRANSFORM, TONEMAPPING_NONE, TONY_MC_MAPFACE,
};

/// Tone mapping operator of a camera, with the variants of bevy's type.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, Hash, PartialEq)]
pub enum Tonemapping {
    /// No tone mapping, color grading ([`ColorGrading`](crate::ColorGrading)) or dithering
    /// ([`DebandDither`](crate::DebandDither)): values above 1 are clipped.
    None = TONEMAPPING_NONE as isize,
    /// Color grading ([`ColorGrading`](crate::ColorGrading)) without tone mapping.
    Linear,
    /// Reinhard, `x / (1 + x)` per channel: bright colors desaturate.
    Reinhard = REINHARD as isize,
    /// Reinhard on luminance: bright colors keep their hue and saturation.
    ReinhardLuminance = REINHARD_LUMINANCE as isize,
    /// Stephen Hill's fit of the ACES reference transform: high contrast, warm highlights.
    AcesFitted = ACES_FITTED as isize,
    /// AgX by Troy Sobotka: neutral, low saturation, stable hues.
    AgX = AGX as isize,
    /// Tomasz Stachowiak's blend between both Reinhard operators.
    SomewhatBoringDisplayTransform = SOMEWHAT_BORING_DISPLAY_TRANSFORM as isize,
    /// Tony McMapface by Tomasz Stachowiak: neutral, stable hues. The default.
    #[default]
    TonyMcMapface = TONY_MC_MAPFACE as isize,
    /// Filmic view transform of Blender 2.8 to 3.6.
    BlenderFilmic = BLENDER_FILMIC as isize,
    /// Khronos PBR Neutral, for product photography: colors below 0.8 are unchanged.
    KhronosPbrNeutral = KHRONOS_PBR_NEUTRAL as isize,
}

impl Tonemapping {
    /// Whether this is not [`Self::None`].
    pub fn is_enabled(&self) -> bool {
        *self != Self::None
    }
}
