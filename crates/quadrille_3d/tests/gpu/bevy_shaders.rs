//! Shader files of bevy's examples, unchanged, against expected values.

use bevy_asset::RenderAssetUsages;
use bevy_light::{ClusteredDecal, GlobalAmbientLight};
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{EXACT, Rig};
use crate::material_shaders::{add_shader, handle};

const SIDE: u32 = 16;

/// An extension whose fragment shader is the file with this number.
macro_rules! extension {
    ($name:ident, $number:literal) => {
        #[derive(Asset, TypePath, AsBindGroup, Clone, Default)]
        struct $name {
            #[uniform(100)]
            dummy: f32,
        }

        impl MaterialExtension for $name {
            fn fragment_shader() -> ShaderRef {
                handle($number).into()
            }
        }
    };
}

extension!(TintedDecals, 90);
extension!(ScreenSpaceTexture, 91);

const FILES: [(u128, &str); 2] = [
    (
        90,
        include_str!("../bevy_shaders/custom_clustered_decal.wesl"),
    ),
    (
        91,
        include_str!("../bevy_shaders/screen_space_texture_material.wesl"),
    ),
];

/// A linear image, from a function of texels.
fn image(side: u32, texel: impl Fn([u32; 2]) -> [f32; 4]) -> Image {
    let at = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
    let extent = Extent3d {
        width: side,
        height: side,
        depth_or_array_layers: 1,
    };
    Image::new(
        extent,
        TextureDimension::D2,
        at.flat_map(texel).flat_map(f32::to_le_bytes).collect(),
        TextureFormat::Rgba32Float,
        RenderAssetUsages::default(),
    )
}

/// A camera over the plane z = 0 with two units across the picture, in white ambient light.
fn rig() -> Rig {
    let plugins = (
        Quadrille3dPlugin::default(),
        MaterialPlugin::<ExtendedMaterial<StandardMaterial, TintedDecals>>::default(),
        MaterialPlugin::<ExtendedMaterial<StandardMaterial, ScreenSpaceTexture>>::default(),
    );
    let mut rig = Rig::with(SIDE, SIDE, plugins);
    for (number, source) in FILES {
        add_shader(&mut rig.app, number, source);
    }
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight {
        brightness: 1000.0,
        ..GlobalAmbientLight::default()
    });
    let projection = OrthographicProjection {
        scaling_mode: ScalingMode::Fixed {
            width: 2.0,
            height: 2.0,
        },
        ..OrthographicProjection::default_3d()
    };
    world.spawn((
        Camera3d::default(),
        Projection::from(projection),
        (Msaa::Off, Tonemapping::None),
        RenderTarget::TextureView(EXACT),
        Transform::from_xyz(0.0, 0.0, 3.0),
    ));
    rig
}

/// Adds a rectangle over a part of the picture.
fn rectangle<M: Asset>(rig: &mut Rig, material: M, (size, center): (Vec2, Vec2)) {
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::from_size(size));
    let material = world.resource_mut::<Assets<M>>().add(material);
    let place = Transform::from_translation(center.extend(0.0));
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), place));
}

fn add(rig: &mut Rig, image: Image) -> Option<Handle<Image>> {
    let mut images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    Some(images.add(image))
}

#[test]
#[ignore = "needs a device"]
fn clustered_decals_are_found_by_bevys_iterator() {
    let mut rig = rig();
    let half = Vec2::new(1.0, 2.0);
    let base = StandardMaterial::from(Color::linear_rgb(0.1, 0.1, 0.1));
    let extension = TintedDecals::default();
    let right = (half, Vec2::X * 0.5);
    rectangle(&mut rig, ExtendedMaterial { base, extension }, right);
    // The decal, half red.
    let expected = Color::linear_rgb(0.6, 0.2, 0.3);
    let left = (half, Vec2::X * -0.5);
    rectangle(&mut rig, StandardMaterial::from(expected), left);
    let base_color_texture = add(&mut rig, image(1, |_| [0.2, 0.4, 0.6, 1.0]));
    let decal = ClusteredDecal {
        base_color_texture,
        tag: 1,
        ..ClusteredDecal::default()
    };
    let place = Transform::from_xyz(0.5, 0.0, 0.0).with_scale(Vec3::new(1.0, 1.0, 2.0));
    rig.app.world_mut().spawn((decal, place));
    let row = rig.exact_row(SIDE / 2);
    let [standard, decaled] = [row[3], row[11]];
    assert!(standard[0] > 0.01, "{standard:?}");
    for channel in 0..3 {
        let ratio = decaled[channel] / standard[channel];
        assert!((ratio - 1.0).abs() < 2e-3, "{decaled:?}, {standard:?}");
    }
    // Outside of the decal.
    let above = rig.exact_row(1)[11];
    assert!(above[0] < 0.5 * standard[0], "{above:?}");
    assert_eq!([above[1], above[2]], [above[0]; 2]);
}

#[test]
#[ignore = "needs a device"]
fn emissive_texture_of_the_standard_material_is_loaded_by_name() {
    let mut rig = rig();
    rig.app
        .world_mut()
        .insert_resource(GlobalAmbientLight::NONE);
    let value = |[x, y]: [u32; 2]| (x + SIDE * y) as f32 / 256.0;
    let emissive_texture = add(&mut rig, image(SIDE, |at| [value(at), 0.5, 0.0, 1.0]));
    let base = StandardMaterial {
        emissive_texture,
        ..StandardMaterial::from(Color::BLACK)
    };
    let extension = ScreenSpaceTexture::default();
    let whole = (Vec2::splat(2.0), Vec2::ZERO);
    rectangle(&mut rig, ExtendedMaterial { base, extension }, whole);
    for (y, row) in (0..).zip(rig.exact_rows()) {
        for (x, found) in (0..).zip(row) {
            let expected = [value([x, y]), 0.5, 0.0];
            let is_near = expected
                .iter()
                .zip(found)
                .all(|(a, b)| (a - b).abs() < 1e-3);
            assert!(is_near, "{x}, {y}: {found:?}, expected {expected:?}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn missing_textures_of_the_standard_material_are_white() {
    let mut rig = rig();
    rig.app
        .world_mut()
        .insert_resource(GlobalAmbientLight::NONE);
    let base = StandardMaterial::from(Color::BLACK);
    let extension = ScreenSpaceTexture::default();
    let whole = (Vec2::splat(2.0), Vec2::ZERO);
    rectangle(&mut rig, ExtendedMaterial { base, extension }, whole);
    // The only texel of the white image is loaded at the first pixel.
    let found = rig.exactly(0, 0);
    assert!(
        found[..3].iter().all(|it| (it - 1.0).abs() < 1e-3),
        "{found:?}"
    );
}
