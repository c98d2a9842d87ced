//! Clustered decals: covered pixels, order, and the properties of surfaces that they change.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::{ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy_light::{ClusteredDecal, GlobalAmbientLight};
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{EXACT, Rig};

const SIDE: u32 = 48;
/// Texels of a decal along each side.
const TEXELS: u32 = 4;

/// A linear image with the nearest texel, from a function of texels.
fn image(side: u32, texel: impl Fn([u32; 2]) -> [f32; 4]) -> Image {
    let at = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
    let extent = Extent3d {
        width: side,
        height: side,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new(
        extent,
        TextureDimension::D2,
        at.flat_map(texel).flat_map(f32::to_le_bytes).collect(),
        TextureFormat::Rgba32Float,
        RenderAssetUsages::default(),
    );
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        mag_filter: ImageFilterMode::Nearest,
        min_filter: ImageFilterMode::Nearest,
        ..ImageSamplerDescriptor::default()
    });
    image
}

/// An extension that changes nothing.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Same {
    #[uniform(100)]
    unused: f32,
}

impl MaterialExtension for Same {}

/// A scene with a camera, without ambient light.
fn rig(camera: impl Bundle) -> Rig {
    let materials = MaterialPlugin::<ExtendedMaterial<StandardMaterial, Same>>::default();
    let mut rig = Rig::with(SIDE, SIDE, (Quadrille3dPlugin::default(), materials));
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    world.spawn((
        Camera3d::default(),
        (Msaa::Off, Tonemapping::None, camera),
        RenderTarget::TextureView(EXACT),
    ));
    rig
}

fn above() -> impl Bundle {
    let projection = OrthographicProjection {
        scaling_mode: ScalingMode::Fixed {
            width: 4.0,
            height: 4.0,
        },
        ..OrthographicProjection::default_3d()
    };
    (Projection::from(projection), down(Vec3::Y * 5.0))
}

/// A transform whose -z points down, and its x to the right of cameras with it.
fn down(at: Vec3) -> Transform {
    Transform::from_translation(at).looking_to(Vec3::NEG_Y, Vec3::NEG_Z)
}

fn spawn_floor(rig: &mut Rig, material: StandardMaterial, transform: Transform) {
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Plane3d::new(Vec3::Y, Vec2::splat(50.0)));
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), transform));
}

fn unlit(value: f32) -> StandardMaterial {
    StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(value, value, value))
    }
}

fn add(rig: &mut Rig, image: Image) -> Option<Handle<Image>> {
    let mut images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    Some(images.add(image))
}

fn value_of([column, row]: [u32; 2]) -> f32 {
    (1 + column + TEXELS * row) as f32 / 16.0
}

/// Value of a decal at a point of the world: `None` close to an edge.
fn decal_at(transform: &Transform, point: Vec3) -> Option<f32> {
    let local = transform.compute_affine().inverse().transform_point3(point);
    if (local.abs() - 0.5).abs().min_element() < 0.02 {
        return None;
    }
    if !local.abs().cmple(Vec3::splat(0.5)).all() {
        return Some(0.0);
    }
    let texels = Vec2::new(local.x + 0.5, 0.5 - local.y) * TEXELS as f32;
    let is_edge = (texels - texels.round()).abs().min_element() < 0.05;
    (!is_edge).then(|| value_of(texels.as_uvec2().to_array()))
}

#[test]
#[ignore = "needs a device"]
fn decal_covers_surfaces_in_its_box() {
    let eye = Transform::from_xyz(1.0, 4.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y);
    let place = down(Vec3::new(0.1, 0.0, 0.2)).with_scale(Vec3::new(2.0, 1.5, 1.0));
    let place = place.with_rotation(Quat::from_rotation_y(0.5) * place.rotation);
    for height in [0.0, 0.3, -0.45, -0.6] {
        let mut rig = rig((
            Projection::from(PerspectiveProjection {
                fov: 0.9,
                ..PerspectiveProjection::default()
            }),
            eye,
        ));
        spawn_floor(&mut rig, unlit(0.0), Transform::from_xyz(0.0, height, 0.0));
        let pattern = image(TEXELS, |at| {
            let value = value_of(at);
            [value, value, value, 1.0]
        });
        let base_color_texture = add(&mut rig, pattern);
        rig.app.world_mut().spawn((
            ClusteredDecal {
                base_color_texture,
                ..ClusteredDecal::default()
            },
            place,
        ));
        let mut covered = 0;
        for (y, row) in (0..).zip(rig.exact_rows()) {
            for (x, found) in (0..).zip(row) {
                let ndc = |pixel: u32| (pixel as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0;
                let slope = 0.45_f32.tan();
                let ray = eye.rotation * Vec3::new(ndc(x) * slope, -ndc(y) * slope, -1.0);
                let point = eye.translation + ray * ((height - eye.translation.y) / ray.y);
                let Some(expected) = decal_at(&place, point) else {
                    continue;
                };
                covered += u32::from(expected > 0.0);
                assert!(
                    (found[0] - expected).abs() < 0.002,
                    "{height} {x} {y}: {found:?}, not {expected}"
                );
            }
        }
        assert_eq!(covered > 100, height > -0.5, "{height}: {covered}");
    }
}

#[test]
#[ignore = "needs a device"]
fn decals_blend_by_alpha_in_order() {
    let mut rig = rig(above());
    spawn_floor(&mut rig, unlit(0.4), Transform::IDENTITY);
    for [value, alpha] in [[1.0, 0.25], [0.0, 0.5]] {
        let base_color_texture = add(&mut rig, image(1, |_| [value, value, value, alpha]));
        let decal = ClusteredDecal {
            base_color_texture,
            ..ClusteredDecal::default()
        };
        rig.app.world_mut().spawn((decal, down(Vec3::ZERO)));
    }
    let found = rig.exactly(SIDE / 2, SIDE / 2);
    let expected = (0.4 * 0.75 + 0.25) * 0.5;
    assert!((found[0] - expected).abs() < 0.002, "{found:?}");
}

/// Color of the middle of a floor under a directional light, with a decal on it.
fn lit(
    material: StandardMaterial,
    floor: Transform,
    decal: impl FnOnce(&mut Rig) -> Option<ClusteredDecal>,
) -> [f32; 4] {
    let mut rig = rig(above());
    spawn_floor(&mut rig, material, floor);
    let decal = decal(&mut rig);
    let world = rig.app.world_mut();
    world.spawn((
        DirectionalLight::default(),
        Transform::default().looking_to(Vec3::new(-0.5, -1.0, 0.2), Vec3::Y),
    ));
    if let Some(decal) = decal {
        let turned = Quat::from_rotation_y(0.8) * down(Vec3::ZERO).rotation;
        world.spawn((decal, Transform::from_rotation(turned)));
    }
    rig.exactly(SIDE / 2, SIDE / 2)
}

fn assert_equal(found: [f32; 4], expected: [f32; 4]) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert!(
            (found - expected).abs() < 0.01 * expected + 1e-4,
            "{found}, not {expected}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn decal_replaces_metal_and_roughness_by_its_alpha() {
    let material = |base: f32, metallic, perceptual_roughness| StandardMaterial {
        metallic,
        perceptual_roughness,
        ..StandardMaterial::from(Color::linear_rgb(base, base, base))
    };
    for alpha in [0.0, 0.5, 1.0] {
        let found = lit(material(0.2, 0.0, 0.9), Transform::IDENTITY, |rig| {
            Some(ClusteredDecal {
                base_color_texture: add(rig, image(1, |_| [0.6, 0.6, 0.6, alpha])),
                metallic_roughness_texture: add(rig, image(1, |_| [0.0, 0.5, 0.8, 1.0])),
                ..ClusteredDecal::default()
            })
        });
        let mixed = |from: f32, to: f32| from + (to - from) * alpha;
        let same = material(mixed(0.2, 0.6), mixed(0.0, 0.8), mixed(0.9, 0.5));
        assert_equal(found, lit(same, Transform::IDENTITY, |_| None));
    }
}

#[test]
#[ignore = "needs a device"]
fn decal_bends_normals_as_a_tilted_surface() {
    let bent = Vec3::new(0.3, 0.2, 0.8);
    let found = lit(StandardMaterial::default(), Transform::IDENTITY, |rig| {
        let texel = bent * 0.5 + 0.5;
        Some(ClusteredDecal {
            normal_map_texture: add(rig, image(1, |_| [texel.x, texel.y, texel.z, 1.0])),
            ..ClusteredDecal::default()
        })
    });
    let turned = Quat::from_rotation_y(0.8) * down(Vec3::ZERO).rotation;
    let normal = turned * bent.normalize();
    let tilted = Transform::from_rotation(Quat::from_rotation_arc(Vec3::Y, normal));
    let flat = lit(StandardMaterial::default(), Transform::IDENTITY, |_| None);
    let expected = lit(StandardMaterial::default(), tilted, |_| None);
    assert_equal(found, expected);
    assert_ne!(flat, expected);
}

#[test]
#[ignore = "needs a device"]
fn decal_adds_emission() {
    let black = StandardMaterial {
        reflectance: 0.0,
        ..StandardMaterial::from(Color::BLACK)
    };
    let found = lit(black, Transform::IDENTITY, |rig| {
        Some(ClusteredDecal {
            emissive_texture: add(rig, image(1, |_| [0.5, 0.25, 2.0, 1.0])),
            ..ClusteredDecal::default()
        })
    });
    assert_equal(found, [0.5, 0.25, 2.0, 1.0]);
}

#[test]
#[ignore = "needs a device"]
fn decal_covers_extended_materials() {
    let found = [false, true].map(|is_extended| {
        let base = StandardMaterial::from(Color::linear_rgb(0.2, 0.3, 0.4));
        let decal = |rig: &mut Rig| {
            Some(ClusteredDecal {
                base_color_texture: add(rig, image(1, |_| [0.6, 0.5, 0.4, 0.5])),
                normal_map_texture: add(rig, image(1, |_| [0.6, 0.6, 0.9, 1.0])),
                metallic_roughness_texture: add(rig, image(1, |_| [0.0, 0.5, 0.8, 1.0])),
                emissive_texture: add(rig, image(1, |_| [0.25, 0.5, 0.125, 1.0])),
                ..ClusteredDecal::default()
            })
        };
        lit(base.clone(), Transform::IDENTITY, |rig| {
            if is_extended {
                let extension = Same { unused: 0.0 };
                let world = rig.app.world_mut();
                let material = world
                    .resource_mut::<Assets<ExtendedMaterial<StandardMaterial, Same>>>()
                    .add(ExtendedMaterial { base, extension });
                let mut floors = world.query_filtered::<Entity, With<Mesh3d>>();
                let floor = floors.single(world).expect("one floor");
                let mut floor = world.entity_mut(floor);
                floor.remove::<MeshMaterial3d<StandardMaterial>>();
                floor.insert(MeshMaterial3d(material));
            }
            decal(rig)
        })
    });
    assert_equal(found[1], found[0]);
}

#[test]
#[ignore = "needs a device"]
fn many_decals_are_found_by_slices() {
    let mut rig = rig(above());
    spawn_floor(&mut rig, unlit(0.0), Transform::IDENTITY);
    let side = 12;
    let step = 4.0 / side as f32;
    for index in 0..side * side {
        let value = (index + 1) as f32 / 256.0;
        let base_color_texture = add(&mut rig, image(1, |_| [value, value, value, 1.0]));
        let cell = Vec2::new((index % side) as f32, (index / side) as f32);
        let at = (cell + 0.5) * step - 2.0;
        let decal = ClusteredDecal {
            base_color_texture,
            ..ClusteredDecal::default()
        };
        let place = down(Vec3::new(at.x, 0.0, at.y)).with_scale(Vec3::new(step, step, 1.0));
        rig.app.world_mut().spawn((decal, place));
    }
    let rows = rig.exact_rows();
    let pixels = SIDE as usize / side as usize;
    for index in 0..(side * side) as usize {
        let (column, row) = (index % side as usize, index / side as usize);
        let found = rows[row * pixels + pixels / 2][column * pixels + pixels / 2][0];
        let expected = (index + 1) as f32 / 256.0;
        assert!((found - expected).abs() < 1e-3, "{index}: {found}");
    }
}
