use bevy_math::proj::orthographic;

use super::*;

/// Clip space of a cascade of this depth in world units.
fn cascade(depth: f32) -> Mat4 {
    orthographic(-10.0, 10.0, -10.0, 10.0, depth, 0.0) * Mat4::from_rotation_x(0.7)
}

#[test]
fn depths_of_16_bits_suffice_where_their_steps_are_half_of_the_bias() {
    // bevy's default bias is 0.02, of which 65,535 halves are 655 units.
    assert!(has_precision_of_16_bits(&cascade(650.0), 0.02));
    assert!(!has_precision_of_16_bits(&cascade(660.0), 0.02));
    assert!(has_precision_of_16_bits(&cascade(660.0), 0.03));
}

#[test]
fn depths_of_16_bits_do_not_suffice_without_bias_or_with_numbers_that_are_not_finite() {
    assert!(!has_precision_of_16_bits(&cascade(10.0), 0.0));
    assert!(!has_precision_of_16_bits(&cascade(10.0), -0.02));
    assert!(!has_precision_of_16_bits(&cascade(10.0), f32::NAN));
    assert!(!has_precision_of_16_bits(&Mat4::ZERO, 0.02));
    assert!(!has_precision_of_16_bits(&Mat4::NAN, 0.02));
}
