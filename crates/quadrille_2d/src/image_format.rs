//! The formats of bevy's images in Vulkan's words.

use bevy_image::Image as ImageAsset;
use quadrille::prelude::Format;
use wgpu_types::TextureFormat as T;

/// Vulkan's format; none for compressed, depth and integer formats, which are not drawn.
pub(crate) fn to_vk(format: T) -> Option<Format> {
    Some(match format {
        T::R8Unorm => Format::R8_UNORM,
        T::R8Snorm => Format::R8_SNORM,
        T::R16Unorm => Format::R16_UNORM,
        T::R16Float => Format::R16_SFLOAT,
        T::Rg8Unorm => Format::R8G8_UNORM,
        T::Rg8Snorm => Format::R8G8_SNORM,
        T::Rg16Unorm => Format::R16G16_UNORM,
        T::Rg16Float => Format::R16G16_SFLOAT,
        T::R32Float => Format::R32_SFLOAT,
        T::Rgba8Unorm => Format::R8G8B8A8_UNORM,
        T::Rgba8UnormSrgb => Format::R8G8B8A8_SRGB,
        T::Rgba8Snorm => Format::R8G8B8A8_SNORM,
        T::Bgra8Unorm => Format::B8G8R8A8_UNORM,
        T::Bgra8UnormSrgb => Format::B8G8R8A8_SRGB,
        T::Rgb10a2Unorm => Format::A2B10G10R10_UNORM_PACK32,
        T::Rg11b10Ufloat => Format::B10G11R11_UFLOAT_PACK32,
        T::Rgb9e5Ufloat => Format::E5B9G9R9_UFLOAT_PACK32,
        T::Rg32Float => Format::R32G32_SFLOAT,
        T::Rgba16Unorm => Format::R16G16B16A16_UNORM,
        T::Rgba16Snorm => Format::R16G16B16A16_SNORM,
        T::Rgba16Float => Format::R16G16B16A16_SFLOAT,
        T::Rgba32Float => Format::R32G32B32A32_SFLOAT,
        _ => return None,
    })
}

/// Bytes of one mip level of the first layer.
pub(crate) fn mip_bytes(asset: &ImageAsset, mip: u32) -> u64 {
    let desc = &asset.texture_descriptor;
    let length = |full: u32| u64::from(full.checked_shr(mip).unwrap_or(0).max(1));
    let texel = u64::from(desc.format.block_copy_size(None).unwrap_or(0));
    length(desc.size.width) * length(desc.size.height) * texel
}

/// Bytes of all mip levels of the first layer, which come first in the data.
pub(crate) fn bytes(asset: &ImageAsset) -> u64 {
    let mips = asset.texture_descriptor.mip_level_count.max(1);
    (0..mips).map(|mip| mip_bytes(asset, mip)).sum()
}

#[cfg(test)]
mod tests;
