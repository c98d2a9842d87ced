//! Values of other renderers, Mitsuba and Filament, from `tests/reference`.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_light::GlobalAmbientLight;
use bevy_math::DVec3;
use quadrille_3d::prelude::*;

use crate::analytic_lighting::{energy, exposure};
use crate::common::{EXACT, Rig};
use crate::environment::{camera, environment, image, one};

const FILAMENT: &str = include_str!("../reference/filament.txt");
const MITSUBA: &str = include_str!("../reference/mitsuba.txt");

/// Side of the picture in pixels, and its height in units, as in `scenes.py`; so are the following values.
const SIDE: u32 = 65;
const HEIGHT: f32 = 2.2;

const SUN: Vec3 = Vec3::new(0.5, 0.6, 1.0);
const POINT: Vec3 = Vec3::new(1.0, 1.5, 2.5);
const SPOT: Vec3 = Vec3::new(0.8, 1.2, 3.0);

/// Column and row of a pixel, and its color.
type Values = Vec<([u32; 2], [f64; 3])>;

/// The values of a file by light and material.
fn values(text: &str) -> BTreeMap<(&str, &str), Values> {
    let mut all = BTreeMap::<_, Values>::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let [light, material, column, row, red, green, blue] = words[..] else {
            panic!("{line}");
        };
        let place = [column, row].map(|word| word.parse().expect("a number"));
        let color = [red, green, blue].map(|word| word.parse().expect("a number"));
        all.entry((light, material))
            .or_default()
            .push((place, color));
    }
    all
}

fn material(name: &str) -> StandardMaterial {
    let gold = Color::linear_rgb(0.9, 0.6, 0.3);
    let grey = Color::linear_rgb(0.5, 0.5, 0.5);
    let of = |base_color, metallic, perceptual_roughness| StandardMaterial {
        base_color,
        metallic,
        perceptual_roughness,
        ..StandardMaterial::default()
    };
    let chalk = |roughness| StandardMaterial {
        reflectance: 0.0,
        ..of(grey, 0.0, roughness)
    };
    match name {
        "gold_3" => of(gold, 1.0, 0.3),
        "gold_5" => of(gold, 1.0, 0.5),
        "gold_8" => of(gold, 1.0, 0.8),
        "grey_3" => of(grey, 0.0, 0.3),
        "grey_6" => of(grey, 0.0, 0.6),
        "grey_10" => of(grey, 0.0, 1.0),
        "half_5" => of(gold, 0.5, 0.5),
        "clearcoat" => StandardMaterial {
            clearcoat: 1.0,
            clearcoat_perceptual_roughness: 0.2,
            ..of(Color::linear_rgb(0.7, 0.1, 0.1), 0.0, 0.7)
        },
        "white_metal_5" => of(Color::WHITE, 1.0, 0.5),
        "white_metal_8" => of(Color::WHITE, 1.0, 0.8),
        "chalk_3" => chalk(0.3),
        "chalk_10" => chalk(1.0),
        _ => panic!("no material is called {name}"),
    }
}

/// A sphere under a light that gives white a radiance of 1: a sun of pi lux, a lamp of pi candela, or a sky of radiance
/// 1.
fn rig(light: &str) -> Rig {
    let mut rig = Rig::scene_with_dfg_lut(
        SIDE,
        SIDE,
        |mut commands: Commands,
         mut meshes: ResMut<Assets<Mesh>>,
         mut materials: ResMut<Assets<StandardMaterial>>| {
            commands.insert_resource(GlobalAmbientLight::NONE);
            commands.spawn((
                Mesh3d(meshes.add(Sphere::new(1.0).mesh().uv(256, 128))),
                MeshMaterial3d(materials.add(StandardMaterial::default())),
            ));
            commands.spawn((
                Camera3d::default(),
                RenderTarget::TextureView(EXACT),
                Projection::from(OrthographicProjection {
                    scaling_mode: ScalingMode::FixedVertical {
                        viewport_height: HEIGHT,
                    },
                    ..OrthographicProjection::default_3d()
                }),
                Tonemapping::None,
                Msaa::Off,
                Transform::from_xyz(0.0, 0.0, 5.0),
            ));
        },
    );
    rig.update(1);
    let world = rig.app.world_mut();
    let looking = |from| Transform::from_translation(from).looking_at(Vec3::ZERO, Vec3::Y);
    let pi = std::f32::consts::PI;
    // bevy's lamps have 1/(4 pi) candela per lumen.
    let intensity = 4.0 * pi * pi;
    match light {
        "sun" => {
            let light = DirectionalLight {
                illuminance: pi,
                ..DirectionalLight::default()
            };
            world.spawn((light, looking(SUN)));
        }
        "point" => {
            let light = PointLight {
                intensity,
                range: 1000.0,
                ..PointLight::default()
            };
            world.spawn((light, looking(POINT)));
        }
        "spot" => {
            let light = SpotLight {
                intensity,
                range: 1000.0,
                inner_angle: 8f32.to_radians(),
                outer_angle: 18f32.to_radians(),
                ..SpotLight::default()
            };
            world.spawn((light, looking(SPOT)));
        }
        _ => {
            let sky = environment(world, image([4, 4, 6], |_| [1.0; 3]), one());
            camera(world).insert(sky);
        }
    }
    rig
}

/// Cosines between the normal, light, view and half vector at a pixel.
struct Angles {
    n_l: f64,
    n_v: f64,
    l_h: f64,
    /// Fraction of pi lux that arrives, measured perpendicular to the light.
    strength: f64,
}

fn angles(light: &str, [column, row]: [u32; 2]) -> Angles {
    let half = f64::from(SIDE) / 2.0;
    let place = |at: u32| (f64::from(at) + 0.5 - half) * f64::from(HEIGHT) / f64::from(SIDE);
    let (x, y) = (place(column), -place(row));
    let normal = DVec3::new(x, y, (1.0 - x * x - y * y).sqrt());
    let way = match light {
        "point" => POINT.as_dvec3() - normal,
        "spot" => SPOT.as_dvec3() - normal,
        _ => SUN.as_dvec3().normalize(),
    };
    let to_light = way.normalize();
    let half_way = (to_light + DVec3::Z).normalize();
    let cone = match light {
        "spot" => {
            let [inner, outer] = [8f64, 18.0].map(|angle| angle.to_radians().cos());
            let cosine = to_light.dot(SPOT.as_dvec3().normalize());
            ((cosine - outer) / (inner - outer)).clamp(0.0, 1.0)
        }
        _ => 1.0,
    };
    Angles {
        n_l: normal.dot(to_light),
        n_v: normal.z,
        l_h: to_light.dot(half_way),
        strength: cone * cone / way.length_squared(),
    }
}

/// Burley's diffuse factor relative to Lambert's, with this value as the roughness.
fn burley(roughness: f64, at: &Angles) -> f64 {
    let grazing = 0.5 + 2.0 * roughness * at.l_h * at.l_h - 1.0;
    (1.0 + grazing * (1.0 - at.n_l).powi(5)) * (1.0 + grazing * (1.0 - at.n_v).powi(5))
}

/// Height-correlated Smith masking and shadowing, relative to the separable form.
fn together(alpha: f64, at: &Angles) -> f64 {
    let square = alpha * alpha;
    let root = |n: f64| (n * n * (1.0 - square) + square).sqrt();
    let (n_l, n_v) = (at.n_l, at.n_v);
    let apart = 1.0 / ((n_l + root(n_l)) * (n_v + root(n_v)));
    0.5 / (n_l * root(n_v) + n_v * root(n_l)) / apart
}

/// Draws all cases of a file, and compares. `ours` converts a value of the file to the expected value of our formulas.
fn compare(
    text: &str,
    ours: impl Fn((&str, &StandardMaterial), [u32; 2], f64, usize) -> f64,
    tolerance: impl Fn(&str, &str) -> f64,
) {
    let mut rigs = BTreeMap::<&str, Rig>::new();
    let mut wrong = Vec::new();
    for ((light, name), values) in values(text) {
        let rig = rigs.entry(light).or_insert_with(|| rig(light));
        let material = material(name);
        let mut materials = rig
            .app
            .world_mut()
            .resource_mut::<Assets<StandardMaterial>>();
        for (_, old) in materials.iter_mut() {
            *old = material.clone();
        }
        let rows = rig.exact_rows();
        let unit = if light == "sky" { 1.0 } else { exposure() };
        let most = tolerance(light, name);
        for ([column, row], color) in values {
            let texel = rows[row as usize][column as usize];
            for (channel, theirs) in color.into_iter().enumerate() {
                let wanted = ours((light, &material), [column, row], theirs, channel);
                let found = f64::from(texel[channel]) / unit;
                let off = found / wanted - 1.0;
                // Dark texels have few steps of 8 bits: half a step is 4e-4 at the edge of the spot light's cone.
                if off.abs() > most && (found - wanted).abs() > 2.5e-4 {
                    let what = format!("{light} {name} {column} {row} {channel}");
                    wrong.push(format!("{what}: {found:.5}, not {wanted:.5}: {off:+.3}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs a device"]
fn lighting_matches_filament() {
    let ours = |(light, material): (&str, &StandardMaterial), pixel, theirs, channel: usize| {
        if light == "sky" {
            return theirs;
        }
        // Filament's diffuse term is Lambert's; ours, as bevy's, is Burley's. All other terms are equal.
        let base = material.base_color.to_linear().to_f32_array()[channel];
        let scattered = f64::from(base * (1.0 - material.metallic));
        let at = angles(light, pixel);
        let alpha = f64::from(material.perceptual_roughness).powi(2);
        let more = burley(alpha, &at) - 1.0;
        theirs + scattered * more * at.n_l * at.strength
    };
    compare(FILAMENT, ours, |light, name| match (light, name) {
        // Filament's DFG LUT for rough lobes is 1.8 % below the integral there, and Filament divides by it. Mitsuba
        // agrees with the integral (`lighting_matches_mitsuba`).
        ("sun", "gold_8" | "white_metal_8") => 0.021,
        // For environment light we, as bevy, apply the color once per further bounce between facets (Fdez-Agüera);
        // Filament scales the first bounce.
        ("sky", "gold_8") => 0.065,
        // For us, as for bevy, this is a mixture of metal and dielectric. Filament mixes their reflectances, and loses
        // energy in mixtures, as its documentation says.
        ("sky", "half_5") => 0.28,
        _ => 0.015,
    });
}

#[test]
#[ignore = "needs a device"]
fn lighting_matches_mitsuba() {
    let ours = |(light, material): (&str, &StandardMaterial), pixel, theirs, _| {
        let roughness = f64::from(material.perceptual_roughness);
        if material.metallic == 0.0 && light == "sky" {
            return theirs;
        }
        if material.metallic == 0.0 {
            // Burley uses the roughness, we, as bevy, use its square.
            let at = angles(light, pixel);
            return theirs * burley(roughness.powi(2), &at) / burley(roughness, &at);
        }
        // Mitsuba's light bounces once between facets; our energy compensation adds what that loses.
        let alpha = roughness.powi(2);
        let at = angles(light, pixel);
        let kept = energy(alpha, at.n_v);
        match light {
            "sky" => theirs / kept,
            _ => theirs * together(alpha, &at) / kept,
        }
    };
    compare(MITSUBA, ours, |light, name| match (light, name) {
        // Separable masking and shadowing loses some energy at grazing angles.
        ("sky", "white_metal_8") => 0.02,
        _ => 0.01,
    });
}
