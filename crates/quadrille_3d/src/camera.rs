//! What 3D cameras do to a picture, by bevy's names: bevy has these in crates that need `wgpu`.

use bevy_camera::Camera3d;
use bevy_color::Color;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;

/// How the radiance of a scene becomes colours of a screen, with the names of bevy's type.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

/// Fog that becomes denser with the distance to the camera: bevy's component by name and field.
#[derive(Component, Clone, Debug)]
#[require(Camera3d)]
pub struct DistanceFog {
    /// Its colour; alpha is the most that it covers.
    pub color: Color,
    /// The colour of directional lights seen through it; alpha is how much.
    pub directional_light_color: Color,
    /// How close to the light's direction that is: 8 and more is plausible.
    pub directional_light_exponent: f32,
    /// How much it covers at which distance.
    pub falloff: FogFalloff,
}

impl Default for DistanceFog {
    /// White fog that covers all from a distance of 100 on.
    fn default() -> Self {
        Self {
            color: Color::WHITE,
            directional_light_color: Color::NONE,
            directional_light_exponent: 8.0,
            falloff: FogFalloff::Linear {
                start: 0.0,
                end: 100.0,
            },
        }
    }
}

/// How much fog covers at which distance, as bevy has it.
#[derive(Clone, Debug, PartialEq)]
pub enum FogFalloff {
    /// From nothing to all between two distances.
    Linear {
        /// Where it begins.
        start: f32,
        /// From where on it covers all.
        end: f32,
    },
    /// `1 - exp(-density * distance)`.
    Exponential {
        /// Per unit of length.
        density: f32,
    },
    /// `1 - exp(-(density * distance)^2)`.
    ExponentialSquared {
        /// Per unit of length.
        density: f32,
    },
    /// What lies behind becomes darker by one density of each channel, and the fog's colour
    /// brighter by another.
    Atmospheric {
        /// Per unit of length.
        extinction: Vec3,
        /// Per unit of length.
        inscattering: Vec3,
    },
}
