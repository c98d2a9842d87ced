//! Image assets of tests.

use bevy_asset::RenderAssetUsages;
use bevy_image::{Image, ImageSampler};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

/// Two texels, red and green, with nearest filtering.
pub(crate) fn pattern() -> Image {
    let size = Extent3d {
        width: 2,
        height: 1,
        depth_or_array_layers: 1,
    };
    let texels = vec![255, 0, 0, 255, 0, 255, 0, 255];
    let mut image = Image::new(
        size,
        TextureDimension::D2,
        texels,
        TextureFormat::Rgba8Unorm,
        RenderAssetUsages::default(),
    );
    image.sampler = ImageSampler::nearest();
    image
}
