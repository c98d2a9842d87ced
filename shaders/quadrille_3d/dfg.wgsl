// DFG term: scale and bias of the specular lobe's integral over all directions, so that a lobe reflects
// `f0 * scale + bias`.
//
// n_dot_v: cosine of normal and view direction

import quadrille_3d::constants::DFG_LUT_SIZE;
import quadrille_3d::scene::{dfg, clamped_sampler};

// The integral, from a table.
fn dfg_lut(n_dot_v: f32, perceptual_roughness: f32) -> vec2f {
    let entry = saturate(vec2f(n_dot_v, perceptual_roughness)) * f32(DFG_LUT_SIZE - 1u) + 0.5;
    return textureSampleLevel(dfg, clamped_sampler, entry / f32(DFG_LUT_SIZE), 0.0).rg;
}

// Polynomial fit of the integral (B. Karis, "Physically Based Shading on Mobile", 2014, after D. Lazarov): well below
// it at grazing angles. The lower bound keeps energy compensation finite, as in bevy's `F_AB`.
fn dfg_polynomial(n_dot_v: f32, perceptual_roughness: f32) -> vec2f {
    let r = perceptual_roughness * vec4f(-1.0, -0.0275, -0.572, 0.022) + vec4f(1.0, 0.0425, 1.04, -0.04);
    let a004 = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    return max(vec2f(-1.04, 1.04) * a004 + r.zw, vec2f(0.00005));
}
