//! Pictures of atmospheres.

use std::f64::consts::PI;

use bevy_ecs::prelude::*;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_light::{Atmosphere, SunDisk};
use bevy_math::DVec3;
use quadrille::prelude::Renderer;
use quadrille_3d::prelude::*;
use quadrille_3d::{AtmosphereMode, AtmosphereSettings};

use super::reference::{Planet, lut_names, read_lut};
use super::{ALTITUDE, ILLUMINANCE, SIDE, assert_near, earth, rig, small, sun_at, to_sun};
use crate::analytic_lighting::exposure;
use crate::common::{EXACT, Rig};

fn camera(rig: &mut Rig) -> Entity {
    let world = rig.app.world_mut();
    let mut cameras = world.query_filtered::<Entity, With<AtmosphereSettings>>();
    cameras.single(world).expect("a camera")
}

/// Turns the camera.
fn look_to(rig: &mut Rig, direction: Vec3) {
    let camera = camera(rig);
    let up = if direction.y.abs() > 0.9 {
        Vec3::Z
    } else {
        Vec3::Y
    };
    let turned = Transform::from_xyz(0.0, ALTITUDE, 0.0).looking_to(direction, up);
    rig.app.world_mut().entity_mut(camera).insert(turned);
}

fn color(rows: &[Vec<[f32; 4]>], x: usize, y: usize) -> DVec3 {
    let [red, green, blue, _] = rows[y][x].map(f64::from);
    DVec3::new(red, green, blue)
}

/// Direction of the ray of a pixel of a camera that looks along -z.
fn ray(x: usize, y: usize) -> DVec3 {
    let ndc = |pixel: usize| 2.0 * (pixel as f64 + 0.5) / f64::from(SIDE) - 1.0;
    DVec3::new(ndc(x), -ndc(y), -1.0)
}

/// A plane across the view without lighting.
fn spawn_plane(rig: &mut Rig, distance: f32, color: Color) {
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(1e6, 1e6));
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(color)
    };
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    let at = Transform::from_xyz(0.0, 0.0, -distance);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), at));
}

/// Factor from light per illuminance to colors.
fn sun_color() -> f64 {
    f64::from(ILLUMINANCE) * exposure()
}

#[test]
#[ignore = "needs a device"]
fn sky_is_symmetric_about_sun() {
    let mut rig = rig(earth(), sun_at(0.3), AtmosphereSettings::default());
    let rows = rig.exact_rows();
    let last = SIDE as usize - 1;
    for y in 0..=last {
        for x in 0..8 {
            let [left, right] = [x, last - x].map(|x| color(&rows, x, y));
            assert!(left.cmpgt(DVec3::ZERO).all(), "{x} {y}: {left}");
            assert_near(left, right, 0.01, &format!("{x} {y}"));
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn zenith_is_bluer_than_horizon_and_sunset_is_red() {
    let mut noon = rig(earth(), sun_at(1.3), AtmosphereSettings::default());
    look_to(&mut noon, Vec3::X);
    let level = color(&noon.exact_rows(), 8, 7);
    look_to(&mut noon, Vec3::new(0.5, 1.0, 0.0));
    let high = color(&noon.exact_rows(), 8, 8);
    assert!(high.z > 1.5 * high.x, "{high}");
    assert!(high.z / high.x > 1.3 * level.z / level.x, "{high} {level}");
    let mut sunset = rig(earth(), sun_at(0.01), AtmosphereSettings::default());
    let near_sun = color(&sunset.exact_rows(), 8, 7);
    assert!(near_sun.x > 2.0 * near_sun.z, "{near_sun}");
    // Without any light the sky is black.
    let mut night = rig(earth(), sun_at(-0.6), AtmosphereSettings::default());
    let dark = color(&night.exact_rows(), 8, 4);
    assert!(dark.max_element() < 1e-3 * high.max_element(), "{dark}");
}

#[test]
#[ignore = "needs a device"]
fn sky_is_integral_of_scattered_light() {
    for mode in [AtmosphereMode::LookupTexture, AtmosphereMode::Raymarched] {
        let settings = AtmosphereSettings {
            rendering_method: mode,
            sky_view_lut_samples: 64,
            sky_max_samples: 64,
            ..AtmosphereSettings::default()
        };
        let mut rig = rig(earth(), sun_at(0.6), settings);
        let rows = rig.exact_rows();
        let multiscattering = read_lut(&mut rig, "atmosphere multiscattering");
        let planet = Planet::new(earth());
        for (x, y) in [(2, 1), (8, 5), (13, 3)] {
            let (direction, light) = (ray(x, y).normalize(), to_sun(0.6).as_dvec3());
            let start = (f64::from(ALTITUDE), DVec3::Y);
            let end = planet.end(start.0, direction.y);
            let scattered = planet.scattered(start, (direction, light), end, &multiscattering);
            let subject = format!("{mode:?} {x} {y}");
            assert_near(color(&rows, x, y), scattered * sun_color(), 0.02, &subject);
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn air_before_black_surface_is_integral_and_white_surface_is_attenuated() {
    // Within the LUT, beyond it, and near.
    for (distance, mode) in [
        (20_000.0, AtmosphereMode::LookupTexture),
        (50_000.0, AtmosphereMode::LookupTexture),
        (20_000.0, AtmosphereMode::Raymarched),
        (300.0, AtmosphereMode::LookupTexture),
    ] {
        let settings = AtmosphereSettings {
            rendering_method: mode,
            aerial_view_lut_size: UVec3::new(64, 64, 32),
            ..AtmosphereSettings::default()
        };
        // At night air adds no light to the white surface.
        let mut pictures = [(Color::BLACK, 0.8), (Color::WHITE, -1.2)].map(|(color, sun)| {
            let mut rig = rig(earth(), sun_at(sun), settings.clone());
            spawn_plane(&mut rig, distance, color);
            (rig.exact_rows(), rig)
        });
        let multiscattering = read_lut(&mut pictures[0].1, "atmosphere multiscattering");
        let planet = Planet::new(earth());
        for (x, y) in [(8, 7), (3, 4), (12, 2)] {
            let direction = ray(x, y).normalize();
            let end = ray(x, y).length() * f64::from(distance);
            let light = to_sun(0.8).as_dvec3();
            let start = (f64::from(ALTITUDE), DVec3::Y);
            let scattered = planet.scattered(start, (direction, light), end, &multiscattering);
            let subject = format!("{distance} m {mode:?} {x} {y}");
            let black = color(&pictures[0].0, x, y);
            assert_near(black, scattered * sun_color(), 0.02, &subject);
            let depth = planet.optical_depth(start.0, direction.y, end, 1000);
            let white = color(&pictures[1].0, x, y);
            assert_near(white, (-depth).map(f64::exp), 0.01, &subject);
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn samples_do_not_change_sky_and_surfaces() {
    let pictures = [Msaa::Off, Msaa::Sample4].map(|msaa| {
        let mut rig = rig(earth(), sun_at(0.8), (small(), msaa));
        look_to(&mut rig, Vec3::NEG_Z);
        spawn_plane(&mut rig, 9000.0, Color::WHITE);
        let surface = rig.exact_rows();
        look_to(&mut rig, Vec3::Z);
        [surface, rig.exact_rows()]
    });
    let [single, multiple] = pictures;
    for (at, (single, multiple)) in single.iter().zip(&multiple).enumerate() {
        for (x, y) in [(1, 2), (8, 8), (14, 5)] {
            let found = color(multiple, x, y);
            assert_near(found, color(single, x, y), 2e-3, &format!("{at} {x} {y}"));
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn disk_has_illuminance_of_light() {
    let mut rig = rig(earth(), sun_at(0.4), AtmosphereSettings::default());
    look_to(&mut rig, to_sun(0.4));
    let world = rig.app.world_mut();
    let light = world
        .query_filtered::<Entity, With<DirectionalLight>>()
        .single(world)
        .expect("a light");
    // A disk of several pixels.
    let mut picture = |disk: SunDisk| {
        rig.app.world_mut().entity_mut(light).insert(disk);
        color(&rig.exact_rows(), 8, 8)
    };
    let without = picture(SunDisk::OFF);
    let with = picture(SunDisk {
        angular_size: 0.6,
        intensity: 2.0,
    });
    // The center of the pixel is below that of the view.
    let view = Transform::default().looking_to(to_sun(0.4), Vec3::Y);
    let [forward, right, up] = [view.forward(), view.right(), view.up()].map(Vec3::from);
    let ray = forward + (right - up) / SIDE as f32;
    let planet = Planet::new(earth());
    let mu = f64::from(ray.normalize().y);
    let through = planet.transmittance(f64::from(ALTITUDE), mu, 2000);
    let expected = through * 2.0 * sun_color() / (PI * 0.3 * 0.3);
    assert_near(with - without, expected, 0.02, "disk");
}

#[test]
#[ignore = "needs a device"]
fn only_cameras_with_settings_have_sky() {
    let viewport = |left: u32| Viewport {
        physical_position: UVec2::new(left, 0),
        physical_size: UVec2::new(SIDE / 2, SIDE),
        ..Viewport::default()
    };
    let mut rig = rig(earth(), sun_at(0.8), small());
    let first = camera(&mut rig);
    let world = rig.app.world_mut();
    let projection = world.get::<Projection>(first).cloned().expect("it has one");
    if let Some(mut camera) = world.get_mut::<Camera>(first) {
        camera.viewport = Some(viewport(0));
    }
    let half = |order: isize| Camera {
        clear_color: ClearColorConfig::Custom(Color::BLACK),
        viewport: Some(viewport(SIDE / 2)),
        order,
        ..Camera::default()
    };
    let at = Transform::from_xyz(0.0, ALTITUDE, 0.0);
    let second = world
        .spawn((
            Camera3d::default(),
            half(1),
            at,
            projection,
            Tonemapping::None,
            Msaa::Off,
            RenderTarget::TextureView(EXACT),
        ))
        .id();
    let rows = rig.exact_rows();
    assert!(color(&rows, 4, 4).cmpgt(DVec3::ZERO).all());
    assert_eq!(color(&rows, 12, 4), DVec3::ZERO);
    assert_eq!(lut_names(&rig).len(), 5);
    // A second atmosphere shares the LUTs of the medium, without `Hdr` as well.
    let mut second = rig.app.world_mut().entity_mut(second);
    second.insert(small()).remove::<bevy_camera::Hdr>();
    let rows = rig.exact_rows();
    for y in 0..SIDE as usize {
        let [first, second] = [4, 12].map(|x| color(&rows, x, y));
        assert_near(second, first, 1e-3, &format!("row {y}"));
    }
    assert_eq!(lut_names(&rig).len(), 8);
}

#[test]
#[ignore = "needs a device"]
fn space_is_dark_and_planet_has_rim() {
    for mode in [AtmosphereMode::LookupTexture, AtmosphereMode::Raymarched] {
        let settings = AtmosphereSettings {
            rendering_method: mode,
            ..AtmosphereSettings::default()
        };
        let mut rig = rig(earth(), sun_at(0.8), settings);
        let camera = camera(&mut rig);
        let above = Transform::from_xyz(0.0, 2_000_000.0, 0.0);
        let rim = (6_410_000.0f32 / 8_360_000.0).asin();
        for (zenith, is_lit) in [(0.5, false), (std::f32::consts::PI - rim, true)] {
            let direction = Vec3::new(0.0, zenith.cos(), -zenith.sin());
            let turned = above.looking_to(direction, Vec3::Y);
            let mut view = rig.app.world_mut().entity_mut(camera);
            view.insert((
                turned,
                Projection::from(PerspectiveProjection {
                    fov: 0.01,
                    ..PerspectiveProjection::default()
                }),
            ));
            let found = color(&rig.exact_rows(), 8, 8);
            assert_eq!(found.min_element() > 0.01, is_lit, "{mode:?} {found}");
            assert!(found.is_finite());
        }
    }
}

/// Names of the passes of atmospheres in the last frame.
fn passes(rig: &mut Rig) -> Vec<&'static str> {
    let renderer = rig.app.world().resource::<Renderer>();
    let plan = renderer.plan_text().expect("frames are kept");
    let names = [
        "atmosphere transmittance",
        "atmosphere multiscattering",
        "atmosphere sky view",
        "atmosphere aerial view",
        "atmosphere_3d",
    ];
    // Names are in quotes if they have spaces.
    let is_pass = |name: &&str| {
        plan.lines()
            .any(|line| line.contains("pass") && line.contains(name))
    };
    names.into_iter().filter(is_pass).collect()
}

#[test]
#[ignore = "needs a device"]
fn what_rests_is_not_computed_again() {
    const ALL: [&str; 5] = [
        "atmosphere transmittance",
        "atmosphere multiscattering",
        "atmosphere sky view",
        "atmosphere aerial view",
        "atmosphere_3d",
    ];
    let mut rig = rig(earth(), sun_at(0.8), small());
    let world = rig.app.world_mut();
    world.resource_mut::<Renderer>().keep_frames(true);
    rig.update(1);
    assert_eq!(passes(&mut rig), ALL);
    rig.update(2);
    assert_eq!(passes(&mut rig), ["atmosphere_3d"]);
    look_to(&mut rig, Vec3::X);
    rig.update(1);
    assert_eq!(passes(&mut rig), ALL[3..]);
    let world = rig.app.world_mut();
    let mut lights = world.query_filtered::<&mut Transform, With<DirectionalLight>>();
    *lights.single_mut(world).expect("a light") = sun_at(0.4);
    rig.update(1);
    assert_eq!(passes(&mut rig), ALL[2..]);
    let mut media = rig
        .app
        .world_mut()
        .resource_mut::<Assets<ScatteringMedium>>();
    for (_, medium) in media.iter_mut() {
        medium.terms.truncate(1);
    }
    rig.update(1);
    assert_eq!(passes(&mut rig), ALL);
    rig.update(2);
    assert_eq!(passes(&mut rig), ["atmosphere_3d"]);
    let camera = camera(&mut rig);
    let mut camera = rig.app.world_mut().entity_mut(camera);
    camera.remove::<AtmosphereSettings>();
    // Reasons of barriers name passes of the previous frame.
    rig.update(2);
    assert_eq!((passes(&mut rig), lut_names(&rig).len()), (vec![], 0));
}

#[test]
#[ignore = "needs a device"]
fn planet_without_medium_is_not_drawn() {
    let mut rig = rig(earth(), sun_at(0.8), small());
    let world = rig.app.world_mut();
    let mut planets = world.query::<&mut Atmosphere>();
    planets.single_mut(world).expect("a planet").medium = Handle::default();
    assert_eq!(color(&rig.exact_rows(), 4, 4), DVec3::ZERO);
    assert_eq!(lut_names(&rig).len(), 0);
}
