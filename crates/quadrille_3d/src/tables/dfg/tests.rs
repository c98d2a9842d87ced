use super::*;

/// Single-scattering albedo, by quadrature over the hemisphere.
fn by_steps(n_dot_v: f64, perceptual_roughness: f64) -> f64 {
    const STEPS: usize = 400;
    let alpha = perceptual_roughness * perceptual_roughness;
    let sin_view = (1.0 - n_dot_v * n_dot_v).sqrt();
    let mut sum = 0.0;
    for i in 0..STEPS {
        let n_dot_l = (i as f64 + 0.5) / STEPS as f64;
        let sin_light = (1.0 - n_dot_l * n_dot_l).sqrt();
        for j in 0..STEPS {
            let turn = (j as f64 + 0.5) / STEPS as f64 * 2.0 * PI;
            let along = sin_light * turn.cos() + sin_view;
            let (across, up) = (sin_light * turn.sin(), n_dot_l + n_dot_v);
            let n_dot_h = up / (along * along + across * across + up * up).sqrt();
            let spread = n_dot_h * n_dot_h * (alpha * alpha - 1.0) + 1.0;
            let facets = alpha * alpha / (PI * spread * spread);
            sum += facets * v_smith_ggx_correlated(n_dot_v, n_dot_l, alpha) * n_dot_l;
        }
    }
    sum * 2.0 * PI / (STEPS * STEPS) as f64
}

#[test]
fn dfg_matches_quadrature() {
    for (n_dot_v, roughness) in [(1.0, 1.0), (0.8, 0.5), (0.3, 0.7), (0.5, 0.9)] {
        let [scale, bias] = integrate_dfg(n_dot_v, roughness);
        let wanted = by_steps(n_dot_v, roughness);
        let found = scale + bias;
        assert!(
            (found - wanted).abs() < 4e-3,
            "{n_dot_v} {roughness}: {found}, not {wanted}"
        );
    }
}

#[test]
fn dfg_conserves_energy() {
    for entry in table() {
        let [scale, bias] = entry.map(|bits| f16::from_bits(bits).to_f32());
        assert!(
            scale >= 0.0 && bias >= 0.0 && scale + bias <= 1.01,
            "{scale} {bias}"
        );
    }
}
