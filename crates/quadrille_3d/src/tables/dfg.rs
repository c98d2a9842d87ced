//! DFG term: directional albedo of the GGX lobe by `n_dot_v` and perceptual roughness (Karis 2013).
//!
//! With Schlick's Fresnel term, `f0 + (1 - f0) (1 - cos)^5`, the albedo is `f0 * scale + bias`; the table has scale and
//! bias. Their sum is the single-scattering albedo for `f0 = 1`; the shader compensates the remaining multiple
//! scattering ("Physically Based Rendering in Filament", section 5.3.4.7).

use std::f64::consts::PI;
use std::sync::OnceLock;

use half::f16;

use crate::constants::DFG_LUT_SIZE;

/// Entries along each axis.
pub(crate) const LUT_SIZE: usize = DFG_LUT_SIZE as usize;

/// Samples per entry.
const SAMPLE_COUNT: u32 = 1024;

/// Least cosine and roughness: below, the samples do not suffice.
const MIN_INPUT: f64 = 1e-3;

/// Returns scale and bias as half floats: rows by perceptual roughness, columns by `n_dot_v`, each from 0 to 1
/// inclusive.
pub(crate) fn table() -> &'static [[u16; 2]] {
    static TABLE: OnceLock<Vec<[u16; 2]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let at = |step: usize| (step as f64 / (LUT_SIZE - 1) as f64).max(MIN_INPUT);
        let entry = |index: usize| integrate_dfg(at(index % LUT_SIZE), at(index / LUT_SIZE));
        (0..LUT_SIZE * LUT_SIZE)
            .map(entry)
            .map(|entry| entry.map(|number| f16::from_f64(number).to_bits()))
            .collect()
    })
}

/// Integrates scale and bias by importance sampling of GGX.
pub(crate) fn integrate_dfg(n_dot_v: f64, perceptual_roughness: f64) -> [f64; 2] {
    let alpha = perceptual_roughness * perceptual_roughness;
    let view = [(1.0 - n_dot_v * n_dot_v).sqrt(), n_dot_v];
    let mut sum = [0.0; 2];
    for index in 0..SAMPLE_COUNT {
        let u = (f64::from(index) + 0.5) / f64::from(SAMPLE_COUNT);
        let v = f64::from(index.reverse_bits()) / f64::from(u32::MAX);
        let n_dot_h = ((1.0 - v) / (1.0 + (alpha * alpha - 1.0) * v)).sqrt();
        let sin_half = (1.0 - n_dot_h * n_dot_h).max(0.0).sqrt();
        // The view vector has y = 0.
        let half_x = sin_half * (2.0 * PI * u).cos();
        let l_dot_h = view[0] * half_x + view[1] * n_dot_h;
        let n_dot_l = 2.0 * l_dot_h * n_dot_h - n_dot_v;
        if n_dot_l <= 0.0 || l_dot_h <= 0.0 {
            continue;
        }
        let weight =
            4.0 * v_smith_ggx_correlated(n_dot_v, n_dot_l, alpha) * n_dot_l * l_dot_h / n_dot_h;
        let fresnel = (1.0 - l_dot_h).powi(5);
        sum[0] += weight * (1.0 - fresnel);
        sum[1] += weight * fresnel;
    }
    sum.map(|sum| sum / f64::from(SAMPLE_COUNT))
}

/// Height-correlated Smith visibility term (Heitz 2014): G / (4 n_dot_v n_dot_l).
pub(crate) fn v_smith_ggx_correlated(n_dot_v: f64, n_dot_l: f64, alpha: f64) -> f64 {
    let square = alpha * alpha;
    let part = |a: f64, b: f64| a * (b * b * (1.0 - square) + square).sqrt();
    0.5 / (part(n_dot_l, n_dot_v) + part(n_dot_v, n_dot_l))
}

#[cfg(test)]
mod tests;
