use bevy_light::atmosphere::{Falloff, PhaseFunction, ScatteringMedium, ScatteringTerm};
use bevy_math::Vec3;

use super::{BakedMedium, row_cosine};

fn medium(falloff: Falloff, phase: PhaseFunction) -> ScatteringMedium {
    let term = ScatteringTerm {
        absorption: Vec3::new(1.0, 2.0, 3.0),
        scattering: Vec3::new(4.0, 5.0, 6.0),
        falloff,
        phase,
    };
    ScatteringMedium::new(16, 64, [term])
}

#[test]
fn coefficients_reach_from_top_to_ground() {
    let baked = BakedMedium::new(&medium(Falloff::Linear, PhaseFunction::Isotropic)).unwrap();
    assert_eq!(baked.densities.len(), 32);
    assert_eq!(baked.densities[0], [0.0; 4]);
    assert_eq!(baked.densities[15], [1.0, 2.0, 3.0, 0.0]);
    assert_eq!(baked.densities[16], [0.0; 4]);
    assert_eq!(baked.densities[31], [4.0, 5.0, 6.0, 0.0]);
}

#[test]
fn phases_scatter_whole_coefficient() {
    for phase in [
        PhaseFunction::Isotropic,
        PhaseFunction::Rayleigh,
        PhaseFunction::Mie { asymmetry: 0.5 },
    ] {
        let baked = BakedMedium::new(&medium(Falloff::Linear, phase)).unwrap();
        // Trapezoids between the rows at the ground.
        let rows: Vec<_> = baked.phases.iter().skip(15).step_by(16).collect();
        let integral: f32 = (0..63)
            .map(|row| {
                let [first, next] = [row, row + 1].map(|at| row_cosine(at as f32 / 63.0));
                (rows[row][1] + rows[row + 1][1]) / 2.0 * (next - first)
            })
            .sum();
        let scattered = integral * 2.0 * std::f32::consts::PI;
        assert!((scattered / 5.0 - 1.0).abs() < 0.01, "{scattered}");
    }
}

#[test]
fn invalid_coefficients_are_refused() {
    for value in [-1.0, f32::NAN, f32::INFINITY] {
        let mut medium = medium(Falloff::Linear, PhaseFunction::Isotropic);
        medium.terms[0].absorption.y = value;
        assert!(BakedMedium::new(&medium).is_none(), "{value}");
    }
}
