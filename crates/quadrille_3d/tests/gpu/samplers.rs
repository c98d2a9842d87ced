//! Samplers of images: each field of bevy's description counts in materials.

use bevy_asset::RenderAssetUsages;
use bevy_image::{
    Image, ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerBorderColor,
    ImageSamplerDescriptor,
};
use bevy_math::Affine2;
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::analytic_lighting::assert_near;
use crate::common::Rig;
use crate::environment::plane;

/// Red of the texels of an image of 2 x 2, row by row.
const REDS: [u8; 4] = [20, 60, 120, 240];

/// An image of 2 x 2 texels.
fn image(sampler: ImageSamplerDescriptor) -> Image {
    let size = Extent3d {
        width: 2,
        height: 2,
        depth_or_array_layers: 1,
    };
    let texels = REDS.iter().flat_map(|red| [*red, 0, 0, 255]).collect();
    let (format, usages) = (TextureFormat::Rgba8Unorm, RenderAssetUsages::default());
    let mut image = Image::new(size, TextureDimension::D2, texels, format, usages);
    image.sampler = ImageSampler::Descriptor(sampler);
    image
}

/// A plane with an image, transformed texture coordinates, after frames without.
fn textured(sampler: ImageSamplerDescriptor, uv_transform: Affine2) -> Rig {
    let material = StandardMaterial {
        unlit: true,
        uv_transform,
        ..StandardMaterial::default()
    };
    let mut rig = plane(material, |_| {});
    rig.update(2);
    let world = rig.app.world_mut();
    let image = world.resource_mut::<Assets<Image>>().add(image(sampler));
    for (_, material) in world.resource_mut::<Assets<StandardMaterial>>().iter_mut() {
        material.base_color_texture = Some(image.clone());
    }
    rig
}

/// The red at a texture coordinate.
fn at(sampler: ImageSamplerDescriptor, uv: [f32; 2]) -> f32 {
    let scale = Vec2::splat(1e-4);
    let transform = Affine2::from_scale_angle_translation(scale, 0.0, uv.into());
    textured(sampler, transform).exactly(4, 4)[0]
}

fn nearest(address: [ImageAddressMode; 2]) -> ImageSamplerDescriptor {
    ImageSamplerDescriptor {
        address_mode_u: address[0],
        address_mode_v: address[1],
        border_color: Some(ImageSamplerBorderColor::OpaqueWhite),
        ..ImageSamplerDescriptor::nearest()
    }
}

#[test]
#[ignore = "needs a device"]
fn each_axis_of_an_image_has_its_address_mode() {
    use ImageAddressMode::{ClampToBorder, ClampToEdge, MirrorRepeat, Repeat};
    for (modes, uv, red) in [
        ([Repeat, ClampToEdge], [1.25, 1.25], REDS[2]),
        ([ClampToEdge, Repeat], [1.25, 1.25], REDS[1]),
        ([MirrorRepeat, Repeat], [1.25, 1.25], REDS[1]),
        ([Repeat, MirrorRepeat], [1.25, 1.25], REDS[2]),
        ([ClampToBorder, Repeat], [1.25, 0.25], 255),
        ([Repeat, ClampToBorder], [1.25, 0.25], REDS[0]),
    ] {
        let found = at(nearest(modes), uv);
        let what = format!("{modes:?} at {uv:?}");
        assert_near(found, f64::from(red) / 255.0, 1e-3, &what);
    }
}

/// Whether all pixels of a plane on which texels are much smaller than pixels are texels as they are.
fn are_texels_unfiltered([mag_filter, min_filter]: [ImageFilterMode; 2]) -> bool {
    let sampler = ImageSamplerDescriptor {
        mag_filter,
        min_filter,
        ..nearest([ImageAddressMode::Repeat; 2])
    };
    // A pixel is 1e-5 of the plane, and 6.6 texels then.
    let transform = Affine2::from_scale(Vec2::splat(331_000.0));
    let rows = textured(sampler, transform).exact_rows();
    let mut reds = rows.iter().flatten().map(|texel| 255.0 * texel[0]);
    reds.all(|red| REDS.iter().any(|it| (f32::from(*it) - red).abs() < 0.3))
}

#[test]
#[ignore = "needs a device"]
fn small_texels_take_the_minification_filter() {
    let (near, linear) = (ImageFilterMode::Nearest, ImageFilterMode::Linear);
    assert!(are_texels_unfiltered([linear, near]));
    assert!(!are_texels_unfiltered([near, linear]));
}
