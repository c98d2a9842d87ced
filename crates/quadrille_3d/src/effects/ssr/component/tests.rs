use super::*;

#[test]
fn defaults_are_those_of_bevy() {
    let uniform = ScreenSpaceReflections::default().uniform();
    let expected = SsrUniform {
        min_perceptual_roughness: [0.08, 0.12],
        max_perceptual_roughness: [0.55, 0.6],
        edge_fadeout: [0.0, 0.0],
        thickness: 0.25,
        linear_march_exponent: 1.0,
        linear_steps: 10,
        bisection_steps: 5,
        use_secant: 1,
        unused: 0,
    };
    assert_eq!(uniform, expected);
}

#[test]
fn invalid_settings_are_kept_within_bounds() {
    let uniform = ScreenSpaceReflections {
        min_perceptual_roughness: f32::NAN..-1.0,
        max_perceptual_roughness: 2.0..f32::INFINITY,
        edge_fadeout: f32::NEG_INFINITY..f32::NAN,
        thickness: f32::NAN,
        linear_steps: 0,
        linear_march_exponent: f32::NAN,
        bisection_steps: u32::MAX,
        use_secant: false,
    }
    .uniform();
    assert_eq!(uniform.min_perceptual_roughness, [0.0, 0.0]);
    assert_eq!(uniform.max_perceptual_roughness, [1.0, 1.0]);
    assert_eq!(uniform.edge_fadeout, [0.0, 0.0]);
    let scalars = [uniform.thickness, uniform.linear_march_exponent];
    assert_eq!(scalars, [0.0, 1.0]);
    assert_eq!([uniform.linear_steps, uniform.bisection_steps], [2, 32]);
}
