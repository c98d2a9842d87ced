//! Row of a fog volume in a view.

use bevy_color::{Color, ColorToComponents as _};
use bevy_light::{FogVolume, VolumetricFog};
use bevy_math::{Affine3A, Vec3A};
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille_content::affine::affine_rows;

use crate::constants::FOG_HAS_TEXTURE;
use crate::tables::table::UNIFORM_BYTES;

/// Row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/volumetric_fog.wgsl", "FogVolume")]
pub(crate) struct FogVolumeRow {
    /// Rows of the affine matrix from the world to the box, whose sides are 1.
    local_from_world: [[f32; 4]; 3],
    fog_color: [f32; 3],
    density: f32,
    /// With the factor of light.
    light_tint: [f32; 3],
    bounding_radius: f32,
    /// Color times intensity.
    ambient: [f32; 3],
    step_count: u32,
    texture_offset: [f32; 3],
    absorption: f32,
    scattering: f32,
    asymmetry: f32,
    jitter: f32,
    flags: u32,
    /// Range in the list of volumetric lights.
    first_light: u32,
    light_count: u32,
    unused_pair: [u32; 2],
    unused: [[u32; 4]; 7],
}

const _: () = assert!(size_of::<FogVolumeRow>() == UNIFORM_BYTES as usize);

/// Most steps of a ray: more take a device too long for a frame.
const MAX_STEPS: u32 = 1024;

/// Largest absolute asymmetry: the phase function is infinite at 1.
const MAX_ASYMMETRY: f32 = 0.999;

/// Zero in place of negative numbers.
fn not_negative(number: f32) -> f32 {
    // Unlike `max`, this keeps NaN, of which there is a warning.
    number.clamp(0.0, f32::INFINITY)
}

impl FogVolumeRow {
    /// Row of a volume with this transform; `lights`: first of the view's volumetric lights, and their number.
    pub(super) fn new(
        (volume, world_from_local): (&FogVolume, Affine3A),
        fog: &VolumetricFog,
        (first_light, light_count): (u32, u32),
    ) -> Self {
        let linear = |color: Color| color.to_linear().to_f32_array_no_alpha();
        let times = |color: Color, factor| linear(color).map(|channel| channel * factor);
        Self {
            local_from_world: affine_rows(world_from_local.inverse()),
            fog_color: linear(volume.fog_color),
            density: not_negative(volume.density_factor),
            light_tint: times(volume.light_tint, volume.light_intensity),
            bounding_radius: world_from_local
                .transform_vector3a(Vec3A::splat(0.5))
                .length(),
            ambient: times(fog.ambient_color, fog.ambient_intensity),
            step_count: fog.step_count.min(MAX_STEPS),
            texture_offset: volume.density_texture_offset.to_array(),
            absorption: not_negative(volume.absorption),
            scattering: not_negative(volume.scattering),
            asymmetry: volume
                .scattering_asymmetry
                .clamp(-MAX_ASYMMETRY, MAX_ASYMMETRY),
            jitter: fog.jitter,
            flags: match volume.density_texture {
                Some(_) => FOG_HAS_TEXTURE,
                None => 0,
            },
            first_light,
            light_count,
            ..Self::zeroed()
        }
    }

    /// Numbers that come from components, with their names.
    pub(super) fn numbers(&self) -> [(&'static str, &[f32]); 7] {
        [
            ("inverse transform", self.local_from_world.as_flattened()),
            ("fog color", &self.fog_color),
            ("light tint times intensity", &self.light_tint),
            ("ambient color times intensity", &self.ambient),
            ("density texture offset", &self.texture_offset),
            ("size", std::slice::from_ref(&self.bounding_radius)),
            ("jitter", std::slice::from_ref(&self.jitter)),
        ]
    }

    /// Density, absorption, scattering and asymmetry.
    pub(super) fn coefficients(&self) -> [f32; 4] {
        [
            self.density,
            self.absorption,
            self.scattering,
            self.asymmetry,
        ]
    }
}
