//! Contact shadows of a camera.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

use crate::components::prepass::DepthPrepass;

/// Contact shadows of a 3D camera, with the fields and defaults of bevy's component: short rays through the depth of the
/// picture, towards lights with `contact_shadows_enabled`. They add what shadow maps are too coarse for.
///
/// Needs `Msaa::Off`: a camera with more samples has one warning, and no contact shadows.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(DepthPrepass)]
pub struct ContactShadows {
    /// Number of steps of a ray, at most 256.
    pub linear_steps: u32,
    /// Thickness of all objects in meters, behind which rays pass.
    pub thickness: f32,
    /// Length of a ray in meters.
    pub length: f32,
}

impl Default for ContactShadows {
    fn default() -> Self {
        Self {
            linear_steps: 16,
            thickness: 0.1,
            length: 0.3,
        }
    }
}

impl ContactShadows {
    /// Parameters in rows of views. NaN is 0.
    pub(crate) fn row(&self) -> [f32; 4] {
        let steps = self.linear_steps.min(256) as f32;
        [steps, self.thickness.max(0.0), self.length.max(0.0), 0.0]
    }
}
