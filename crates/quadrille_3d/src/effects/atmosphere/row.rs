//! Row of an atmosphere in a view.

use std::mem::offset_of;

use bevy_camera::Camera;
use bevy_light::Atmosphere;
use bevy_math::{DVec3, Mat4, Vec3};
use bevy_transform::components::GlobalTransform;
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;

use super::component::{AtmosphereMode, AtmosphereSettings};
use crate::scene::rows::LightAtmosphere;
use crate::tables::table::UNIFORM_BYTES;

/// Most directional lights of an atmosphere, as in bevy.
pub(super) const MAX_LIGHTS: usize = 10;

/// Most samples of a ray: more take a device too long for a frame.
const MAX_SAMPLES: u32 = 1024;

/// Lowest altitude of a camera in meters, as in bevy.
const MIN_ALTITUDE: f64 = 1.0;

/// Row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/atmosphere.wgsl", "Atmosphere")]
pub(crate) struct AtmosphereRow {
    ground_albedo: [f32; 3],
    inner_radius: f32,
    /// From the ground to the top.
    height: f32,
    transmittance_samples: u32,
    multiscattering_dirs: u32,
    multiscattering_samples: u32,
    /// Zenith of the camera.
    up: [f32; 3],
    /// Altitude of the camera.
    altitude: f32,
    /// Axes of azimuths at the camera.
    east: [f32; 3],
    sky_view_samples: u32,
    south: [f32; 3],
    light_count: u32,
    /// Directions to the lights; w is the angular diameter of the disk.
    light_directions: [[f32; 4]; MAX_LIGHTS],
    /// Illuminance times exposure; w is the factor of the disk.
    light_colors: [[f32; 4]; MAX_LIGHTS],
    /// From clip space to positions relative to the camera, with axes of the world.
    ray_from_clip: [f32; 16],
    forward: [f32; 3],
    is_orthographic: u32,
    /// Depth of the aerial-view LUT.
    aerial_distance: f32,
    aerial_samples: u32,
    /// Meters of the atmosphere per unit of the world.
    scale: f32,
    sky_samples: u32,
    /// Whether the sky is integrated per pixel.
    is_raymarched: u32,
    unused: u32,
    unused_pair: [u32; 2],
}

const _: () = assert!((size_of::<AtmosphereRow>() as u64).is_multiple_of(UNIFORM_BYTES));

/// Directional light of an atmosphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sun {
    pub(super) direction_to_light: Vec3,
    /// Illuminance times exposure.
    pub(super) color: Vec3,
    /// Angular diameter and factor of the disk.
    pub(super) disk: [f32; 2],
}

impl AtmosphereRow {
    /// Row of a planet without a view; `None` if its radii are not usable.
    pub(super) fn new(atmosphere: &Atmosphere, settings: &AtmosphereSettings) -> Option<Self> {
        let height = atmosphere.outer_radius - atmosphere.inner_radius;
        let is_valid = atmosphere.inner_radius > 0.0
            && height > 0.0
            && height.is_finite()
            && atmosphere.ground_albedo.is_finite()
            && settings.aerial_view_lut_max_distance > 0.0
            && settings.aerial_view_lut_max_distance.is_finite();
        let samples = |count: u32| count.clamp(1, MAX_SAMPLES);
        is_valid.then_some(Self {
            ground_albedo: atmosphere.ground_albedo.to_array(),
            inner_radius: atmosphere.inner_radius,
            height,
            transmittance_samples: samples(settings.transmittance_lut_samples),
            multiscattering_dirs: samples(settings.multiscattering_lut_dirs),
            multiscattering_samples: samples(settings.multiscattering_lut_samples),
            sky_view_samples: samples(settings.sky_view_lut_samples),
            aerial_distance: settings.aerial_view_lut_max_distance,
            aerial_samples: samples(settings.aerial_view_lut_samples),
            sky_samples: samples(settings.sky_max_samples),
            is_raymarched: u32::from(settings.rendering_method == AtmosphereMode::Raymarched),
            ..Self::zeroed()
        })
    }

    /// Adds the view of a camera of a planet with this transform, whose rotation has no effect. Returns whether all
    /// numbers are finite.
    pub(super) fn set_view(
        &mut self,
        planet: &GlobalTransform,
        (camera, transform): (&Camera, &GlobalTransform),
    ) -> bool {
        let (size, _, center) = planet.to_scale_rotation_translation();
        // Parts of a planet's size are equal: a sphere.
        let scale = 1.0 / f64::from(size.abs().element_sum() / 3.0);
        let from_center = (transform.translation().as_dvec3() - center.as_dvec3()) * scale;
        let up = from_center.try_normalize().unwrap_or(DVec3::Y);
        // Beside the axis of z, whose projection is rounding errors there.
        let reference = match up.z.abs() < 0.999_999 {
            true => DVec3::NEG_Z,
            false => DVec3::NEG_Y,
        };
        let south = (reference - up * up.dot(reference)).normalize_or_zero();
        let altitude = from_center.length() - f64::from(self.inner_radius);
        let clip_from_view = camera.clip_from_view();
        let mut world_from_view = transform.to_matrix();
        world_from_view.w_axis = bevy_math::Vec4::W;
        let ray_from_clip: Mat4 = world_from_view * clip_from_view.inverse();
        self.up = up.as_vec3().to_array();
        self.altitude = altitude.max(MIN_ALTITUDE) as f32;
        self.east = up.cross(south).as_vec3().to_array();
        self.south = south.as_vec3().to_array();
        self.ray_from_clip = ray_from_clip.to_cols_array();
        self.forward = Vec3::from(transform.forward()).to_array();
        self.is_orthographic = u32::from(clip_from_view.w_axis.w == 1.0);
        self.scale = scale as f32;
        let numbers = [self.altitude, self.scale];
        let vectors = [self.up, self.east, self.south, self.forward];
        let numbers = numbers.iter().chain(vectors.as_flattened());
        numbers.chain(&self.ray_from_clip).all(|it| it.is_finite())
    }

    /// Adds the lights.
    pub(super) fn set_suns(&mut self, suns: &[Sun]) {
        let suns = &suns[..suns.len().min(MAX_LIGHTS)];
        self.light_count = suns.len() as u32;
        for (at, sun) in suns.iter().enumerate() {
            let [size, factor] = sun.disk;
            self.light_directions[at] = sun.direction_to_light.extend(size).to_array();
            self.light_colors[at] = sun.color.extend(factor).to_array();
        }
    }

    /// Atmosphere of the directional lights of the view, with the index of the transmittance LUT.
    pub(super) fn sunlight(&self, texture: u32) -> LightAtmosphere {
        LightAtmosphere {
            zenith: self.up,
            altitude: self.altitude / self.scale,
            radius: self.inner_radius / self.scale,
            height: self.height / self.scale,
            texture,
        }
    }

    /// Part that LUTs of the medium depend on.
    pub(super) fn planet(&self) -> &[u8] {
        &bytemuck::bytes_of(self)[..offset_of!(Self, up)]
    }

    /// Part that the sky-view LUT depends on.
    pub(super) fn sky(&self) -> &[u8] {
        &bytemuck::bytes_of(self)[..offset_of!(Self, ray_from_clip)]
    }

    /// Part that the aerial-view LUT depends on.
    pub(super) fn view(&self) -> &[u8] {
        &bytemuck::bytes_of(self)[..offset_of!(Self, scale)]
    }
}

#[cfg(test)]
mod tests;
