//! Tone mapping of a camera, by bevy's name: bevy has it in a crate that needs `wgpu`.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// How the radiance of a scene becomes colours of a screen, with the names of bevy's type.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, Hash, PartialEq)]
pub enum Tonemapping {
    /// Nothing is done, [`ColorGrading`](crate::ColorGrading) and
    /// [`DebandDither`](crate::DebandDither) included: what is brighter than the screen is cut off.
    None,
    /// Colours stay what [`ColorGrading`](crate::ColorGrading) makes of them.
    Linear,
    /// `x / (1 + x)` of each channel: bright colours become white.
    Reinhard,
    /// The same of the luminance: bright colours stay what they are.
    ReinhardLuminance,
    /// The fit by Stephen Hill of the Academy's reference transform: contrast, warm highlights.
    AcesFitted,
    /// By Troy Sobotka: dull colours, hues that stay.
    AgX,
    /// By Tomasz Stachowiak: between the two of Reinhard.
    SomewhatBoringDisplayTransform,
    /// By Tomasz Stachowiak: hues that stay, no more contrast than there is. The default.
    #[default]
    TonyMcMapface,
    /// The film-like one of Blender 2.8 to 3.6.
    BlenderFilmic,
    /// Khronos' for products: colours below 0.8 stay exactly what they are.
    KhronosPbrNeutral,
}

impl Tonemapping {
    /// Whether anything is done.
    pub fn is_enabled(&self) -> bool {
        *self != Self::None
    }
}
