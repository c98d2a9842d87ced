//! Many lights, sphere lights, and shadow filters.

use std::f64::consts::PI;

use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLightShadowMap, GlobalAmbientLight, ShadowFilteringMethod};
use bevy_math::{DMat4, DVec3};
use quadrille_3d::prelude::*;

use crate::analytic_lighting::{assert_near, energy, exposure};
use crate::common::{EXACT, Rig};

const WIDTH: u32 = 48;
const HEIGHT: u32 = 32;

/// Vertices, and interpolated values with them, are snapped to this fraction of a pixel: lavapipe and NVIDIA have 8
/// bits (`subPixelPrecisionBits`, section "Polygons"). Where the floor is seen at a grazing angle close to a lamp, a
/// thousandth of a pixel is one percent of its light.
const SNAP: f64 = 1.0 / 256.0;

/// Pseudorandom numbers from 0 to 1.
fn noise(index: u32, salt: u32) -> f32 {
    let bits = (index * 8 + salt).wrapping_mul(0x9e37_79b9);
    let bits = (bits ^ bits >> 15).wrapping_mul(0x85eb_ca6b);
    f32::from((bits >> 13) as u16) / 65535.0
}

#[derive(Clone)]
struct ReferenceLight {
    position: Vec3,
    range: f32,
    intensity: f32,
    /// Direction and angles of a spot light.
    axis: Option<(Vec3, f32, f32)>,
}

/// Lamps over a floor of 40 by 40 units: equally many point and spot lights.
fn reference_lights(count: u32) -> Vec<ReferenceLight> {
    let reference_light = |index| {
        let at = |salt, size| (noise(index, salt) - 0.5) * size;
        ReferenceLight {
            position: Vec3::new(at(0, 40.0), 0.3 + noise(index, 1), at(2, 40.0)),
            range: 1.0 + 2.0 * noise(index, 3),
            intensity: 20_000.0 + 60_000.0 * noise(index, 4),
            axis: (index % 2 == 1).then(|| {
                let aside = Vec3::new(at(5, 2.0), -1.0, at(6, 2.0)).normalize();
                let outer = 0.3 + 0.9 * noise(index, 7);
                (aside, outer * 0.7, outer)
            }),
        }
    };
    (0..count).map(reference_light).collect()
}

fn spawn(world: &mut World, reference_light: &ReferenceLight) {
    match reference_light.axis {
        None => world.spawn((
            PointLight {
                intensity: reference_light.intensity,
                range: reference_light.range,
                ..PointLight::default()
            },
            Transform::from_translation(reference_light.position),
        )),
        Some((axis, inner_angle, outer_angle)) => world.spawn((
            SpotLight {
                intensity: reference_light.intensity,
                range: reference_light.range,
                inner_angle,
                outer_angle,
                ..SpotLight::default()
            },
            Transform::from_translation(reference_light.position).looking_to(axis, Vec3::X),
        )),
    };
}

/// Exposed radiance of a rough floor at height 0 without specular reflection.
fn lit(reference_lights: &[ReferenceLight], position: DVec3, to_view: DVec3) -> f64 {
    let reference_light = |reference_light: &ReferenceLight| {
        let way = reference_light.position.as_dvec3() - position;
        let (distance, to_light) = (way.length(), way.normalize());
        let part = (distance / f64::from(reference_light.range)).powi(4);
        let mut strength = (1.0 - part).clamp(0.0, 1.0).powi(2) / (distance * distance);
        if let Some((axis, inner, outer)) = reference_light.axis {
            let [inner, outer] = [inner, outer].map(|angle| f64::from(angle).cos());
            let cone = (axis.as_dvec3().dot(-to_light) - outer) / (inner - outer);
            strength *= cone.clamp(0.0, 1.0).powi(2);
        }
        let (n_l, n_v) = (to_light.y, to_view.y);
        let l_h = to_light.dot((to_light + to_view).normalize());
        let grazing = 2.0 * l_h * l_h - 0.5;
        let burley = (1.0 + grazing * (1.0 - n_l).powi(5)) * (1.0 + grazing * (1.0 - n_v).powi(5));
        f64::from(reference_light.intensity) / (4.0 * PI) * strength * n_l * burley / PI
    };
    reference_lights.iter().map(reference_light).sum::<f64>() * exposure()
}

/// A floor, lamps over it and a camera.
fn floor(reference_lights: &[ReferenceLight]) -> (Rig, Entity) {
    let mut rig = Rig::with_dfg_lut(WIDTH, HEIGHT);
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    let mesh = Plane3d::default().mesh().size(200.0, 200.0);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = StandardMaterial {
        perceptual_roughness: 1.0,
        reflectance: 0.0,
        ..StandardMaterial::default()
    };
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material)));
    for reference_light in reference_lights {
        spawn(world, reference_light);
    }
    let camera = world.spawn((
        Camera3d::default(),
        RenderTarget::TextureView(EXACT),
        Tonemapping::None,
        Msaa::Off,
    ));
    let camera = camera.id();
    rig.start();
    (rig, camera)
}

/// Returns the point of the floor that a pixel's center shows, and the direction from there to the view.
fn seen(world_from_clip: DMat4, across: f64, up: f64) -> (DVec3, DVec3) {
    let near = world_from_clip.project_point3(DVec3::new(across, up, 1.0));
    let other = world_from_clip.project_point3(DVec3::new(across, up, 0.5));
    let way = (other - near).normalize();
    let position = near + way * (-near.y / way.y);
    (position, -way)
}

#[test]
#[ignore = "needs a device"]
fn hundreds_of_lights_match_brute_force() {
    let reference_lights = reference_lights(1500);
    let flat = Projection::from(OrthographicProjection {
        scale: 0.5,
        ..OrthographicProjection::default_3d()
    });
    let deep = Projection::from(PerspectiveProjection::default());
    let above = Transform::from_xyz(0.0, 20.0, 0.0).looking_at(Vec3::ZERO, Vec3::NEG_Z);
    let aside = Transform::from_xyz(-3.0, 4.0, 16.0).looking_at(Vec3::ZERO, Vec3::Y);
    let among = Transform::from_xyz(0.5, 0.6, 0.5).looking_at(Vec3::new(9.0, 0.0, 4.0), Vec3::Y);
    let part = Viewport {
        physical_position: UVec2::new(16, 8),
        physical_size: UVec2::new(32, 20),
        ..Viewport::default()
    };
    let (mut rig, entity) = floor(&reference_lights);
    for (projection, eye, viewport) in [
        (flat, above, None),
        (deep.clone(), aside, None),
        (deep.clone(), among, None),
        (deep, aside, Some(part)),
    ] {
        let what = format!("{projection:?} {eye:?} {viewport:?}");
        let camera = Camera {
            viewport: viewport.clone(),
            clear_color: ClearColorConfig::Custom(Color::BLACK),
            ..Camera::default()
        };
        rig.app
            .world_mut()
            .entity_mut(entity)
            .insert((projection, eye, camera));
        let (corner, size) = viewport
            .map_or((UVec2::ZERO, UVec2::new(WIDTH, HEIGHT)), |viewport| {
                (viewport.physical_position, viewport.physical_size)
            });
        for row in [12, 18, 24] {
            let found = rig.exact_row(row);
            let world = rig.app.world_mut();
            let mut cameras = world.query::<(&Camera, &GlobalTransform)>();
            let (camera, transform) = cameras.single(world).expect("there is one");
            let clip_from_view = camera.clip_from_view().as_dmat4();
            let world_from_clip = transform.to_matrix().as_dmat4() * clip_from_view.inverse();
            for column in corner.x..corner.x + size.x {
                let across = f64::from(column - corner.x) + 0.5;
                let down = f64::from(row - corner.y) + 0.5;
                let at = |across: f64, down: f64| {
                    let (position, to_view) = seen(
                        world_from_clip,
                        across / f64::from(size.x) * 2.0 - 1.0,
                        1.0 - down / f64::from(size.y) * 2.0,
                    );
                    if to_view.y > 0.01 {
                        lit(&reference_lights, position, to_view)
                    } else {
                        0.0
                    }
                };
                let around = [-SNAP, 0.0, SNAP];
                let around = around
                    .iter()
                    .flat_map(|x| around.map(|y| (across + x, down + y)));
                let (least, most) = around.fold((f64::MAX, 0.0), |(least, most), (x, y)| {
                    let wanted: f64 = at(x, y);
                    (wanted.min(least), wanted.max(most))
                });
                let found = f64::from(found[column as usize][0]);
                assert!(
                    found > 0.99 * least - 2e-4 && found < 1.01 * most + 2e-4,
                    "{column} {row} of {what}: {found}, not {least} to {most}"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn mesh_entities_can_be_lights() {
    let reference_light = ReferenceLight {
        position: Vec3::new(0.0, 1.0, 0.0),
        range: 20.0,
        intensity: 50_000.0,
        axis: None,
    };
    let (mut rig, camera) = floor(&[reference_light]);
    let aside = Transform::from_xyz(0.0, 4.0, 8.0).looking_at(Vec3::ZERO, Vec3::Y);
    rig.app.world_mut().entity_mut(camera).insert(aside);
    // Below the lamp.
    let row = HEIGHT - 4;
    let before = rig.exact_row(row);
    assert!(before[WIDTH as usize / 2][0] > 0.01, "{before:?}");
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Sphere::new(0.05));
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::BLACK);
    let mut lights = world.query_filtered::<Entity, With<PointLight>>();
    let light = lights.single(world).expect("there is one");
    let mesh = (Mesh3d(mesh), MeshMaterial3d(material));
    world.entity_mut(light).insert(mesh);
    assert_eq!(rig.exact_row(row), before, "with a mesh");
    // On another layer than the camera.
    let other = RenderLayers::layer(3);
    rig.app.world_mut().entity_mut(light).insert(other);
    let dark = rig.exact_row(row);
    assert!(dark.iter().all(|pixel| pixel[0] == 0.0), "{dark:?}");
}

#[test]
#[ignore = "needs a device"]
fn sphere_lights_use_representative_point() {
    let mut rig = Rig::with_dfg_lut(8, 8);
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    let mesh = Rectangle::new(100.0, 100.0);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(Color::WHITE);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material.clone())));
    let reference_light = world.spawn_empty().id();
    world.spawn((
        Camera3d::default(),
        RenderTarget::TextureView(EXACT),
        Projection::from(OrthographicProjection {
            scale: 0.001,
            ..OrthographicProjection::default_3d()
        }),
        Tonemapping::None,
        Msaa::Off,
        Transform::from_xyz(0.0, 0.0, 10.0),
    ));
    rig.start();
    let mut shown = |roughness: f32, radius: f32, x: f32| {
        let world = rig.app.world_mut();
        let light = PointLight {
            radius,
            range: 1e4,
            ..PointLight::default()
        };
        world
            .entity_mut(reference_light)
            .insert((light, Transform::from_xyz(x, 0.0, 4.0)));
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        let look = StandardMaterial {
            perceptual_roughness: roughness,
            metallic: 1.0,
            ..StandardMaterial::default()
        };
        materials
            .insert(material.id(), look)
            .expect("the material is there");
        rig.exactly(4, 4)[0]
    };
    for (roughness, radius, x) in [(0.5, 0.5, 1.0), (0.3, 1.0, 1.5), (0.8, 2.0, 0.5)] {
        let found = shown(roughness, radius, x);
        let wanted = of_sphere(roughness.into(), radius.into(), x.into());
        assert_near(found, wanted, 0.01, &format!("{roughness} {radius} {x}"));
    }
    let (small, none) = (shown(0.5, 1e-6, 1.0), shown(0.5, 0.0, 1.0));
    assert_near(small, none.into(), 1e-3, "a sphere that is nearly a point");
}

/// Specular reflection of metal towards a view straight above, from a sphere light 4 units above it and to the side.
fn of_sphere(roughness: f64, radius: f64, x: f64) -> f64 {
    let distance = x.hypot(4.0);
    // The view ray is reflected straight up.
    let closest = [x - x * (radius / x).min(1.0), 4.0];
    let length = closest[0].hypot(closest[1]);
    let (n_l, half) = (4.0 / length, (closest[0] / length, 4.0 / length + 1.0));
    let n_h = half.1 / half.0.hypot(half.1);
    let alpha = roughness * roughness;
    let wide = (alpha + radius / (2.0 * distance)).min(1.0);
    let lobe = wide + (alpha - wide) * (1.0 - alpha).powi(4);
    let square = lobe * lobe;
    let facets = square / (PI * (n_h * n_h * (square - 1.0) + 1.0).powi(2));
    let visible = 0.5 / (n_l + (n_l * n_l * (1.0 - square) + square).sqrt());
    let seen = n_l / (n_l + (radius / distance).powi(2));
    let compensation = 1.0 / energy(alpha, 1.0);
    let mirrored = facets * visible * compensation * (alpha / wide).powi(2) * seen * n_l;
    let candela = f64::from(PointLight::default().intensity) / (4.0 * PI);
    mirrored * candela / (distance * distance) * exposure()
}

#[test]
#[ignore = "needs a device"]
fn shadow_filters_differ_only_at_shadow_edges() {
    let mut rig = Rig::with_dfg_lut(64, 8);
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    world.insert_resource(DirectionalLightShadowMap { size: 64 });
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::WHITE);
    let floor = Plane3d::default().mesh().size(20.0, 20.0);
    let floor = world.resource_mut::<Assets<Mesh>>().add(floor);
    let cube = world
        .resource_mut::<Assets<Mesh>>()
        .add(Cuboid::new(1.0, 1.0, 8.0));
    world.spawn((Mesh3d(floor), MeshMaterial3d(material.clone())));
    let over = Transform::from_xyz(-1.5, 3.0, 0.0);
    world.spawn((Mesh3d(cube), MeshMaterial3d(material), over));
    world.spawn((
        SpotLight {
            intensity: 1e6,
            outer_angle: 0.6,
            inner_angle: 0.55,
            shadow_maps_enabled: true,
            ..SpotLight::default()
        },
        Transform::from_xyz(-1.5, 9.0, 0.0).looking_at(Vec3::new(-1.5, 0.0, 0.0), Vec3::Z),
    ));
    let camera = world.spawn((
        Camera3d::default(),
        RenderTarget::TextureView(EXACT),
        Projection::from(OrthographicProjection {
            scale: 1.0 / 16.0,
            ..OrthographicProjection::default_3d()
        }),
        Tonemapping::None,
        Msaa::Off,
        Transform::from_xyz(0.0, 2.0, 0.0).looking_at(Vec3::ZERO, Vec3::NEG_Z),
    ));
    let camera = camera.id();
    rig.start();
    let rows = [
        ShadowFilteringMethod::Hardware2x2,
        ShadowFilteringMethod::Gaussian,
        ShadowFilteringMethod::Temporal,
    ]
    .map(|method| {
        rig.app.world_mut().entity_mut(camera).insert(method);
        rig.exact_row(4)
    });
    let [hard, soft, noisy] = &rows;
    let differ = |a: &[[f32; 4]], b: &[[f32; 4]]| {
        let pairs = a.iter().zip(b);
        pairs.filter(|(a, b)| (a[0] - b[0]).abs() > 1e-3).count()
    };
    for other in [soft, noisy] {
        let count = differ(hard, other);
        assert!((2..30).contains(&count), "{count} of 64 pixels differ");
    }
    assert!(differ(soft, noisy) > 1);
    // With wider filters, the steps from light to shadow in a row become smaller.
    let steepest = |row: &[[f32; 4]]| {
        let steps = row.windows(2).map(|pair| (pair[0][0] - pair[1][0]).abs());
        steps.fold(0.0, f32::max)
    };
    assert!(
        steepest(soft) < 0.8 * steepest(hard),
        "{} {}",
        steepest(soft),
        steepest(hard)
    );
}
