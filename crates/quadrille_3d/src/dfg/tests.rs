use super::*;

/// All that one bounce returns, by steps over the half sphere.
fn by_steps(cos_view: f64, perceptual_roughness: f64) -> f64 {
    const STEPS: usize = 400;
    let alpha = perceptual_roughness * perceptual_roughness;
    let sin_view = (1.0 - cos_view * cos_view).sqrt();
    let mut sum = 0.0;
    for i in 0..STEPS {
        let cos_light = (i as f64 + 0.5) / STEPS as f64;
        let sin_light = (1.0 - cos_light * cos_light).sqrt();
        for j in 0..STEPS {
            let turn = (j as f64 + 0.5) / STEPS as f64 * 2.0 * PI;
            let along = sin_light * turn.cos() + sin_view;
            let (across, up) = (sin_light * turn.sin(), cos_light + cos_view);
            let cos_half = up / (along * along + across * across + up * up).sqrt();
            let spread = cos_half * cos_half * (alpha * alpha - 1.0) + 1.0;
            let facets = alpha * alpha / (PI * spread * spread);
            sum += facets * visibility(cos_view, cos_light, alpha) * cos_light;
        }
    }
    sum * 2.0 * PI / (STEPS * STEPS) as f64
}

#[test]
fn the_integral_is_that_of_steps() {
    for (cos_view, roughness) in [(1.0, 1.0), (0.8, 0.5), (0.3, 0.7), (0.5, 0.9)] {
        let [scale, bias] = scale_and_bias(cos_view, roughness);
        let wanted = by_steps(cos_view, roughness);
        let found = scale + bias;
        assert!(
            (found - wanted).abs() < 4e-3,
            "{cos_view} {roughness}: {found}, not {wanted}"
        );
    }
}

#[test]
fn nothing_returns_more_than_all() {
    for entry in table() {
        let [scale, bias] = entry.map(|bits| f16::from_bits(bits).to_f32());
        assert!(
            scale >= 0.0 && bias >= 0.0 && scale + bias <= 1.01,
            "{scale} {bias}"
        );
    }
}
