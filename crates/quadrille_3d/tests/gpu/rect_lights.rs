//! Light of rectangular lights against quadrature in double precision.

use std::f64::consts::PI;

use bevy_math::DVec3;
use quadrille_3d::prelude::*;

use super::analytic_lighting::{assert_near, exposure, rig, specular};

/// Power in lumens.
const POWER: f32 = 1e5;

/// A rectangular light of unlimited range.
#[derive(Clone, Copy)]
struct Rect {
    size: [f32; 2],
    transform: Transform,
}

impl Rect {
    /// Sum over its parts, as seen from the origin above the plane z = 0: solid angle times the function of the
    /// direction.
    fn sum(&self, of: impl Fn(DVec3) -> f64) -> f64 {
        const STEPS: usize = 600;
        let [width, height] = self.size.map(f64::from);
        let axis = |way: Dir3| Vec3::from(way).as_dvec3();
        let (right, up) = (axis(self.transform.right()), axis(self.transform.up()));
        let forward = axis(self.transform.forward());
        let part = width * height / (STEPS * STEPS) as f64;
        let at = |step: usize| (step as f64 + 0.5) / STEPS as f64 - 0.5;
        let mut sum = 0.0;
        for i in 0..STEPS {
            for j in 0..STEPS {
                let place = self.transform.translation.as_dvec3()
                    + right * (at(i) * width)
                    + up * (at(j) * height);
                let square = place.length_squared();
                let way = place / square.sqrt();
                let faces = -forward.dot(way);
                if way.z > 0.0 && faces > 0.0 {
                    sum += part * faces / square * of(way);
                }
            }
        }
        sum
    }

    /// Renders a plane of this material, and returns its radiance per candela per square metre.
    fn shown(&self, material: StandardMaterial, view_angle: f32) -> f32 {
        let mut rig = rig(material, view_angle);
        let [width, height] = self.size;
        rig.app.world_mut().spawn((
            RectLight {
                intensity: POWER,
                width,
                height,
                range: 1e4,
                ..RectLight::default()
            },
            self.transform,
        ));
        let radiance = f64::from(POWER) / (f64::from(width * height) * PI) * exposure();
        (f64::from(rig.exactly(4, 4)[0]) / radiance) as f32
    }
}

fn looking(from: [f32; 3], size: [f32; 2]) -> Rect {
    let at = Transform::from_translation(Vec3::from(from));
    Rect {
        size,
        transform: at.looking_at(Vec3::ZERO, Vec3::Y),
    }
}

#[test]
#[ignore = "needs a device"]
fn rect_light_diffuse_matches_integral() {
    let white = StandardMaterial {
        perceptual_roughness: 1.0,
        reflectance: 0.0,
        ..StandardMaterial::default()
    };
    // The default direction is -z, which is down to the plane.
    let above = Rect {
        size: [2.0, 1.0],
        transform: Transform::from_xyz(0.3, -0.2, 1.5),
    };
    // The last two intersect the plane.
    let cases = [
        above,
        looking([1.0, 0.5, 0.7], [0.5, 2.0]),
        looking([1.5, 0.0, 0.2], [2.0, 2.0]),
        looking([0.0, 2.0, -0.3], [1.0, 3.0]),
    ];
    for (at, rect) in cases.into_iter().enumerate() {
        let wanted = rect.sum(|way| way.z / PI);
        let what = format!("rectangle {at}");
        assert_near(rect.shown(white.clone(), 0.3), wanted, 0.01, &what);
    }
    let behind = Rect {
        transform: Transform::from_xyz(0.0, 0.0, 1.0).looking_at(Vec3::Z * 2.0, Vec3::Y),
        ..above
    };
    assert_eq!(behind.shown(white, 0.3), 0.0, "it shines to the other side");
}

#[test]
#[ignore = "needs a device"]
fn rect_light_specular_matches_integral() {
    let rect = looking([-1.0, 0.1, 1.2], [0.8, 1.2]);
    for (roughness, view_angle) in [(1.0, 0.3), (0.7, 0.6), (0.5, 0.7), (0.3, 0.7)] {
        let metal = StandardMaterial {
            perceptual_roughness: roughness,
            metallic: 1.0,
            ..StandardMaterial::default()
        };
        let [rough, angle] = [roughness, view_angle].map(f64::from);
        let (alpha, n_v) = (rough * rough, angle.cos());
        let view = DVec3::new(angle.sin(), 0.0, n_v);
        let wanted = rect.sum(|way| {
            let half = (way + view).normalize();
            specular(alpha, way.z, n_v, half.z) * way.z
        });
        let what = format!("roughness {roughness}, angle {view_angle}");
        // The linearly transformed cosine is a fit of the lobe.
        assert_near(rect.shown(metal, view_angle), wanted, 0.06, &what);
    }
}
