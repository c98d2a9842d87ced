//! Atmospheres against integrals in double precision, closed forms and symmetry.

#[path = "atmosphere/environment.rs"]
mod environment;
#[path = "atmosphere/reference.rs"]
mod reference;
#[path = "atmosphere/sunlight.rs"]
mod sunlight;
#[path = "atmosphere/views.rs"]
mod views;

use std::f64::consts::{FRAC_PI_2, PI};

use bevy_ecs::prelude::*;
use bevy_light::atmosphere::{Falloff, PhaseFunction, ScatteringMedium, ScatteringTerm};
use bevy_light::{Atmosphere, GlobalAmbientLight};
use bevy_math::DVec3;
use quadrille_3d::AtmosphereSettings;
use quadrille_3d::prelude::*;

use crate::common::{EXACT, Rig};
use reference::{Planet, read_lut};

pub(crate) const SIDE: u32 = 16;
/// Illuminance of the sun.
pub(crate) const ILLUMINANCE: f32 = 100_000.0;
/// Altitude of cameras.
pub(crate) const ALTITUDE: f32 = 500.0;

/// Medium of earth.
pub(crate) fn earth() -> ScatteringMedium {
    ScatteringMedium::earth(256, 256)
}

/// Transform of a light from a direction at this elevation, towards -z.
pub(crate) fn sun_at(elevation: f32) -> Transform {
    Transform::default().looking_to(-to_sun(elevation), Vec3::X)
}

/// Direction to the light of [`sun_at`].
pub(crate) fn to_sun(elevation: f32) -> Vec3 {
    Vec3::new(0.0, elevation.sin(), -elevation.cos())
}

/// An app with a planet, a sun, and a camera with components at [`ALTITUDE`].
pub(crate) fn rig(medium: ScatteringMedium, sun: Transform, components: impl Bundle) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    let medium = world.resource_mut::<Assets<ScatteringMedium>>().add(medium);
    world.spawn(Atmosphere::earth(medium));
    let light = DirectionalLight {
        illuminance: ILLUMINANCE,
        ..DirectionalLight::default()
    };
    world.spawn((light, sun));
    let camera = world.spawn((
        Camera3d::default(),
        Camera {
            clear_color: ClearColorConfig::Custom(Color::BLACK),
            ..Camera::default()
        },
        Projection::from(PerspectiveProjection {
            fov: FRAC_PI_2 as f32,
            ..PerspectiveProjection::default()
        }),
        Tonemapping::None,
        Msaa::Off,
        Transform::from_xyz(0.0, ALTITUDE, 0.0),
        RenderTarget::TextureView(EXACT),
    ));
    let camera = camera.id();
    world.entity_mut(camera).insert(components);
    rig
}

/// Settings that keep LUTs small.
pub(crate) fn small() -> AtmosphereSettings {
    AtmosphereSettings {
        sky_view_lut_size: UVec2::new(96, 64),
        aerial_view_lut_size: UVec3::new(16, 16, 16),
        ..AtmosphereSettings::default()
    }
}

pub(crate) fn assert_near(found: DVec3, expected: DVec3, tolerance: f64, subject: &str) {
    let error = (found - expected).abs();
    let most = expected.abs() * tolerance + 1e-4;
    assert!(
        error.cmple(most).all(),
        "{subject}: {found}, not {expected}"
    );
}

#[test]
#[ignore = "needs a device"]
fn transmittance_is_integral_of_extinction() {
    let mut rig = rig(earth(), sun_at(0.5), AtmosphereSettings::default());
    rig.update(2);
    let lut = read_lut(&mut rig, "atmosphere transmittance");
    let planet = Planet::new(earth());
    for altitude in [0.0, 100.0, 1000.0, 8000.0, 25_000.0, 60_000.0] {
        for degrees in [0.0, 20.0, 45.0, 60.0, 75.0, 85.0, 88.0, 90.0, 91.0f64] {
            let mu = degrees.to_radians().cos();
            if planet.hits_ground(altitude, mu) {
                continue;
            }
            let expected = planet.transmittance(altitude, mu, 4000);
            let found = lut.transmittance(&planet, altitude, mu);
            let subject = format!("{altitude} m, {degrees} degrees");
            assert_near(found, expected, 0.01, &subject);
        }
    }
}

/// Medium of one term.
fn one_term(scale: f32, absorption: f32, scattering: f32) -> ScatteringMedium {
    let term = ScatteringTerm {
        absorption: Vec3::new(1.0, 2.0, 4.0) * absorption,
        scattering: Vec3::new(1.0, 2.0, 4.0) * scattering,
        falloff: Falloff::Exponential { scale },
        phase: PhaseFunction::Isotropic,
    };
    ScatteringMedium::new(1024, 8, [term])
}

#[test]
#[ignore = "needs a device"]
fn exponential_medium_has_closed_form() {
    let (scale, absorption) = (0.1f32, 3e-5);
    let medium = one_term(scale, absorption, 0.0);
    let mut rig = rig(medium.clone(), sun_at(0.5), small());
    rig.update(2);
    let lut = read_lut(&mut rig, "atmosphere transmittance");
    let planet = Planet::new(medium);
    let (scale, end) = (f64::from(scale), (-1.0 / f64::from(scale)).exp());
    for altitude in [0.0, 2000.0, 10_000.0, 40_000.0] {
        // Integral of `(exp(-x / scale) - end) / (1 - end)` from the altitude to the top.
        let x = altitude / planet.height;
        let integral = scale * ((-x / scale).exp() - end) - end * (1.0 - x);
        let depth = integral / (1.0 - end) * planet.height * f64::from(absorption);
        let expected = (DVec3::new(1.0, 2.0, 4.0) * -depth).map(f64::exp);
        let found = lut.transmittance(&planet, altitude, 1.0);
        assert_near(found, expected, 0.003, &format!("{altitude} m"));
    }
}

#[test]
#[ignore = "needs a device"]
fn multiple_scattering_is_sum_of_orders() {
    // Thick, so that most light is scattered several times.
    let medium = one_term(0.3, 0.0, 1e-5);
    let fine = AtmosphereSettings {
        multiscattering_lut_dirs: 256,
        multiscattering_lut_samples: 60,
        ..small()
    };
    let mut rig = rig(medium.clone(), sun_at(0.5), fine);
    rig.update(2);
    let lut = read_lut(&mut rig, "atmosphere multiscattering");
    let planet = Planet::new(medium);
    for (column, row) in [(31, 0), (24, 4), (18, 16), (10, 8)] {
        let [u, v] = [column, row].map(|at: u32| f64::from(at) / 31.0);
        let [second, transfer] = planet.orders(v * planet.height, 2.0 * u - 1.0);
        let found = lut.at(u, v);
        let expected = second / (DVec3::ONE - transfer);
        let subject = format!("{column} {row}");
        assert_near(found, expected, 0.05, &subject);
        // Without absorption light is scattered on, but none is created.
        assert!(transfer.cmplt(DVec3::ONE).all(), "{subject}: {transfer}");
        // Light from the ground is at most its albedo of the illuminance, in half of all directions.
        let most = transfer / (4.0 * PI) + planet.albedo / PI;
        let bound = most / (DVec3::ONE - transfer);
        assert!(
            found.cmple(bound * 1.05).all(),
            "{subject}: {found} {bound}"
        );
        assert!(found.cmpge(DVec3::ZERO).all(), "{subject}: {found}");
    }
}
