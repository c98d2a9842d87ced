//! Conversion of image assets to device images: description and texels.

use std::ops::Range;

use bevy_image::Image as ImageAsset;
use quadrille_vulkan::resources::{GpuImage, ImageDesc, ImageRegion, ImageUsage};
use wgpu_types::{TextureDataOrder, TextureDimension, TextureUsages, TextureViewDimension};

use super::format;
use crate::data::upload::Uploads;

/// Describes the device image of an asset, with all its layers and mip levels.
///
/// # Errors
/// Returns a message if the format or dimension is not valid for a texture, or if data is missing.
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
        TextureDimension::D1 if height > 1 => {
            return Err(format!(
                "it is a 1D image of the height {height}; make it 1"
            ));
        }
        TextureDimension::D1 | TextureDimension::D2 => (1, count),
        TextureDimension::D3 => (count, 1),
    };
    let mut result = ImageDesc::sampled(name, [width, height, depth], format)
        .with_mips(desc.mip_level_count.max(1))
        .with_layers(layers);
    result.one_dimensional = desc.dimension == TextureDimension::D1;
    if desc.usage.contains(TextureUsages::RENDER_ATTACHMENT) {
        result = result.with_usage(ImageUsage::COLOR_ATTACHMENT);
    }
    if desc.usage.contains(TextureUsages::STORAGE_BINDING) {
        result = result.with_usage(ImageUsage::STORAGE);
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

/// One mip level of one layer of an image asset, which can be uploaded as a whole or by rows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TexturePart {
    /// The mip level in the asset.
    pub mip: u32,
    /// The array layer.
    pub layer: u32,
    /// Byte range of its texels in the asset's data: row by row, without padding.
    pub bytes: Range<usize>,
}

/// Returns the parts of an asset that [`describe()`] accepts, in the order of its data.
///
/// ```
/// # use quadrille_ecs::texture_parts;
/// let white = bevy_image::Image::default();
/// let parts: Vec<_> = texture_parts(&white).collect();
/// assert_eq!((parts.len(), parts[0].bytes.clone()), (1, 0..4));
/// ```
pub fn parts(asset: &ImageAsset) -> impl Iterator<Item = TexturePart> {
    let desc = &asset.texture_descriptor;
    let mips = desc.mip_level_count.max(1);
    let layers = match desc.dimension {
        TextureDimension::D3 => 1,
        TextureDimension::D1 | TextureDimension::D2 => desc.size.depth_or_array_layers.max(1),
    };
    let mut end = 0;
    (0..layers.saturating_mul(mips)).map(move |place| {
        let (layer, mip) = match asset.data_order {
            TextureDataOrder::LayerMajor => (place / mips, place % mips),
            TextureDataOrder::MipMajor => (place % layers, place / layers),
        };
        let start = end;
        end += format::mip_bytes(asset, mip) as usize;
        let bytes = start..end;
        TexturePart { mip, layer, bytes }
    })
}

/// Uploads the texels of an asset to the image created from its [description](describe()). An asset without data clears
/// the image. Mip levels that only the image has are left unchanged.
pub(super) fn upload(uploads: &mut Uploads, image: &GpuImage, asset: &ImageAsset) {
    for TexturePart { mip, layer, bytes } in parts(asset) {
        let region = ImageRegion {
            base_layer: layer,
            layer_count: 1,
            ..ImageRegion::mip(image, mip)
        };
        match &asset.data {
            Some(data) => uploads.write_image_region(image, region, &data[bytes]),
            None => uploads.write_image_region(image, region, &vec![0; bytes.len()]),
        }
    }
}
