//! Sides of the shadow maps of point and spot lights, by the resolution at which cameras see what they light.

use bevy_light::{PointLight, SpotLight};
use bevy_math::{Mat4, Vec3};
use bevy_transform::components::GlobalTransform;

/// Minimum number of texels for each pixel: filters read up to five texels a side, and surfaces at an angle to the light
/// stretch them.
const TEXELS_PER_PIXEL: f32 = 4.0;

/// Minimum side in texels, unless the app's setting is smaller.
const MIN_SIDE: u32 = 64;

/// Resolution of a camera. It does not depend on the direction in which the camera looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewResolution {
    /// Position of a camera with perspective.
    eye: Option<Vec3>,
    /// Pixels of a unit of length: at distance 1 with perspective, everywhere without.
    pixels: f32,
}

/// Region that a shadow map covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LitRegion {
    /// Position of the light.
    center: Vec3,
    /// Range of the light.
    range: f32,
    /// Tangent of half the angle that the map covers.
    half_angle_tangent: f32,
}

impl ViewResolution {
    /// Resolution of a camera at `eye` with a picture of `size` pixels.
    pub(crate) fn new(clip_from_world: &Mat4, eye: Vec3, size: [u32; 2]) -> Self {
        let pixels = |row: usize| {
            let axis = clip_from_world.row(row).truncate();
            0.5 * axis.length() * size[row] as f32
        };
        let depth = clip_from_world.row(3);
        let scale = depth.truncate().length();
        let has_perspective = scale > 0.0;
        let unit = if has_perspective { scale } else { depth.w };
        Self {
            eye: has_perspective.then_some(eye),
            pixels: pixels(0).max(pixels(1)) / unit,
        }
    }

    /// Pixels of a unit of length at the nearest point of a region; infinite in it.
    fn pixels_per_unit(&self, region: &LitRegion) -> f32 {
        match self.eye {
            Some(eye) => self.pixels / (eye.distance(region.center) - region.range).max(0.0),
            None => self.pixels,
        }
    }
}

impl LitRegion {
    /// Sixth of the region around a point light.
    pub(crate) fn of_point_face(light: &PointLight, transform: &GlobalTransform) -> Self {
        Self {
            center: transform.translation(),
            range: light.range,
            half_angle_tangent: 1.0,
        }
    }

    /// Cone of a spot light.
    pub(crate) fn of_spot(light: &SpotLight, transform: &GlobalTransform) -> Self {
        Self {
            center: transform.translation(),
            range: light.range,
            half_angle_tangent: light.outer_angle.tan(),
        }
    }

    /// Width of what the map covers at distance 1 from the light.
    pub(crate) fn width_at_unit_distance(&self) -> f32 {
        2.0 * self.half_angle_tangent
    }

    /// Side of the map: `full`, halved while each camera sees [`TEXELS_PER_PIXEL`] at the end of the range. Nearer to the
    /// light texels are smaller.
    pub(crate) fn side(&self, full: u32, views: &[ViewResolution]) -> u32 {
        let width = self.range * self.width_at_unit_distance();
        let suffices = |side: u32| {
            side >= MIN_SIDE
                && views.iter().all(|view| {
                    TEXELS_PER_PIXEL * width * view.pixels_per_unit(self) <= side as f32
                })
        };
        let mut side = full;
        while suffices(side / 2) {
            side /= 2;
        }
        side
    }
}

#[cfg(test)]
#[path = "shadow_sides_tests.rs"]
mod tests;
