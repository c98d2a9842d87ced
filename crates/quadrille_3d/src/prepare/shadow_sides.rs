//! Sides of the shadow maps of point and spot lights, by the resolution at which cameras see what they light.

use bevy_light::{PointLight, SpotLight};
use bevy_math::{Mat4, Vec3, Vec4};
use bevy_transform::components::GlobalTransform;

/// Texels of a map for each pixel. Filters read three to five texels a side, which are then two pixels.
const TEXELS_PER_PIXEL: f32 = 2.0;

/// Least side in texels, unless the app's setting is smaller.
const LEAST_SIDE: u32 = 64;

/// Resolution of a camera.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewResolution {
    /// Row of the camera's matrix that gives the depth of a position, `w` in clip space.
    depth: Vec4,
    /// Pixels of a unit of length at depth 1.
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
    /// Resolution of a camera with a picture of `size` pixels.
    pub(crate) fn new(clip_from_world: &Mat4, size: [u32; 2]) -> Self {
        let pixels = |row: usize| {
            let axis = clip_from_world.row(row).truncate();
            0.5 * axis.length() * size[row] as f32
        };
        Self {
            depth: clip_from_world.row(3),
            pixels: pixels(0).max(pixels(1)),
        }
    }

    /// Pixels of a unit of length at the nearest point of a region: 0 if it is behind the camera, infinite around it.
    fn pixels_per_unit(&self, region: &LitRegion) -> f32 {
        let middle = self.depth.dot(region.center.extend(1.0));
        let reach = self.depth.truncate().length() * region.range;
        match middle + reach <= 0.0 {
            true => 0.0,
            false => self.pixels / (middle - reach).max(0.0),
        }
    }
}

impl LitRegion {
    /// Sixth of a point light's surroundings.
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

    /// Side of the map: `full`, halved while a texel at the end of the range stays smaller than half a pixel of each
    /// camera. Nearer to the light texels are smaller.
    pub(crate) fn side(&self, full: u32, views: &[ViewResolution]) -> u32 {
        let width = self.range * self.width_at_unit_distance();
        let suffices = |side: u32| {
            side >= LEAST_SIDE
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
