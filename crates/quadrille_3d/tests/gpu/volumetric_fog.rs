//! Volumetric fog against Beer's law, the phase function and integrals in double precision.

use std::f64::consts::{FRAC_PI_2, PI};

use bevy_ecs::prelude::*;
use bevy_light::{FogVolume, GlobalAmbientLight, VolumetricFog, VolumetricLight};
use bevy_math::{DMat3, DVec3};
use quadrille_3d::prelude::*;

use crate::analytic_lighting::exposure;
use crate::common::{EXACT, Rig};

pub(crate) const SIDE: u32 = 16;
/// Vertical field of view, in radians.
const FOV: f32 = FRAC_PI_2 as f32;
/// Distance of the plane behind the fog.
const DISTANCE: f32 = 10.0;

/// Fog without ambient light.
pub(crate) fn dark() -> VolumetricFog {
    VolumetricFog {
        ambient_intensity: 0.0,
        ..VolumetricFog::default()
    }
}

/// Dense fog.
pub(crate) fn dense() -> FogVolume {
    FogVolume {
        density_factor: 0.5,
        absorption: 0.3,
        scattering: 0.2,
        ..FogVolume::default()
    }
}

/// An app with a camera at the origin that looks along -z, and a volumetric light that lights nothing.
pub(crate) fn rig(camera: impl Bundle) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    let light = DirectionalLight {
        illuminance: 0.0,
        ..DirectionalLight::default()
    };
    world.spawn((light, VolumetricLight));
    world.spawn((
        Camera3d::default(),
        Camera {
            clear_color: ClearColorConfig::Custom(Color::BLACK),
            ..Camera::default()
        },
        Projection::from(PerspectiveProjection {
            fov: FOV,
            ..PerspectiveProjection::default()
        }),
        Tonemapping::None,
        camera,
        RenderTarget::TextureView(EXACT),
    ));
    rig
}

/// A white plane at [`DISTANCE`].
pub(crate) fn spawn_plane(rig: &mut Rig) {
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(100.0, 100.0));
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::WHITE)
    };
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    let at = Transform::from_xyz(0.0, 0.0, -DISTANCE);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), at));
}

/// Direction of the ray of a pixel, of length 1 along z.
fn ray(x: usize, y: usize) -> DVec3 {
    let side = f64::from(SIDE);
    let ndc = |pixel: usize| 2.0 * (pixel as f64 + 0.5) / side - 1.0;
    DVec3::new(ndc(x), -ndc(y), -1.0)
}

/// Part of a pixel's ray within a box, from the near plane to the plane behind the fog.
pub(crate) fn part_in_box(transform: &Transform, (x, y): (usize, usize)) -> [f64; 2] {
    let axes = DMat3::from_quat(transform.rotation.as_dquat());
    let axes = axes * DMat3::from_diagonal(transform.scale.as_dvec3());
    let local = axes.inverse();
    let (origin, direction) = (local * -transform.translation.as_dvec3(), local * ray(x, y));
    let (mut start, mut end) = (0.1, f64::from(DISTANCE));
    for axis in 0..3 {
        let sides = [-0.5, 0.5].map(|side| (side - origin[axis]) / direction[axis]);
        start = f64::max(start, sides[0].min(sides[1]));
        end = f64::min(end, sides[0].max(sides[1]));
    }
    [start, end.max(start)].map(|z| z * ray(x, y).length())
}

/// Extinction per unit of length.
pub(crate) fn extinction(volume: &FogVolume) -> f64 {
    f64::from(volume.density_factor * (volume.absorption + volume.scattering))
}

/// Light of all directions that is left after the fog between it and a point in the volume, by its size.
fn light_left(volume: &FogVolume, transform: &Transform) -> f64 {
    (-extinction(volume) * f64::from(transform.scale.length()) / 2.0).exp()
}

pub(crate) fn assert_near(found: f32, expected: f64, tolerance: f64, subject: &str) {
    let error = (f64::from(found) - expected).abs();
    assert!(
        error <= tolerance * expected.abs() + 1e-4,
        "{subject}: {found}, not {expected}"
    );
}

#[test]
#[ignore = "needs a device"]
fn transmittance_is_exponential() {
    let wide = Vec3::new(100.0, 100.0, 4.0);
    let rotated = Quat::from_rotation_y(0.7) * Quat::from_rotation_x(0.4);
    let transforms = [
        // A slab outside, around the camera, and with the plane inside.
        Transform::from_xyz(0.0, 0.0, -5.0).with_scale(wide),
        Transform::from_scale(wide),
        Transform::from_xyz(0.0, 0.0, -DISTANCE).with_scale(wide),
        // Boxes with edges in the picture; the last one is mirrored and not uniform.
        Transform::from_xyz(0.3, 0.2, -4.0).with_scale(Vec3::splat(3.0)),
        Transform::from_xyz(0.0, 0.5, -4.0)
            .with_rotation(rotated)
            .with_scale(Vec3::splat(3.0)),
        Transform::from_xyz(0.0, -0.5, -4.0)
            .with_rotation(rotated)
            .with_scale(Vec3::new(-2.0, 4.0, 1.0)),
    ];
    for (transform, msaa) in transforms
        .iter()
        .flat_map(|it| [(it, Msaa::Off), (it, Msaa::Sample4)])
    {
        let volume = FogVolume {
            fog_color: Color::BLACK,
            ..dense()
        };
        let mut rig = rig((dark(), msaa));
        spawn_plane(&mut rig);
        rig.app.world_mut().spawn((volume.clone(), *transform));
        let rows = rig.exact_rows();
        for (y, row) in rows.iter().enumerate() {
            for (x, found) in row.iter().enumerate() {
                let [start, end] = part_in_box(transform, (x, y));
                let expected = (-extinction(&volume) * (end - start)).exp();
                let subject = format!("{transform:?} {msaa:?} {x} {y}");
                assert_near(found[1], expected, 0.01, &subject);
            }
        }
    }
}

/// Phase function (Henyey and Greenstein 1941).
fn phase(cosine: f64, g: f64) -> f64 {
    (1.0 - g * g) / (4.0 * PI * (1.0 + g * g - 2.0 * g * cosine).powf(1.5))
}

/// A box between 3 and 5.
pub(crate) const BOX: Transform = Transform {
    translation: Vec3::new(0.0, 0.0, -4.0),
    scale: Vec3::new(30.0, 30.0, 2.0),
    ..Transform::IDENTITY
};

/// A directional light with shadow maps.
pub(crate) fn sun() -> DirectionalLight {
    DirectionalLight {
        illuminance: 20_000.0,
        shadow_maps_enabled: true,
        ..DirectionalLight::default()
    }
}

#[test]
#[ignore = "needs a device"]
fn directional_light_is_scattered_by_phase_function() {
    for (direction, g) in [
        (Vec3::NEG_Y, 0.0),
        (Vec3::new(0.0, -1.0, 1.0), 0.6),
        (Vec3::new(0.3, -1.0, -1.0), 0.6),
        (Vec3::new(0.3, -1.0, -1.0), -0.4),
    ] {
        let volume = FogVolume {
            density_factor: 0.1,
            scattering_asymmetry: g,
            light_intensity: 1.5,
            light_tint: Color::linear_rgb(1.0, 0.5, 0.25),
            fog_color: Color::linear_rgb(0.5, 1.0, 1.0),
            ..FogVolume::default()
        };
        let mut rig = rig(dark());
        let world = rig.app.world_mut();
        let towards = Transform::default().looking_to(direction, Vec3::X);
        world.spawn((sun(), VolumetricLight, towards));
        world.spawn((volume.clone(), BOX));
        let rows = rig.exact_rows();
        for (x, y) in [(8, 8), (2, 5), (13, 12)] {
            let [start, end] = part_in_box(&BOX, (x, y));
            let scattered = 1.0 - (-extinction(&volume) * (end - start)).exp();
            let cosine = ray(x, y).normalize().dot(-direction.as_dvec3().normalize());
            let light = 20_000.0 * 1.5 * phase(cosine, f64::from(g)) * exposure();
            let expected = light * light_left(&volume, &BOX) * scattered * 0.5;
            for (channel, factor) in [0.5, 0.5, 0.25].into_iter().enumerate() {
                let subject = format!("{direction} {g} {x} {y} {channel}");
                assert_near(rows[y][x][channel], expected * factor, 0.01, &subject);
            }
        }
    }
}

/// Light that a point or spot light of one candela at a position adds to a pixel, integrated in small steps.
fn integrated(light: DVec3, range: f64, volume: &FogVolume, (x, y): (usize, usize)) -> f64 {
    let [start, end] = part_in_box(&BOX, (x, y));
    let steps = 20_000;
    let length = (end - start) / f64::from(steps);
    let sum: f64 = (0..steps)
        .map(|step| {
            let away = (f64::from(step) + 0.5) * length;
            let position = ray(x, y).normalize() * (start + away);
            let distance_squared = (light - position).length_squared();
            let part = distance_squared / (range * range);
            let window = (1.0 - part * part).clamp(0.0, 1.0).powi(2);
            (-extinction(volume) * away).exp() * window / distance_squared
        })
        .sum();
    let scattering = f64::from(volume.density_factor * volume.scattering);
    sum * length * scattering * light_left(volume, &BOX) * exposure()
}

#[test]
#[ignore = "needs a device"]
fn point_and_spot_lights_are_scattered_within_range_and_cone() {
    let volume = FogVolume {
        density_factor: 0.1,
        ..FogVolume::default()
    };
    let at = Vec3::new(0.0, 3.0, -4.0);
    let fine = VolumetricFog {
        step_count: 512,
        ..dark()
    };
    for is_spot in [false, true] {
        let mut rig = rig(fine);
        let world = rig.app.world_mut();
        // 10,000 candela each; the spot light shines down, over the whole column of the test.
        let transform = Transform::from_translation(at).looking_to(Vec3::NEG_Y, Vec3::Z);
        let intensity = (10_000.0 * 4.0 * PI) as f32;
        let mut light = world.spawn((VolumetricLight, transform));
        if is_spot {
            light.insert(SpotLight {
                intensity,
                range: 8.0,
                inner_angle: 0.6,
                outer_angle: 0.7,
                shadow_maps_enabled: true,
                ..SpotLight::default()
            });
        } else {
            light.insert(PointLight {
                intensity,
                range: 8.0,
                shadow_maps_enabled: true,
                ..PointLight::default()
            });
        }
        world.spawn((volume.clone(), BOX));
        let rows = rig.exact_rows();
        for pixel in [(8, 8), (7, 10)] {
            let expected = 10_000.0 * integrated(at.as_dvec3(), 8.0, &volume, pixel);
            let found = rows[pixel.1][pixel.0][0];
            assert_near(found, expected, 0.01, &format!("{is_spot} {pixel:?}"));
        }
        // Beside the cone.
        let beside = rows[6][15][0];
        assert_eq!(is_spot, beside == 0.0, "{beside}");
    }
}

#[test]
#[ignore = "needs a device"]
fn shadowed_fog_is_dark() {
    let volume = FogVolume {
        density_factor: 0.1,
        scattering_asymmetry: 0.0,
        ..FogVolume::default()
    };
    for kind in 0..3 {
        let mut rig = rig(dark());
        let world = rig.app.world_mut();
        let mesh = world
            .resource_mut::<Assets<Mesh>>()
            .add(Cuboid::new(60.0, 0.2, 60.0));
        let material = world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(StandardMaterial::default());
        // Over the right half of the fog, above the picture.
        world.spawn((
            Mesh3d(mesh),
            MeshMaterial3d(material),
            Transform::from_xyz(30.0, 8.0, -4.0),
        ));
        let down = Transform::from_xyz(0.0, 16.0, -4.0).looking_to(Vec3::NEG_Y, Vec3::Z);
        let mut light = world.spawn((VolumetricLight, down));
        match kind {
            0 => light.insert(sun()),
            1 => light.insert(PointLight {
                intensity: 1e8,
                range: 50.0,
                shadow_maps_enabled: true,
                ..PointLight::default()
            }),
            _ => light.insert(SpotLight {
                intensity: 1e8,
                range: 50.0,
                outer_angle: 1.2,
                inner_angle: 1.1,
                shadow_maps_enabled: true,
                ..SpotLight::default()
            }),
        };
        world.spawn((volume.clone(), BOX));
        let row = rig.exact_row(SIDE / 2);
        for x in 0..SIDE as usize {
            match x {
                // Rays next to the middle pass the penumbra.
                7 | 8 => {}
                ..7 => assert!(row[x][0] > 0.01, "{kind} {x}: {row:?}"),
                _ => assert!(row[x][0] < 1e-4, "{kind} {x}: {row:?}"),
            }
        }
        if kind == 0 {
            let [start, end] = part_in_box(&BOX, (3, 8));
            let scattered = 1.0 - (-extinction(&volume) * (end - start)).exp();
            let light = 20_000.0 / (4.0 * PI) * exposure() * 0.5;
            let expected = light * scattered * light_left(&volume, &BOX);
            assert_near(row[3][0], expected, 0.01, "lit half");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn ambient_light_is_attenuated_twice_as_in_bevy() {
    let fog = VolumetricFog {
        ambient_color: Color::linear_rgb(1.0, 0.5, 0.25),
        ambient_intensity: 2.0,
        ..VolumetricFog::default()
    };
    let mut rig = rig(fog);
    rig.app.world_mut().spawn((dense(), BOX));
    let found = rig.exactly(8, 8);
    let [start, end] = part_in_box(&BOX, (8, 8));
    let transmittance = (-extinction(&dense()) * (end - start)).exp();
    let expected = 2.0 * 0.4 * (1.0 - transmittance * transmittance) / 2.0;
    for (channel, factor) in [1.0, 0.5, 0.25].into_iter().enumerate() {
        assert_near(found[channel], expected * factor, 0.01, "ambient");
    }
}
