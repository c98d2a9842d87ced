//! Radiance of lit surfaces, against formulas in double precision.

use std::f64::consts::PI;

use bevy_app::Startup;
use bevy_ecs::prelude::*;
use bevy_light::GlobalAmbientLight;

use quadrille_3d::prelude::*;

use crate::common::{EXACT, Rig};

/// Half floats have 11 bits of precision, and functions of the device have at least this.
pub(crate) const TOLERANCE: f64 = 2e-3;

/// A large plane at the origin that faces +z, and a camera that sees it from the side by an angle.
pub(crate) fn rig(material: StandardMaterial, view_angle: f32) -> Rig {
    rig_in(Rig::with_dfg_lut(8, 8), material, view_angle)
}

/// The same in an app with plugins.
fn rig_in(mut rig: Rig, material: StandardMaterial, view_angle: f32) -> Rig {
    rig.app.add_systems(
        Startup,
        move |mut commands: Commands,
              mut meshes: ResMut<Assets<Mesh>>,
              mut materials: ResMut<Assets<StandardMaterial>>| {
            commands.insert_resource(GlobalAmbientLight::NONE);
            commands.spawn((
                Mesh3d(meshes.add(Rectangle::new(100.0, 100.0))),
                MeshMaterial3d(materials.add(material.clone())),
            ));
            let mut projection = OrthographicProjection::default_3d();
            projection.scale = 0.001;
            let eye = Vec3::new(view_angle.sin(), 0.0, view_angle.cos()) * 10.0;
            commands.spawn((
                Camera3d::default(),
                RenderTarget::TextureView(EXACT),
                Projection::from(projection),
                Tonemapping::None,
                Msaa::Off,
                Transform::from_translation(eye).looking_at(Vec3::ZERO, Vec3::Y),
            ));
        },
    );
    rig.start();
    rig
}

pub(crate) fn assert_near(found: f32, wanted: f64, tolerance: f64, what: &str) {
    let off = (f64::from(found) - wanted).abs() / wanted.abs().max(1e-9);
    assert!(off <= tolerance, "{what}: {found}, not {wanted}");
}

pub(crate) fn exposure() -> f64 {
    1.0 / (9.7f64.exp2() * 1.2)
}

#[test]
#[ignore = "needs a device"]
fn unlit_colors_are_exact() {
    let unlit = StandardMaterial {
        base_color: Color::linear_rgb(0.5, 0.25, 0.125),
        unlit: true,
        ..StandardMaterial::default()
    };
    assert_eq!(rig(unlit, 0.0).exactly(4, 4), [0.5, 0.25, 0.125, 1.0]);
    let shining = |weight| StandardMaterial {
        base_color: Color::BLACK,
        reflectance: 0.0,
        emissive: LinearRgba::rgb(1000.0, 500.0, 0.0),
        emissive_exposure_weight: weight,
        ..StandardMaterial::default()
    };
    assert_eq!(rig(shining(0.0), 0.0).exactly(4, 4)[..2], [1000.0, 500.0]);
    let exposed = rig(shining(1.0), 0.0).exactly(4, 4);
    assert_near(exposed[0], 1000.0 * exposure(), TOLERANCE, "exposed");
}

/// Specular lobe with a Fresnel factor of 1; [`energy`] is its directional albedo, by quadrature.
pub(crate) fn specular(alpha: f64, n_l: f64, n_v: f64, n_h: f64) -> f64 {
    let square = alpha * alpha;
    let spread = n_h * n_h * (square - 1.0) + 1.0;
    let facets = square / (PI * spread * spread);
    let part = |a: f64, b: f64| a * (b * b * (1.0 - square) + square).sqrt();
    facets * 0.5 / (part(n_l, n_v) + part(n_v, n_l))
}

pub(crate) fn energy(alpha: f64, n_v: f64) -> f64 {
    let [scale, bias] = quadrature(alpha, n_v);
    scale + bias
}

/// The same, split by Schlick's Fresnel term into scale (F0) and bias (F90).
fn quadrature(alpha: f64, n_v: f64) -> [f64; 2] {
    const STEPS: usize = 400;
    let view = [(1.0 - n_v * n_v).sqrt(), 0.0, n_v];
    let mut sum = [0.0; 2];
    for i in 0..STEPS {
        let n_l = (i as f64 + 0.5) / STEPS as f64;
        let across = (1.0 - n_l * n_l).sqrt();
        for j in 0..STEPS {
            let turn = (j as f64 + 0.5) / STEPS as f64 * 2.0 * PI;
            let light = [across * turn.cos(), across * turn.sin(), n_l];
            let half: Vec<f64> = (0..3).map(|at| light[at] + view[at]).collect();
            let length = half.iter().map(|part| part * part).sum::<f64>().sqrt();
            let mirrored = specular(alpha, n_l, n_v, half[2] / length) * n_l;
            // The half vector's cosine with the view is half of the length of the sum.
            let grazing = (1.0 - length / 2.0).powi(5);
            sum[0] += mirrored * (1.0 - grazing);
            sum[1] += mirrored * grazing;
        }
    }
    sum.map(|sum| sum * 2.0 * PI / (STEPS * STEPS) as f64)
}

/// Radiance of a white surface towards the eye under light of 1 lux, measured perpendicular to the light, with energy
/// compensation by a DFG term.
fn reflected_by(
    dfg: impl Fn(f64, f64) -> [f64; 2],
    roughness: f64,
    metallic: f64,
    light_angle: f64,
    view_angle: f64,
) -> f64 {
    let alpha = roughness * roughness;
    let (n_l, n_v) = (light_angle.cos(), view_angle.cos());
    // Light and eye are on different sides of the surface.
    let half_angle = (light_angle + view_angle) / 2.0;
    let (n_h, l_h) = ((light_angle - half_angle).cos(), half_angle.cos());
    let f0 = 0.04 * (1.0 - metallic) + metallic;
    let f90 = (f0 * 3.0 * 16.5).min(1.0);
    let fresnel = f0 + (f90 - f0) * (1.0 - l_h).powi(5);
    let [scale, bias] = dfg(roughness, n_v);
    let compensation = 1.0 + f0 * (1.0 / (scale + bias) - 1.0);
    let grazing = 0.5 + 2.0 * alpha * l_h * l_h;
    let burley = (1.0 + (grazing - 1.0) * (1.0 - n_l).powi(5))
        * (1.0 + (grazing - 1.0) * (1.0 - n_v).powi(5));
    let diffuse = (1.0 - metallic) * burley / PI;
    (specular(alpha, n_l, n_v, n_h) * fresnel * compensation + diffuse) * n_l
}

/// Like [`reflected_by`], with the exact integral.
fn reflected(roughness: f64, metallic: f64, light_angle: f64, view_angle: f64) -> f64 {
    let integral = |roughness: f64, n_v| quadrature(roughness * roughness, n_v);
    reflected_by(integral, roughness, metallic, light_angle, view_angle)
}

#[test]
#[ignore = "needs a device"]
fn reflection_matches_brdf() {
    assert_reflected(|| Rig::with_dfg_lut(8, 8), reflected);
}

#[test]
#[ignore = "needs a device"]
fn energy_compensation_uses_polynomial_without_dfg_lut() {
    assert_reflected(
        || Rig::new(8, 8),
        |roughness, metallic, light_angle, view_angle| {
            reflected_by(fitted, roughness, metallic, light_angle, view_angle)
        },
    );
    // Rough metal at a grazing angle, where the two differ by more than the tolerance.
    let [scale, bias] = fitted(0.8, 1.1f64.cos());
    let part = energy(0.64, 1.1f64.cos()) / (scale + bias);
    assert!(part > 1.1, "{part}");
}

/// Compares lit surfaces with a function of roughness, metallic, and the angles of light and view.
fn assert_reflected(app: impl Fn() -> Rig, reflected: impl Fn(f64, f64, f64, f64) -> f64) {
    const LUX: f32 = 1000.0;
    let cases: [(f32, f32, f32, f32); 5] = [
        (0.5, 0.0, 0.4, 0.2),
        (0.3, 1.0, 0.5, 0.5),
        (1.0, 1.0, 1.0, 0.3),
        (0.8, 0.5, 0.2, 1.1),
        (0.2, 0.0, 0.9, 0.9),
    ];
    for (roughness, metallic, light_angle, view_angle) in cases {
        let material = StandardMaterial {
            perceptual_roughness: roughness,
            metallic,
            ..StandardMaterial::default()
        };
        let mut rig = rig_in(app(), material, view_angle);
        let from = Vec3::new(-light_angle.sin(), 0.0, light_angle.cos());
        rig.app.world_mut().spawn((
            DirectionalLight {
                illuminance: LUX,
                ..DirectionalLight::default()
            },
            Transform::from_translation(from).looking_at(Vec3::ZERO, Vec3::Y),
        ));
        let [roughness, metallic, light_angle, view_angle] =
            [roughness, metallic, light_angle, view_angle].map(f64::from);
        let wanted = reflected(roughness, metallic, light_angle, view_angle);
        let wanted = wanted * f64::from(LUX) * exposure();
        let what = format!("{roughness} {metallic} {light_angle} {view_angle}");
        assert_near(rig.exactly(4, 4)[0], wanted, 0.01, &what);
    }
}

/// Renders a white plane under a light, and returns its middle pixel.
fn lit_by(light: impl Bundle) -> f32 {
    let mut rig = rig(StandardMaterial::default(), 0.0);
    rig.app.world_mut().spawn(light);
    rig.exactly(4, 4)[0]
}

#[test]
#[ignore = "needs a device"]
fn point_light_follows_inverse_square_law() {
    let at = |distance: f32, range: f32| {
        let light = PointLight {
            range,
            ..PointLight::default()
        };
        lit_by((light, Transform::from_xyz(0.0, 0.0, distance)))
    };
    let near = at(4.0, 1e4);
    let candela = f64::from(PointLight::default().intensity) / (4.0 * PI);
    let wanted = reflected(0.5, 0.0, 0.0, 0.0) * candela / 16.0 * exposure();
    assert_near(near, wanted, 0.01, "4 m");
    assert_near(at(8.0, 1e4), f64::from(near) / 4.0, TOLERANCE, "8 m");
    let window = 1.0 - (4.0f64 / 5.0).powi(4);
    let wanted = f64::from(near) * window * window;
    assert_near(at(4.0, 5.0), wanted, TOLERANCE, "near the range");
    assert_eq!(at(4.0, 3.9), 0.0, "beyond the range");
}

#[test]
#[ignore = "needs a device"]
fn spot_light_is_cone() {
    let turned = |angle: f32| {
        let light = SpotLight {
            inner_angle: 0.3,
            outer_angle: 0.6,
            range: 1e4,
            ..SpotLight::default()
        };
        let turned = Transform::from_xyz(0.0, 0.0, 4.0).with_rotation(Quat::from_rotation_x(angle));
        lit_by((light, turned))
    };
    let middle = f64::from(turned(0.0));
    let point = PointLight {
        range: 1e4,
        ..PointLight::default()
    };
    let point = lit_by((point, Transform::from_xyz(0.0, 0.0, 4.0)));
    assert_near(point, middle, TOLERANCE, "a point light of that power");
    for angle in [0.2f64, 0.4, 0.5] {
        let part = (angle.cos() - 0.6f64.cos()) / (0.3f64.cos() - 0.6f64.cos());
        let wanted = middle * part.clamp(0.0, 1.0).powi(2);
        let what = format!("turned by {angle}");
        assert_near(turned(angle as f32), wanted, 2.0 * TOLERANCE, &what);
    }
    assert_eq!(turned(0.61), 0.0);
}

/// Scale and bias of the specular lobe, by bevy's polynomial fit (Karis 2014, "Physically Based Shading on Mobile").
fn fitted(roughness: f64, cosine: f64) -> [f64; 2] {
    let r = |slope: f64, at_none: f64| roughness * slope + at_none;
    let x = r(-1.0, 1.0);
    let part = (x * x).min((-9.28 * cosine).exp2()) * x + r(-0.0275, 0.0425);
    let curve = [
        -1.04 * part + r(-0.572, 1.04),
        1.04 * part + r(0.022, -0.04),
    ];
    curve.map(|number| number.max(5e-5))
}

#[test]
#[ignore = "needs a device"]
fn ambient_light_matches_bevy() {
    assert_ambient(|| Rig::new(8, 8), fitted);
}

#[test]
#[ignore = "needs a device"]
fn ambient_light_matches_integral_with_dfg_lut() {
    assert_ambient(
        || Rig::with_dfg_lut(8, 8),
        |roughness, n_v| quadrature(roughness * roughness, n_v),
    );
}

/// Compares surfaces under ambient light with a DFG term.
fn assert_ambient(app: impl Fn() -> Rig, dfg: impl Fn(f64, f64) -> [f64; 2]) {
    const BRIGHTNESS: f32 = 500.0;
    for (metallic, roughness, angle) in [(0.0, 0.5, 0.3), (1.0, 0.8, 0.9), (0.0, 1.0, 0.0)] {
        let material = StandardMaterial {
            metallic,
            perceptual_roughness: roughness,
            ..StandardMaterial::default()
        };
        let mut rig = rig_in(app(), material, angle);
        rig.update(1);
        rig.app.world_mut().insert_resource(GlobalAmbientLight {
            brightness: BRIGHTNESS,
            ..GlobalAmbientLight::default()
        });
        let [metallic, roughness, angle] = [metallic, roughness, angle].map(f64::from);
        let returned = |f0: f64, roughness: f64| {
            let [scale, bias] = dfg(roughness, angle.cos());
            f0 * scale + bias
        };
        let f0 = 0.04 * (1.0 - metallic) + metallic;
        let diffuse = returned(1.0 - metallic, 1.0);
        let wanted = diffuse + returned(f0, roughness) * (f0 * 3.0 * 16.5).min(1.0);
        let wanted = wanted * f64::from(BRIGHTNESS) * exposure();
        let what = format!("{metallic} {roughness} {angle}");
        assert_near(rig.exactly(4, 4)[0], wanted, 0.01, &what);
    }
}
