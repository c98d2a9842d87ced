//! How much of the light from all directions a rough surface mirrors: the integral of the GGX lobe
//! over all directions, by the angle of sight and the roughness.
//!
//! With Fresnel's factor by Schlick, `f0 + (1 - f0) (1 - cos)^5`, what is mirrored is
//! `f0 * scale + bias`. The table has both; for `f0 = 1` their sum is all that one bounce returns,
//! and what it lacks to 1 is what further bounces would return, which the shader adds
//! ("Physically Based Rendering in Filament", section 5.3.4.7).

use std::f64::consts::PI;
use std::sync::OnceLock;

use half::f16;

/// Steps of the angle and of the roughness.
pub(crate) const SIDE: usize = 32;

/// Directions per entry.
const DIRECTIONS: u32 = 1024;

/// The smallest cosine and roughness: below, the integral needs more directions than there are.
const LEAST: f64 = 1e-3;

/// Scale and bias as half floats, a row for each perceptual roughness from 0 to 1, in each the cosines from 0
/// to 1, both ends included.
pub(crate) fn table() -> &'static [[u16; 2]] {
    static TABLE: OnceLock<Vec<[u16; 2]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let at = |step: usize| (step as f64 / (SIDE - 1) as f64).max(LEAST);
        let entry = |index: usize| scale_and_bias(at(index % SIDE), at(index / SIDE));
        (0..SIDE * SIDE)
            .map(entry)
            .map(|entry| entry.map(|number| f16::from_f64(number).to_bits()))
            .collect()
    })
}

/// The integral by important directions: those that the lobe prefers.
pub(crate) fn scale_and_bias(cos_view: f64, perceptual_roughness: f64) -> [f64; 2] {
    let alpha = perceptual_roughness * perceptual_roughness;
    let view = [(1.0 - cos_view * cos_view).sqrt(), cos_view];
    let mut sum = [0.0; 2];
    for index in 0..DIRECTIONS {
        let u = (f64::from(index) + 0.5) / f64::from(DIRECTIONS);
        let v = f64::from(index.reverse_bits()) / f64::from(u32::MAX);
        let cos_half = ((1.0 - v) / (1.0 + (alpha * alpha - 1.0) * v)).sqrt();
        let sin_half = (1.0 - cos_half * cos_half).max(0.0).sqrt();
        // The view has no part across.
        let half_x = sin_half * (2.0 * PI * u).cos();
        let view_half = view[0] * half_x + view[1] * cos_half;
        let cos_light = 2.0 * view_half * cos_half - cos_view;
        if cos_light <= 0.0 || view_half <= 0.0 {
            continue;
        }
        let weight =
            4.0 * visibility(cos_view, cos_light, alpha) * cos_light * view_half / cos_half;
        let fresnel = (1.0 - view_half).powi(5);
        sum[0] += weight * (1.0 - fresnel);
        sum[1] += weight * fresnel;
    }
    sum.map(|sum| sum / f64::from(DIRECTIONS))
}

/// Smith's masking and shadowing, correlated by height, over `4 cos cos`.
pub(crate) fn visibility(cos_view: f64, cos_light: f64, alpha: f64) -> f64 {
    let square = alpha * alpha;
    let part = |a: f64, b: f64| a * (b * b * (1.0 - square) + square).sqrt();
    0.5 / (part(cos_light, cos_view) + part(cos_view, cos_light))
}

#[cfg(test)]
mod tests;
