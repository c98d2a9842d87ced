//! [`ScreenSpaceReflections`].

use std::ops::Range;

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::prelude::ShaderType;

use crate::components::deferred::DeferredPrepass;
use crate::components::prepass::DepthPrepass;

/// Reflections of what a 3D camera sees, with the fields and defaults of bevy's component: deferred surfaces mirror the
/// opaque surfaces of the picture, instead of the environment map behind these.
///
/// A ray of each pixel is marched through the depth of the view, in the direction of a random microfacet. It misses what is
/// hidden or out of the view: there the environment maps of the camera and of probes remain. Rough surfaces are noisy, which
/// [`TemporalAntiAliasing`](crate::TemporalAntiAliasing) averages.
///
/// Needs `Msaa::Off`: a camera with more samples is shaded forward, with one warning, and has no reflections. Only materials in the G-buffer
/// reflect ([`DeferredPrepass`]); these, forward ones and the skybox are reflected.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(DepthPrepass, DeferredPrepass)]
#[doc(alias = "Ssr")]
pub struct ScreenSpaceReflections {
    /// Range of perceptual roughness in which reflections fade in.
    pub min_perceptual_roughness: Range<f32>,
    /// Range of perceptual roughness in which reflections fade out.
    pub max_perceptual_roughness: Range<f32>,
    /// Thickness of all surfaces in meters, behind which rays pass.
    pub thickness: f32,
    /// Number of steps of a ray on the screen, from 2 to 1024, before a hit is refined. At most one per pixel is taken.
    pub linear_steps: u32,
    /// Exponent of the distances of steps: above 1 they are shorter near the surface, and longer far from it.
    pub linear_march_exponent: f32,
    /// Range of distances from the edges of the screen in which reflections fade in, in parts of its sides.
    pub edge_fadeout: Range<f32>,
    /// Number of bisections that refine a hit, up to 32.
    pub bisection_steps: u32,
    /// Whether one step of the secant method follows the bisections.
    pub use_secant: bool,
}

impl Default for ScreenSpaceReflections {
    fn default() -> Self {
        Self {
            min_perceptual_roughness: 0.08..0.12,
            max_perceptual_roughness: 0.55..0.6,
            thickness: 0.25,
            linear_steps: 10,
            linear_march_exponent: 1.0,
            edge_fadeout: 0.0..0.0,
            bisection_steps: 5,
            use_secant: true,
        }
    }
}

/// Uniform of the shader.
#[derive(Debug, PartialEq, ShaderType)]
pub struct SsrUniform {
    min_perceptual_roughness: [f32; 2],
    max_perceptual_roughness: [f32; 2],
    edge_fadeout: [f32; 2],
    thickness: f32,
    linear_march_exponent: f32,
    linear_steps: u32,
    bisection_steps: u32,
    use_secant: u32,
    unused: u32,
}

/// Ends of a range from 0 to 1. NaN is 0.
fn ends(range: &Range<f32>) -> [f32; 2] {
    [range.start, range.end].map(|end| if end > 0.0 { end.min(1.0) } else { 0.0 })
}

impl ScreenSpaceReflections {
    /// Settings for the shader, within bounds. NaN is 0, and an exponent of NaN is 1.
    pub(super) fn uniform(&self) -> SsrUniform {
        let exponent = match self.linear_march_exponent.is_nan() {
            true => 1.0,
            false => self.linear_march_exponent.clamp(0.01, 100.0),
        };
        SsrUniform {
            min_perceptual_roughness: ends(&self.min_perceptual_roughness),
            max_perceptual_roughness: ends(&self.max_perceptual_roughness),
            edge_fadeout: ends(&self.edge_fadeout),
            thickness: self.thickness.max(0.0),
            linear_march_exponent: exponent,
            linear_steps: self.linear_steps.clamp(2, 1024),
            bisection_steps: self.bisection_steps.min(32),
            use_secant: u32::from(self.use_secant),
            unused: 0,
        }
    }

    /// Least and greatest perceptual roughness of surfaces with reflections.
    pub(super) fn reflected_roughness(&self) -> [f32; 2] {
        let uniform = self.uniform();
        [
            uniform.min_perceptual_roughness[0],
            uniform.max_perceptual_roughness[1],
        ]
    }
}

#[cfg(test)]
mod tests;
