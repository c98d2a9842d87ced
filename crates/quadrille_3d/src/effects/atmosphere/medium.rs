//! Media of atmospheres as images: coefficients by altitude, and scattered light by altitude and angle, as in bevy.

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_color::LinearRgba;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_math::Vec3;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};
use quadrille::vulkan::{Error, Format};

/// Range of a medium's resolutions.
const RESOLUTIONS: [u32; 2] = [2, 2048];

/// Images of the media of this frame: coefficients and phases, in turn.
#[derive(Resource, Default, Deref)]
pub struct AtmosphereMedia3d(pub(super) Vec<GpuImage>);

/// Medium on the device.
#[derive(Clone)]
pub(super) struct Medium {
    pub(super) id: AssetId<ScatteringMedium>,
    /// Changes with the asset.
    pub(super) version: u64,
    /// Coefficients and phases; `None` if a value is no valid coefficient.
    pub(super) images: Option<[GpuImage; 2]>,
}

/// Media on the device.
#[derive(Resource, Default)]
pub(super) struct Media {
    entries: Vec<Medium>,
    last_version: u64,
}

impl Media {
    /// Drops all images.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Drops changed and removed media.
    pub(super) fn apply(&mut self, changes: &mut MessageReader<AssetEvent<ScatteringMedium>>) {
        for change in changes.read() {
            if let AssetEvent::Modified { id } | AssetEvent::Removed { id } = change {
                self.entries.retain(|medium| medium.id != *id);
            }
        }
    }

    /// Drops all but these media.
    pub(super) fn retain(&mut self, is_used: impl Fn(AssetId<ScatteringMedium>) -> bool) {
        self.entries.retain(|medium| is_used(medium.id));
    }

    /// Returns a medium, which is uploaded if it is new; `None` until its asset is loaded.
    pub(super) fn get(
        &mut self,
        id: AssetId<ScatteringMedium>,
        assets: &Assets<ScatteringMedium>,
        (gpu, uploads): (&GpuDevice, &mut Uploads),
    ) -> Result<Option<&Medium>, Error> {
        let known = self.entries.iter().position(|medium| medium.id == id);
        if let Some(at) = known {
            return Ok(self.entries.get(at));
        }
        let Some(asset) = assets.get(id) else {
            return Ok(None);
        };
        let images = match BakedMedium::new(asset) {
            Some(baked) => Some(baked.upload(gpu, uploads)?),
            None => None,
        };
        self.last_version += 1;
        self.entries.push(Medium {
            id,
            version: self.last_version,
            images,
        });
        Ok(self.entries.last())
    }
}

/// Texels of a medium's images.
pub(super) struct BakedMedium {
    /// Width of both images.
    falloff_resolution: u32,
    phase_resolution: u32,
    /// A row of absorption and a row of scattering coefficients, from the top of the atmosphere to the ground.
    densities: Vec<[f32; 4]>,
    /// Scattering coefficients times phase functions, a row for each angle.
    phases: Vec<[f32; 4]>,
}

impl BakedMedium {
    /// Samples the terms of a medium; `None` if a value is negative or not finite.
    ///
    /// Outer texels are the ends of the ranges, unlike bevy's, so that nothing is extrapolated at the ground.
    pub(super) fn new(medium: &ScatteringMedium) -> Option<Self> {
        let [least, most] = RESOLUTIONS;
        let falloff_resolution = medium.falloff_resolution.clamp(least, most);
        let phase_resolution = medium.phase_resolution.clamp(least, most);
        let unit = |index: u32, count: u32| index as f32 / (count - 1) as f32;
        let falloffs: Vec<Vec<f32>> = medium
            .terms
            .iter()
            .map(|term| {
                let texels = 0..falloff_resolution;
                texels
                    .map(|at| term.falloff.sample(unit(at, falloff_resolution)))
                    .collect()
            })
            .collect();
        let sum = |column: usize, of_term: &dyn Fn(usize) -> Vec3| -> [f32; 4] {
            let terms = falloffs.iter().enumerate();
            let sum: Vec3 = terms
                .map(|(at, falloff)| of_term(at) * falloff[column])
                .sum();
            sum.extend(0.0).to_array()
        };
        let columns = 0..falloff_resolution as usize;
        let absorption = columns
            .clone()
            .map(|column| sum(column, &|at| medium.terms[at].absorption));
        let scattering = columns
            .clone()
            .map(|column| sum(column, &|at| medium.terms[at].scattering));
        let densities: Vec<_> = absorption.chain(scattering).collect();
        let mut phases = Vec::with_capacity(columns.len() * phase_resolution as usize);
        for row in 0..phase_resolution {
            let cosine = row_cosine(unit(row, phase_resolution));
            // A phase function whose image is not loaded scatters nothing, as in bevy.
            let terms = medium.terms.iter();
            let of_terms: Vec<Vec3> = terms
                .map(|term| {
                    let phase = term.phase.sample(cosine).unwrap_or(LinearRgba::BLACK);
                    term.scattering * Vec3::new(phase.red, phase.green, phase.blue)
                })
                .collect();
            phases.extend(
                columns
                    .clone()
                    .map(|column| sum(column, &|at| of_terms[at])),
            );
        }
        let texels = densities.iter().chain(&phases).flatten();
        let is_valid = texels
            .clone()
            .all(|value| value.is_finite() && *value >= 0.0);
        is_valid.then_some(Self {
            falloff_resolution,
            phase_resolution,
            densities,
            phases,
        })
    }

    fn upload(&self, gpu: &GpuDevice, uploads: &mut Uploads) -> Result<[GpuImage; 2], Error> {
        let mut image = |name, rows: u32, texels: &[[f32; 4]]| {
            let size = [self.falloff_resolution, rows];
            let image =
                gpu.create_image(&ImageDesc::sampled(name, size, Format::R32G32B32A32_SFLOAT))?;
            uploads.write_image(&image, bytemuck::cast_slice(texels));
            Ok(image)
        };
        Ok([
            image("atmosphere densities", 2, &self.densities)?,
            image("atmosphere phases", self.phase_resolution, &self.phases)?,
        ])
    }
}

/// Cosine of a row of phases: forward and backward scattering have more rows, as in bevy.
fn row_cosine(unit: f32) -> f32 {
    let side = 2.0 * unit - 1.0;
    side.signum() * (1.0 - (1.0 - side.abs()).powi(2))
}

#[cfg(test)]
mod tests;
