//! Skyboxes and environment lighting: directions, energy, and filtered mip levels against quadrature.

use std::f64::consts::PI;

use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::GlobalAmbientLight;
use quadrille::prelude::Readback;
use quadrille::vulkan::resources::View;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::EnvironmentMaps3d;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureViewDescriptor};

use crate::analytic_lighting::{self, TOLERANCE, assert_near, exposure};
use crate::common::{EXACT, Rig, golden};

/// A float image, from a function of texel and layer.
pub(crate) fn image(size: [u32; 3], color: impl Fn([u32; 3]) -> [f32; 3]) -> Image {
    let [width, height, layers] = size;
    let places =
        (0..layers).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
    let texels = places.flat_map(|place| {
        let [r, g, b] = color(place);
        [r, g, b, 1.0]
    });
    let extent = Extent3d {
        width,
        height,
        depth_or_array_layers: layers,
    };
    let mut image = Image::new(
        extent,
        TextureDimension::D2,
        texels.flat_map(f32::to_le_bytes).collect(),
        TextureFormat::Rgba32Float,
        bevy_asset::RenderAssetUsages::default(),
    );
    if layers == 6 {
        image.texture_view_descriptor = Some(TextureViewDescriptor {
            dimension: Some(wgpu_types::TextureViewDimension::Cube),
            ..TextureViewDescriptor::default()
        });
    }
    image
}

/// A different color for each face: +x, -x, +y, -y, +z, -z of the cube, which is left-handed.
const FACES: [[f32; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [0.5, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.5, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 0.0, 0.5],
];

/// The color of a world direction in that cube.
fn face_of(direction: Vec3) -> [f32; 3] {
    let axes = [
        Vec3::X,
        Vec3::NEG_X,
        Vec3::Y,
        Vec3::NEG_Y,
        Vec3::NEG_Z,
        Vec3::Z,
    ];
    let face = axes.iter().position(|axis| axis.dot(direction) > 0.9);
    FACES[face.expect("a direction along an axis")]
}

fn faces() -> Image {
    image([4, 4, 6], |[_, _, face]| FACES[face as usize])
}

/// The same as an equirectangular image.
fn sphere() -> Image {
    image([64, 32, 1], |[x, y, _]| {
        let longitude = ((x as f32 + 0.5) / 64.0 - 0.5) * 2.0 * std::f32::consts::PI;
        let latitude = (y as f32 + 0.5) / 32.0 * std::f32::consts::PI;
        let direction = Vec3::new(
            latitude.sin() * longitude.sin(),
            latitude.cos(),
            -latitude.sin() * longitude.cos(),
        );
        let largest = direction.abs().max_element();
        let axis = direction.to_array().map(|part| {
            if part.abs() == largest {
                part.signum()
            } else {
                0.0
            }
        });
        face_of(Vec3::from(axis))
    })
}

/// A camera whose values are read exactly.
pub(crate) fn eye(eye: Transform) -> impl Bundle {
    (
        Camera3d::default(),
        RenderTarget::TextureView(EXACT),
        Tonemapping::None,
        eye,
    )
}

/// The center pixel of views in these directions.
fn rendered(picture: fn() -> Image, rotation: Quat, directions: &[Vec3]) -> Vec<[f32; 3]> {
    let mut rig = Rig::scene(
        8,
        8,
        move |mut commands: Commands, mut images: ResMut<Assets<Image>>| {
            let image = Some(images.add(picture()));
            let brightness = (1.0 / exposure()) as f32;
            let skybox = Skybox {
                image,
                brightness,
                rotation,
            };
            commands.spawn((eye(Transform::default()), skybox));
        },
    );
    rig.update(1);
    let look = |direction: &Vec3| {
        let world = rig.app.world_mut();
        let mut cameras = world.query::<(&Camera3d, &mut Transform)>();
        let up = if direction.y.abs() > 0.9 {
            Vec3::Z
        } else {
            Vec3::Y
        };
        for (_, mut transform) in cameras.iter_mut(world) {
            *transform = Transform::from_xyz(1e4, -2e3, 0.0).looking_to(*direction, up);
        }
        let [r, g, b, a] = rig.exactly(4, 4);
        assert_eq!(a, 1.0);
        [r, g, b]
    };
    directions.iter().map(look).collect()
}

fn assert_colors(found: &[[f32; 3]], wanted: &[[f32; 3]]) {
    let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 0.01;
    let mut pairs = found.as_flattened().iter().zip(wanted.as_flattened());
    assert!(pairs.all(is_near), "{found:?}, not {wanted:?}");
}

#[test]
#[ignore = "needs a device"]
fn skybox_has_correct_orientation() {
    let directions = [
        Vec3::X,
        Vec3::NEG_X,
        Vec3::Y,
        Vec3::NEG_Y,
        Vec3::NEG_Z,
        Vec3::Z,
    ];
    let wanted = directions.map(face_of);
    assert_colors(&rendered(faces, Quat::IDENTITY, &directions), &wanted);
    assert_colors(&rendered(sphere, Quat::IDENTITY, &directions), &wanted);
    // After a rotation to the left, what was ahead is on the left.
    let turned = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    let left = rendered(faces, turned, &[Vec3::NEG_X]);
    assert_colors(&left, &[face_of(Vec3::NEG_Z)]);
}

/// A large plane at the origin that faces +z, seen from there.
pub(crate) fn plane(material: StandardMaterial, more: impl FnOnce(&mut World)) -> Rig {
    let mut rig = analytic_lighting::rig(material, 0.0);
    rig.update(1);
    more(rig.app.world_mut());
    rig
}

pub(crate) fn camera(world: &mut World) -> EntityWorldMut<'_> {
    let camera = world
        .query_filtered::<Entity, With<Camera3d>>()
        .single(world);
    world.entity_mut(camera.expect("there is one camera"))
}

pub(crate) fn environment(world: &mut World, image: Image, intensity: f32) -> EnvironmentMapLight {
    let map = world.resource_mut::<Assets<Image>>().add(image);
    EnvironmentMapLight {
        diffuse_map: map.clone(),
        specular_map: map,
        intensity,
        ..EnvironmentMapLight::default()
    }
}

/// Intensity at which a color of 1 in a map is 1 in the picture.
pub(crate) fn one() -> f32 {
    (1.0 / exposure()) as f32
}

fn mirror() -> StandardMaterial {
    StandardMaterial {
        metallic: 1.0,
        perceptual_roughness: 0.0,
        ..StandardMaterial::default()
    }
}

#[test]
#[ignore = "needs a device"]
fn mirror_reflects_rotated_environment() {
    let mut rig = plane(mirror(), |world| {
        let light = environment(world, faces(), one());
        camera(world).insert(light);
    });
    let [r, g, b, _] = rig.exactly(4, 4);
    assert_colors(&[[r, g, b]], &[face_of(Vec3::Z)]);
    let mut world = camera(rig.app.world_mut());
    let mut light = world.get_mut::<EnvironmentMapLight>().expect("it is there");
    light.rotation = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    let [r, g, b, _] = rig.exactly(4, 4);
    // A rotation moves the left side of the map behind the camera.
    assert_colors(&[[r, g, b]], &[face_of(Vec3::NEG_X)]);
}

#[test]
#[ignore = "needs a device"]
fn reflection_probes_blend_and_correct_parallax() {
    let green = || image([1, 1, 6], |_| [0.0, 1.0, 0.0]);
    let red = || image([1, 1, 6], |_| [1.0, 0.0, 0.0]);
    let mut rig = plane(mirror(), |world| {
        let own = environment(world, green(), one());
        camera(world).insert(own);
        let light = environment(world, red(), one());
        let probe = LightProbe {
            falloff: Vec3::splat(0.5),
        };
        // The center of the plane is at three quarters of the extent, half way through the falloff.
        let place = Transform::from_xyz(3.0, 0.0, 0.0).with_scale(Vec3::splat(8.0));
        world.spawn((probe, light, place));
    });
    let [r, g, _, _] = rig.exactly(4, 4);
    assert_colors(&[[r, g, 0.0]], &[[0.25, 0.75, 0.0]]);

    let mut rig = plane(mirror(), |world| {
        let light = environment(world, faces(), one());
        let place = Transform::from_xyz(-3.0, 0.0, 0.0).with_scale(Vec3::splat(8.0));
        world.spawn((LightProbe::new(), light, place));
    });
    let mut with = |parallax: ParallaxCorrection| {
        let world = rig.app.world_mut();
        let probe = world
            .query_filtered::<Entity, With<LightProbe>>()
            .single(world);
        world
            .entity_mut(probe.expect("there is one"))
            .insert(parallax);
        let [r, g, b, _] = rig.exactly(4, 4);
        [r, g, b]
    };
    // Near a wall, the reflected ray hits the wall, not what is straight ahead.
    let near = ParallaxCorrection::Custom(Vec3::new(0.5, 0.5, 0.1));
    assert_colors(&[with(near)], &[face_of(Vec3::X)]);
    assert_colors(&[with(ParallaxCorrection::None)], &[face_of(Vec3::Z)]);
    assert_colors(&[with(ParallaxCorrection::Auto)], &[face_of(Vec3::Z)]);
}

#[test]
#[ignore = "needs a device"]
fn white_furnace_test() {
    let mut rig = Rig::scene_with_dfg_lut(
        64,
        64,
        move |mut commands: Commands,
              mut meshes: ResMut<Assets<Mesh>>,
              mut materials: ResMut<Assets<StandardMaterial>>,
              mut images: ResMut<Assets<Image>>| {
            commands.insert_resource(GlobalAmbientLight::NONE);
            let sky = images.add(image([1, 1, 6], |_| [0.5; 3]));
            commands.spawn((
                Mesh3d(meshes.add(Sphere::new(1.0))),
                MeshMaterial3d(materials.add(Color::WHITE)),
            ));
            commands.spawn((
                Camera3d::default(),
                Tonemapping::None,
                Transform::from_xyz(0.0, 0.0, 3.0),
                Skybox {
                    image: Some(sky.clone()),
                    brightness: one(),
                    ..Skybox::default()
                },
                GeneratedEnvironmentMapLight {
                    environment_map: sky,
                    intensity: one(),
                    ..GeneratedEnvironmentMapLight::default()
                },
            ));
        },
    );
    for (metallic, roughness, clearcoat, through) in [
        (1.0, 0.1, 0.0, 0.0),
        (1.0, 0.6, 0.0, 0.0),
        (1.0, 1.0, 0.0, 0.0),
        (0.0, 0.1, 0.0, 0.0),
        (0.0, 0.5, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0),
        (0.5, 0.5, 0.0, 0.0),
        (0.0, 0.5, 1.0, 0.0),
        (0.0, 0.5, 0.0, 0.5),
        (0.0, 1.0, 0.5, 1.0),
    ] {
        let mut materials = rig
            .app
            .world_mut()
            .resource_mut::<Assets<StandardMaterial>>();
        for (_, material) in materials.iter_mut() {
            material.metallic = metallic;
            material.perceptual_roughness = roughness;
            material.clearcoat = clearcoat;
            material.diffuse_transmission = through;
        }
        let picture = rig.picture();
        let behind = picture.at(0, 0);
        assert!(behind[0].abs_diff(188) <= 1, "{behind:?}");
        let off = picture
            .pixels
            .iter()
            .map(|pixel| pixel[0].abs_diff(behind[0]));
        let most = off.max().expect("there are pixels");
        assert!(
            most <= 2,
            "{metallic} {roughness} {clearcoat} {through}: off by {most}"
        );
    }
}

/// Light that increases with height, as an equirectangular image.
fn brighter_above(factor: f32) -> Image {
    image([64, 32, 1], move |[_, y, _]| {
        let height = ((y as f32 + 0.5) / 32.0 * std::f32::consts::PI).cos();
        [factor * (1.0 + height); 3]
    })
}

/// Mean height of directions around the zenith, weighted by GGX lobe and cosine.
fn height(alpha: f64) -> f64 {
    const STEPS: u32 = 20_000;
    let square = alpha * alpha;
    let mut sums = [0.0; 2];
    for step in 0..STEPS {
        let angle = (f64::from(step) + 0.5) / f64::from(STEPS) * PI / 2.0;
        let half = (angle / 2.0).cos();
        let spread = half * half * (square - 1.0) + 1.0;
        let weight = square / (spread * spread) * angle.cos() * angle.sin();
        sums[0] += weight * angle.cos();
        sums[1] += weight;
    }
    sums[0] / sums[1]
}

fn half(bytes: &[u8]) -> f32 {
    let bits = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    // No negative number, infinity or subnormal is in a filtered cube of these tests.
    f32::from_bits((bits << 13) + ((127 - 15) << 23))
}

/// Indices in the filtered maps of an environment.
const IRRADIANCE: usize = 0;
const RADIANCE: usize = 1;

/// A texel next to the center of the faces +y and -y of a mip level, and the height of the upper one.
fn poles(rig: &mut Rig, map: &Handle<Image>, which: usize, level: u8) -> ([f64; 2], f64) {
    let maps = rig.app.world().resource::<EnvironmentMaps3d>();
    let cube = maps.filtered(map).expect("it is made")[which].clone();
    let side = (cube.desc().extent[0] >> level) as usize;
    let done = rig.read_back(Readback::view(&cube, View::WHOLE.mip(level)));
    let beside = 1.0 / side as f64;
    let at = |face: usize| 8 * (face * side * side + (side + 1) * side / 2);
    let found = [2, 3].map(|face| f64::from(half(&done.bytes[at(face)..])));
    (found, 1.0 / (1.0 + 2.0 * beside * beside).sqrt())
}

#[test]
#[ignore = "needs a device"]
fn filtered_cubes_match_integrals() {
    let mut rig = plane(StandardMaterial::default(), |world| {
        let map = world
            .resource_mut::<Assets<Image>>()
            .add(brighter_above(1.0));
        camera(world).insert(GeneratedEnvironmentMapLight {
            environment_map: map,
            intensity: one(),
            ..GeneratedEnvironmentMapLight::default()
        });
    });
    rig.update(2);
    let world = rig.app.world_mut();
    let light = camera(world).get::<GeneratedEnvironmentMapLight>().cloned();
    let map = light.expect("it is there").environment_map;
    let levels = 4;
    let mut expect = |which, level, slope: f64| {
        let (found, height) = poles(&mut rig, &map, which, level);
        let off = [
            found[0] - (1.0 + slope * height),
            found[1] - (1.0 - slope * height),
        ];
        // One percent of the brightest.
        let is_near = off.iter().all(|off| off.abs() < 0.02);
        assert!(
            is_near,
            "{which}, level {level}: {found:?} is off by {off:?}"
        );
    };
    expect(RADIANCE, 0, 1.0);
    for level in 1..levels {
        let perceptual = f64::from(level) / f64::from(levels - 1);
        expect(RADIANCE, level, height(perceptual * perceptual));
    }
    // The mean height, weighted by the cosine.
    expect(IRRADIANCE, 0, 2.0 / 3.0);

    // A new image is filtered, an unchanged one is not filtered again.
    let before = rig.exactly(4, 4)[0];
    let world = rig.app.world_mut();
    world
        .resource_mut::<quadrille::prelude::Renderer>()
        .keep_frames(true);
    rig.update(1);
    let plan = |rig: &Rig| {
        let renderer = rig.app.world().resource::<quadrille::prelude::Renderer>();
        renderer.plan_text().expect("frames are kept")
    };
    assert!(!plan(&rig).contains("filter_env_3d"), "{}", plan(&rig));
    let mut images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    let _ = images.insert(&map, brighter_above(2.0));
    rig.update(1);
    assert!(plan(&rig).contains("filter_env_3d"), "{}", plan(&rig));
    let after = f64::from(rig.exactly(4, 4)[0]);
    assert_near(before, after / 2.0, 2.0 * TOLERANCE, "twice as bright");
}

/// Spheres of different materials under a sky with a sun, on a light floor.
fn outdoors(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
) {
    let sun = Vec3::new(0.5, 0.6, 0.4).normalize();
    let sky = images.add(image([128, 64, 1], |[x, y, _]| {
        let longitude = ((x as f32 + 0.5) / 128.0 - 0.5) * 2.0 * std::f32::consts::PI;
        let latitude = (y as f32 + 0.5) / 64.0 * std::f32::consts::PI;
        let around = latitude.sin();
        let direction = Vec3::new(
            around * longitude.sin(),
            latitude.cos(),
            -around * longitude.cos(),
        );
        let ground = Vec3::new(0.25, 0.2, 0.15);
        let air = Vec3::new(0.9, 0.95, 1.0).lerp(Vec3::new(0.2, 0.4, 0.9), direction.y.max(0.0));
        let shining = if direction.dot(sun) > 0.99 { 30.0 } else { 0.0 };
        (if direction.y < 0.0 {
            ground
        } else {
            air + shining
        })
        .to_array()
    }));
    let sphere = meshes.add(Sphere::new(0.45));
    for (row, metallic) in [0.0, 1.0].into_iter().enumerate() {
        for column in 0..5u8 {
            commands.spawn((
                Mesh3d(sphere.clone()),
                MeshMaterial3d(materials.add(StandardMaterial {
                    base_color: Color::srgb(0.9, 0.7, 0.4),
                    metallic,
                    perceptual_roughness: f32::from(column) / 4.0,
                    ..StandardMaterial::default()
                })),
                Transform::from_xyz(f32::from(column) - 2.0, row as f32 - 0.5, 0.0),
            ));
        }
    }
    commands.insert_resource(GlobalAmbientLight::NONE);
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 0.6, 5.0).looking_at(Vec3::ZERO, Vec3::Y),
        Skybox {
            image: Some(sky.clone()),
            brightness: one(),
            ..Skybox::default()
        },
        GeneratedEnvironmentMapLight {
            environment_map: sky,
            intensity: one(),
            ..GeneratedEnvironmentMapLight::default()
        },
    ));
}

#[test]
#[ignore = "needs a device"]
fn spheres_under_skybox_match_golden() {
    let mut rig = Rig::scene(240, 135, outdoors);
    golden::expect("sky", &rig.picture());
}

#[test]
#[ignore = "needs a device"]
fn invalid_skybox_images_are_skipped() {
    let mut rig = plane(mirror(), |world| {
        let light = environment(world, image([3, 2, 1], |_| [9.0; 3]), one());
        let flat = light.diffuse_map.clone();
        camera(world).insert((
            light,
            Skybox {
                image: Some(flat.clone()),
                brightness: 1.0,
                ..Skybox::default()
            },
        ));
        let probe = LightProbe::new();
        let generated = GeneratedEnvironmentMapLight {
            environment_map: flat,
            intensity: 1.0,
            ..GeneratedEnvironmentMapLight::default()
        };
        world.spawn((probe, generated, Transform::from_scale(Vec3::splat(9.0))));
        let odd = environment(world, faces(), f32::NAN);
        world.spawn((probe, odd, Transform::from_scale(Vec3::splat(9.0))));
    });
    assert_eq!(rig.exactly(4, 4), [0.0, 0.0, 0.0, 1.0]);
}

/// An irradiance volume of `size` voxels, whose values are a function of voxel and side.
pub(crate) fn cubes(size: [u32; 3], value: impl Fn([u32; 3], usize) -> f32) -> Image {
    let [x, y, z] = size;
    let mut image = image([x, 2 * y, 3 * z], |[column, row, slice]| {
        let side = 2 * (slice / z) as usize + (row / y) as usize;
        [value([column, row % y, slice % z], side); 3]
    });
    image.texture_descriptor.dimension = TextureDimension::D3;
    image.texture_view_descriptor = None;
    image
}

/// A grey plane that is lit only by a volume.
fn in_irradiance_volume(voxels: Image, place: Transform, falloff: f32) -> Rig {
    let material = StandardMaterial {
        base_color: Color::linear_rgb(0.5, 0.5, 0.5),
        reflectance: 0.0,
        ..StandardMaterial::default()
    };
    plane(material, |world| {
        let voxels = world.resource_mut::<Assets<Image>>().add(voxels);
        let volume = IrradianceVolume {
            voxels,
            intensity: one(),
            ..IrradianceVolume::default()
        };
        let falloff = LightProbe {
            falloff: Vec3::splat(falloff),
        };
        world.spawn((volume, falloff, place));
    })
}

/// Rotates the plane and the camera.
fn turn(rig: &mut Rig, turn: Quat) {
    let world = rig.app.world_mut();
    let mut eyes = world.query_filtered::<&mut Transform, With<Camera3d>>();
    let eye = Transform::from_xyz(0.0, 0.0, 10.0);
    *eyes.single_mut(world).expect("there is one") = Transform::from_rotation(turn) * eye;
    let mut planes = world.query_filtered::<&mut Transform, With<Mesh3d>>();
    planes.single_mut(world).expect("there is one").rotation = turn;
}

#[test]
#[ignore = "needs a device"]
fn irradiance_volume_faces_light_matching_normals() {
    let about = Transform::from_scale(Vec3::splat(8.0));
    let mut rig = in_irradiance_volume(cubes([2, 2, 2], |_, side| 1.0 + side as f32), about, 0.0);
    let mut lit = |direction: Quat| {
        turn(&mut rig, direction);
        rig.exactly(4, 4)[0]
    };
    let axes = [
        Vec3::X,
        Vec3::NEG_X,
        Vec3::Y,
        Vec3::NEG_Y,
        Vec3::Z,
        Vec3::NEG_Z,
    ];
    for (side, direction) in (1u8..).zip(axes) {
        let found = lit(Quat::from_rotation_arc(Vec3::Z, direction));
        assert_near(
            found,
            0.5 * f64::from(side),
            TOLERANCE,
            &format!("{direction}"),
        );
    }
    let wanted = 0.5 * (5.0 * 0.6f64.cos().powi(2) + 0.6f64.sin().powi(2));
    let found = lit(Quat::from_rotation_y(0.6));
    assert_near(found, wanted, TOLERANCE, "between two sides");
}

#[test]
#[ignore = "needs a device"]
fn irradiance_volumes_apply_inside_bounds() {
    // Voxels along x: the center of the plane is a quarter of the size to the left of the center of the volume.
    let along = |[x, ..]: [u32; 3], _| 1.0 + x as f32;
    let right = Transform::from_xyz(2.0, 0.0, 0.0).with_scale(Vec3::splat(8.0));
    let found = in_irradiance_volume(cubes([4, 1, 1], along), right, 0.0).exactly(4, 4)[0];
    // Halfway between the centers of the first voxel, at an eighth of the size, and of the second.
    assert_near(found, 0.5 * 1.5, TOLERANCE, "between two cubes");
    // At three quarters of the extent, half way through the falloff, under a sky.
    let place = Transform::from_xyz(3.0, 0.0, 0.0).with_scale(Vec3::splat(8.0));
    let mut rig = in_irradiance_volume(cubes([1, 1, 1], |_, _| 4.0), place, 0.5);
    let world = rig.app.world_mut();
    let sky = environment(world, image([1, 1, 6], |_| [1.0; 3]), one());
    camera(world).insert(sky);
    let wanted = 0.5 * (0.25 * 4.0 + 0.75);
    assert_near(rig.exactly(4, 4)[0], wanted, 0.01, "in the falloff");
    let world = rig.app.world_mut();
    let mut volumes = world.query_filtered::<&mut Transform, With<IrradianceVolume>>();
    volumes
        .single_mut(world)
        .expect("there is one")
        .translation
        .x = 30.0;
    assert_near(rig.exactly(4, 4)[0], 0.5, 0.01, "outside");
}
