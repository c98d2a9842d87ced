//! Atmospheres in double precision, and LUTs of the device.

use std::f64::consts::PI;

use bevy_light::atmosphere::ScatteringMedium;
use bevy_math::DVec3;
use quadrille::prelude::{GpuImage, Readback};
use quadrille_3d::resources::AtmosphereLuts3d;

use crate::common::Rig;

/// Planet with a medium.
pub(crate) struct Planet {
    pub(crate) inner: f64,
    pub(crate) height: f64,
    pub(crate) albedo: f64,
    pub(crate) medium: ScatteringMedium,
}

impl Planet {
    /// Radii and albedo of earth.
    pub(crate) fn new(medium: ScatteringMedium) -> Self {
        Self {
            inner: 6_360_000.0,
            height: 100_000.0,
            albedo: 0.3,
            medium,
        }
    }

    /// Absorption and scattering coefficients.
    pub(crate) fn coefficients(&self, altitude: f64) -> [DVec3; 2] {
        let from_top = 1.0 - altitude / self.height;
        let mut sums = [DVec3::ZERO; 2];
        if from_top < 0.0 {
            return sums;
        }
        for term in &self.medium.terms {
            let part = f64::from(term.falloff.sample(from_top.min(1.0) as f32));
            sums[0] += term.absorption.as_dvec3() * part;
            sums[1] += term.scattering.as_dvec3() * part;
        }
        sums
    }

    /// Scattering coefficient times phase function.
    pub(crate) fn phase(&self, altitude: f64, cosine: f64) -> DVec3 {
        let from_top = (1.0 - altitude / self.height).min(1.0) as f32;
        let terms = self.medium.terms.iter();
        let of_terms = terms.filter_map(|term| {
            let phase = term.phase.sample(cosine as f32)?;
            let phase = DVec3::new(phase.red.into(), phase.green.into(), phase.blue.into());
            Some(term.scattering.as_dvec3() * phase * f64::from(term.falloff.sample(from_top)))
        });
        of_terms.sum()
    }

    pub(crate) fn altitude_along(&self, altitude: f64, mu: f64, t: f64) -> f64 {
        let radius = self.inner + altitude;
        (radius * radius + t * (2.0 * radius * mu + t)).sqrt() - self.inner
    }

    /// Cosine of the zenith angle at a distance along a ray, of a direction with a cosine at its origin and another to the
    /// ray.
    pub(crate) fn mu_along(&self, (altitude, mu, t): (f64, f64, f64), of: f64, to_ray: f64) -> f64 {
        let end = self.inner + self.altitude_along(altitude, mu, t);
        ((self.inner + altitude) * of + t * to_ray) / end
    }

    pub(crate) fn hits_ground(&self, altitude: f64, mu: f64) -> bool {
        let b = (self.inner + altitude) * mu;
        b < 0.0 && b * b >= altitude * (altitude + 2.0 * self.inner)
    }

    /// Distance to the ground or the top.
    pub(crate) fn end(&self, altitude: f64, mu: f64) -> f64 {
        let radius = self.inner + altitude;
        let b = radius * mu;
        if self.hits_ground(altitude, mu) {
            let c = altitude * (altitude + 2.0 * self.inner);
            return -b - (b * b - c).max(0.0).sqrt();
        }
        let outer = self.inner + self.height;
        (b * b + outer * outer - radius * radius).max(0.0).sqrt() - b
    }

    /// Optical depth of a ray up to a distance, by midpoints.
    pub(crate) fn optical_depth(&self, altitude: f64, mu: f64, end: f64, steps: u32) -> DVec3 {
        let sum: DVec3 = (0..steps)
            .map(|step| {
                let x = (f64::from(step) + 0.5) / f64::from(steps);
                let [absorption, scattering] =
                    self.coefficients(self.altitude_along(altitude, mu, end * x * x));
                (absorption + scattering) * 2.0 * x
            })
            .sum();
        sum * end / f64::from(steps)
    }

    /// Transmittance to the top; zero if the ground is in between.
    pub(crate) fn transmittance(&self, altitude: f64, mu: f64, steps: u32) -> DVec3 {
        if self.hits_ground(altitude.max(0.0), mu) {
            return DVec3::ZERO;
        }
        let end = self.end(altitude, mu);
        (-self.optical_depth(altitude, mu, end, steps)).map(f64::exp)
    }

    /// Light of second order, and the part of light from everywhere that is scattered, for an illuminance of 1 with a
    /// cosine to the zenith: averages over directions.
    pub(crate) fn orders(&self, altitude: f64, mu_light: f64) -> [DVec3; 2] {
        const DIRECTIONS: u32 = 256;
        const STEPS: u32 = 60;
        let mut sums = [DVec3::ZERO; 2];
        for index in 0..DIRECTIONS {
            // Fibonacci sphere.
            let mu = 1.0 - (2.0 * f64::from(index) + 1.0) / f64::from(DIRECTIONS);
            let azimuth = f64::from(index) * PI * (3.0 - 5f64.sqrt());
            let level = ((1.0 - mu * mu) * (1.0 - mu_light * mu_light)).sqrt();
            let to_ray = mu * mu_light + level * azimuth.cos();
            let end = self.end(altitude, mu);
            let step = end / f64::from(STEPS);
            let mut throughput = DVec3::ONE;
            for at in 0..STEPS {
                let t = (f64::from(at) + 0.5) * step;
                let high = self.altitude_along(altitude, mu, t).max(0.0);
                let [absorption, scattering] = self.coefficients(high);
                let passed = (-(absorption + scattering) * step * 0.5).map(f64::exp);
                let scattered = throughput * passed * scattering * step;
                let mu_here = self.mu_along((altitude, mu, t), mu_light, to_ray);
                sums[0] += scattered * self.transmittance(high, mu_here, 40) / (4.0 * PI);
                sums[1] += scattered;
                throughput *= passed * passed;
            }
            if self.hits_ground(altitude, mu) {
                let mu_here = self.mu_along((altitude, mu, end), mu_light, to_ray);
                let light = self.transmittance(0.0, mu_here, 40) * mu_here.max(0.0);
                sums[0] += throughput * light * self.albedo / PI;
            }
        }
        sums.map(|sum| sum / f64::from(DIRECTIONS))
    }

    /// Light that a ray scatters to its origin up to a distance, per illuminance, with multiple scattering of a LUT.
    pub(crate) fn scattered(
        &self,
        (altitude, up): (f64, DVec3),
        (direction, to_light): (DVec3, DVec3),
        end: f64,
        multiscattering: &Lut,
    ) -> DVec3 {
        const STEPS: u32 = 200;
        let (mu, mu_light) = (up.dot(direction), up.dot(to_light));
        let cosine = direction.dot(to_light);
        let step = end / f64::from(STEPS);
        let mut depth = DVec3::ZERO;
        let mut sum = DVec3::ZERO;
        for at in 0..STEPS {
            let t = (f64::from(at) + 0.5) * step;
            let high = self.altitude_along(altitude, mu, t).max(0.0);
            let [absorption, scattering] = self.coefficients(high);
            let here = self.mu_along((altitude, mu, t), mu_light, cosine);
            let single = self.transmittance(high, here, 60) * self.phase(high, cosine);
            let multiple = multiscattering.at(0.5 + 0.5 * here, high / self.height) * scattering;
            let passed = (-(depth + (absorption + scattering) * step * 0.5)).map(f64::exp);
            sum += passed * (single + multiple) * step;
            depth += (absorption + scattering) * step;
        }
        sum
    }
}

/// LUT of the device.
pub(crate) struct Lut {
    size: [usize; 2],
    texels: Vec<DVec3>,
}

/// Names of the LUTs that are allocated.
pub(crate) fn lut_names(rig: &Rig) -> Vec<String> {
    let luts = rig.app.world().resource::<AtmosphereLuts3d>();
    luts.iter().map(|image| image.name().to_owned()).collect()
}

/// Reads back a LUT.
pub(crate) fn read_lut(rig: &mut Rig, name: &str) -> Lut {
    let luts = rig.app.world().resource::<AtmosphereLuts3d>();
    let named = |image: &&GpuImage| image.name() == name;
    let image = luts.iter().find(named).expect("it is there").clone();
    let done = rig.read_back(Readback::image(&image));
    let halves: Vec<f64> = done
        .bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&bytes| half::f16::from_le_bytes(bytes).to_f64())
        .collect();
    let texels = halves.as_chunks::<4>().0.iter();
    let [width, height, _] = image.extent();
    Lut {
        size: [width as usize, height as usize],
        texels: texels.map(|&[x, y, z, _]| DVec3::new(x, y, z)).collect(),
    }
}

impl Lut {
    /// Bilinear sample, where 0 and 1 are centers of texels.
    pub(crate) fn at(&self, u: f64, v: f64) -> DVec3 {
        let [width, height] = self.size;
        let [x, y] = [u * (width - 1) as f64, v * (height - 1) as f64];
        let (left, top) = (x.floor() as usize, y.floor() as usize);
        let (right, bottom) = ((left + 1).min(width - 1), (top + 1).min(height - 1));
        let texel = |x: usize, y: usize| self.texels[y * width + x];
        let upper = texel(left, top).lerp(texel(right, top), x.fract());
        let lower = texel(left, bottom).lerp(texel(right, bottom), x.fract());
        upper.lerp(lower, y.fract())
    }

    /// Sample of the transmittance LUT.
    pub(crate) fn transmittance(&self, planet: &Planet, altitude: f64, mu: f64) -> DVec3 {
        let rise = |altitude: f64| (altitude * (altitude + 2.0 * planet.inner)).sqrt();
        let (rho, horizon) = (rise(altitude), rise(planet.height));
        let nearest = planet.height - altitude;
        let far = rho + horizon;
        let u = (planet.end(altitude, mu) - nearest) / (far - nearest);
        self.at(u.clamp(0.0, 1.0), rho / horizon)
    }
}
