//! Images that are uploaded over several frames.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::Affine2;
use quadrille::prelude::*;
use quadrille_3d::content::ContentSystems;
use quadrille_3d::content::images::DeviceImages;
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::analytic_lighting::assert_near;
use crate::common::Rig;
use crate::environment::plane;

/// Bytes of images that each frame has uploaded.
#[derive(Resource, Default)]
struct Spent(Vec<usize>);

/// Watches the uploads of images.
fn watch(rig: &mut Rig, bytes: usize) {
    let app = &mut rig.app;
    app.insert_resource(UploadBudget { bytes })
        .init_resource::<Spent>();
    let before = |uploads: Res<Uploads>, mut spent: ResMut<Spent>| {
        spent.0.push(uploads.pending_bytes());
    };
    let after = |uploads: Res<Uploads>, mut spent: ResMut<Spent>| {
        if let Some(last) = spent.0.last_mut() {
            *last = uploads.pending_bytes() - *last;
        }
    };
    let sets = (
        before.before(ContentSystems::Images),
        after
            .after(ContentSystems::Images)
            .before(ContentSystems::Views),
    );
    app.add_systems(Render, sets.in_set(RenderSystems::Declare));
}

fn spent(rig: &Rig) -> &[usize] {
    &rig.app.world().resource::<Spent>().0
}

/// A square image with a different color per mip level: red is (index + 1) / 16.
pub(crate) fn levels(side: u32) -> Image {
    levels_of([side, side])
}

fn levels_of([width, height]: [u32; 2]) -> Image {
    let count = width.max(height).ilog2() + 1;
    let texels = (0..count).flat_map(|level| {
        let texels = (width >> level).max(1) * (height >> level).max(1);
        std::iter::repeat_n([red(level), 0, 0, 255], texels as usize).flatten()
    });
    let mut image = unfilled(
        [width, height, 1],
        TextureDimension::D2,
        TextureFormat::Rgba8Unorm,
    );
    image.texture_descriptor.mip_level_count = count;
    image.data = Some(texels.collect());
    image
}

pub(crate) fn red(level: u32) -> u8 {
    16 * (level as u8 + 1)
}

fn unfilled(size: [u32; 3], dimension: TextureDimension, format: TextureFormat) -> Image {
    let [width, height, depth_or_array_layers] = size;
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers,
    };
    let mut image = Image::new_uninit(size, dimension, format, RenderAssetUsages::default());
    image.texture_descriptor.label = Some("arriving");
    image
}

/// A plane that shows a corner of an image, strongly magnified.
fn enlarged(image: Image) -> (Rig, Handle<Image>) {
    let material = StandardMaterial {
        unlit: true,
        uv_transform: Affine2::from_scale(Vec2::splat(1e-3)),
        ..StandardMaterial::default()
    };
    let mut rig = plane(material, |_| {});
    let world = rig.app.world_mut();
    let image = world.resource_mut::<Assets<Image>>().add(image);
    for (_, material) in world.resource_mut::<Assets<StandardMaterial>>().iter_mut() {
        material.base_color_texture = Some(image.clone());
    }
    (rig, image)
}

/// Runs frames until this number of bytes of images is uploaded in total.
fn until(rig: &mut Rig, bytes: usize) {
    for _ in 0..1000 {
        if spent(rig).iter().sum::<usize>() >= bytes {
            return;
        }
        rig.update(1);
    }
    panic!("{bytes} bytes have not come: {:?}", spent(rig));
}

fn assert_mip_level(rig: &mut Rig, level: u32) {
    let found = rig.exactly(4, 4)[0];
    let what = format!("level {level}");
    assert_near(found, f64::from(red(level)) / 255.0, 1e-3, &what);
}

/// Number of bytes of all levels of an image from this one on.
fn bytes_from(side: u32, level: u32) -> usize {
    let levels = level..=side.ilog2();
    levels
        .map(|level| 4 * (side as usize >> level).pow(2))
        .sum()
}

#[test]
#[ignore = "needs a device"]
fn small_mips_are_used_while_streaming() {
    let (mut rig, image) = enlarged(levels(1024));
    watch(&mut rig, 80 << 10);
    let mut expected = bytes_from(1024, 3);
    until(&mut rig, expected);
    assert_mip_level(&mut rig, 3);
    assert!(images(&rig).image(&image).is_none(), "all of it is there");
    expected += bytes_from(1024, 1);
    until(&mut rig, expected);
    assert_mip_level(&mut rig, 1);
    expected += bytes_from(1024, 0);
    until(&mut rig, expected);
    assert_mip_level(&mut rig, 0);
    assert_eq!(images(&rig).pending(), 0);
    // Each level begins at a multiple of 16 bytes.
    let sum = spent(&rig).iter().sum::<usize>();
    assert!(
        (expected..expected + 64).contains(&sum),
        "{sum}, not {expected}"
    );
    let most = spent(&rig).iter().max();
    assert!(most.is_some_and(|most| *most <= 80 << 10), "{most:?}");
}

fn images(rig: &Rig) -> &DeviceImages {
    rig.app.world().resource::<DeviceImages>()
}

/// Pseudorandom bytes.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
#[ignore = "needs a device"]
fn streamed_texels_are_complete() {
    let (d2, d3) = (TextureDimension::D2, TextureDimension::D3);
    for (size, dimension, format, bytes) in [
        ([100, 70, 1], d2, TextureFormat::Rgba8Unorm, 4 * 100 * 70),
        ([37, 250, 3], d2, TextureFormat::R8Unorm, 3 * 37 * 250),
        ([100, 70, 1], d2, TextureFormat::Bc7RgbaUnorm, 16 * 25 * 18),
        ([16, 16, 9], d3, TextureFormat::Rgba8Unorm, 4 * 16 * 16 * 9),
    ] {
        let texels = noise(bytes);
        let mut image = unfilled(size, dimension, format);
        image.data = Some(texels.clone());
        let mut rig = plane(StandardMaterial::default(), |_| {});
        watch(&mut rig, 2000);
        let world = rig.app.world_mut();
        let image = world.resource_mut::<Assets<Image>>().add(image);
        until(&mut rig, bytes);
        let frames = spent(&rig).iter().filter(|bytes| **bytes > 0).count();
        assert!(frames > 1, "{format:?} came at once");
        let arrived = images(&rig).image(&image).expect("it is there").clone();
        let found = rig.read_back(Readback::image(&arrived)).bytes;
        assert!(found == texels, "{format:?} {size:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn streaming_survives_changed_or_removed_image() {
    let (mut rig, image) = enlarged(levels(512));
    watch(&mut rig, 32 << 10);
    until(&mut rig, bytes_from(512, 2) + (100 << 10));
    let world = rig.app.world_mut();
    let mut assets = world.resource_mut::<Assets<Image>>();
    let mut changed = assets.get_mut(&image).expect("the image is there");
    changed.data.as_mut().expect("it has texels").fill(200);
    drop(changed);
    for _ in 0..100 {
        rig.update(1);
    }
    assert_near(rig.exactly(4, 4)[0], 200.0 / 255.0, 1e-3, "what it became");
    assert_eq!(images(&rig).pending(), 0);

    let (mut rig, image) = enlarged(levels(512));
    watch(&mut rig, 32 << 10);
    until(&mut rig, bytes_from(512, 2) + (100 << 10));
    let world = rig.app.world_mut();
    world.resource_mut::<Assets<Image>>().remove(&image);
    assert_near(rig.exactly(4, 4)[0], 1.0, 1e-3, "without its image");
    assert_eq!(images(&rig).pending(), 0);
}

#[test]
#[ignore = "needs a device"]
fn streaming_survives_replacement_of_other_size() {
    // The small levels of both are of one size.
    let (mut rig, image) = enlarged(levels_of([513, 512]));
    watch(&mut rig, 32 << 10);
    until(&mut rig, 1);
    let world = rig.app.world_mut();
    let mut assets = world.resource_mut::<Assets<Image>>();
    let replaced = assets.insert(image.id(), levels(512));
    replaced.expect("the image is there");
    rig.update(100);
    assert_eq!(images(&rig).pending(), 0);
    assert_mip_level(&mut rig, 0);
    let arrived = images(&rig).image(&image).expect("it is there").clone();
    assert_eq!(arrived.extent(), [512, 512, 1]);
    let first = rig.read_back(Readback::image(&arrived)).bytes;
    let texels = first.as_chunks::<4>().0;
    assert!(texels.iter().all(|texel| *texel == [red(0), 0, 0, 255]));
}
