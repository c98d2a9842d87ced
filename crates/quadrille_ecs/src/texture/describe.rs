//! An image asset as an image of the device: its description, and its texels.

use bevy_image::Image as ImageAsset;
use quadrille_vulkan::{GpuImage, ImageDesc, ImageRegion, ImageUsage};
use wgpu_types::{TextureDataOrder, TextureDimension, TextureUsages, TextureViewDimension};

use super::format;
use crate::data::upload::Uploads;

/// The device's image for an asset, with all layers and mip levels that the asset has.
///
/// # Errors
/// Its format or dimension is none of a texture, or it has too few bytes: a sentence about it.
pub fn describe(asset: &ImageAsset, name: &str) -> Result<ImageDesc, String> {
    let desc = &asset.texture_descriptor;
    let format = format::to_vk(desc.format).ok_or_else(|| {
        format!(
            "its format {:?} is not supported; use one such as Rgba8UnormSrgb or Bc7RgbaUnormSrgb",
            desc.format
        )
    })?;
    let (width, height) = (desc.size.width, desc.size.height);
    let count = desc.size.depth_or_array_layers.max(1);
    let (depth, layers) = match desc.dimension {
        TextureDimension::D1 => {
            return Err(format!(
                "it is a {:?} image; only 2D and 3D ones are supported",
                desc.dimension
            ));
        }
        TextureDimension::D2 => (1, count),
        TextureDimension::D3 => (count, 1),
    };
    let mut result = ImageDesc::sampled(name, [width, height, depth], format)
        .with_mips(desc.mip_level_count.max(1))
        .with_layers(layers);
    if desc.usage.contains(TextureUsages::RENDER_ATTACHMENT) {
        result = result.with_usage(ImageUsage::COLOR_ATTACHMENT);
    }
    let view = asset.texture_view_descriptor.as_ref();
    let cubes = [TextureViewDimension::Cube, TextureViewDimension::CubeArray];
    result.cube = view
        .and_then(|view| view.dimension)
        .is_some_and(|kind| cubes.contains(&kind));
    if let Some(data) = &asset.data {
        let expected = format::bytes(asset);
        if (data.len() as u64) < expected {
            return Err(format!(
                "it has {} bytes of texels, but {width}x{height} texels of {:?} take {expected}",
                data.len(),
                desc.format
            ));
        }
    }
    Ok(result)
}

/// Uploads the texels of an asset to the image that was made of its
/// [description](describe()); what has no data is cleared. Levels that only the image has are left as
/// they are.
pub fn upload(uploads: &mut Uploads, image: &GpuImage, asset: &ImageAsset) {
    let mut offset = 0;
    let layers = image.desc().array_layers;
    let mips = asset.texture_descriptor.mip_level_count.max(1);
    for place in 0..layers * mips {
        let (layer, mip) = match asset.data_order {
            TextureDataOrder::LayerMajor => (place / mips, place % mips),
            TextureDataOrder::MipMajor => (place % layers, place / layers),
        };
        let region = ImageRegion {
            base_layer: layer,
            layer_count: 1,
            ..ImageRegion::mip(image, mip)
        };
        let bytes = format::mip_bytes(asset, mip) as usize;
        match &asset.data {
            Some(data) => {
                let texels = &data[offset..offset + bytes];
                uploads.write_image_region(image, region, texels);
            }
            None => uploads.write_image_region(image, region, &vec![0; bytes]),
        }
        offset += bytes;
    }
}
