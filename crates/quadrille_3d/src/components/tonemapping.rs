//! Tone mapping of a camera. bevy defines this component in a crate that needs `wgpu`.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Tone mapping operator of a camera, with the variants of bevy's type.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, Hash, PartialEq)]
pub enum Tonemapping {
    /// No tone mapping, color grading ([`ColorGrading`](crate::ColorGrading)) or dithering
    /// ([`DebandDither`](crate::DebandDither)): values above 1 are clipped.
    None,
    /// Color grading ([`ColorGrading`](crate::ColorGrading)) without tone mapping.
    Linear,
    /// Reinhard, `x / (1 + x)` per channel: bright colors desaturate.
    Reinhard,
    /// Reinhard on luminance: bright colors keep their hue and saturation.
    ReinhardLuminance,
    /// Stephen Hill's fit of the ACES reference transform: high contrast, warm highlights.
    AcesFitted,
    /// AgX by Troy Sobotka: neutral, low saturation, stable hues.
    AgX,
    /// Tomasz Stachowiak's blend between both Reinhard operators.
    SomewhatBoringDisplayTransform,
    /// Tony McMapface by Tomasz Stachowiak: neutral, stable hues. The default.
    #[default]
    TonyMcMapface,
    /// Filmic view transform of Blender 2.8 to 3.6.
    BlenderFilmic,
    /// Khronos PBR Neutral, for product photography: colors below 0.8 are unchanged.
    KhronosPbrNeutral,
}

impl Tonemapping {
    /// Whether this is not [`Self::None`].
    pub fn is_enabled(&self) -> bool {
        *self != Self::None
    }
}
