//! Conversion of bevy's texture formats to Vulkan formats.

use bevy_image::{CompressedImageFormats, Image as ImageAsset};
use quadrille_vulkan::Format;
use quadrille_vulkan::device::Gpu;
use wgpu_types::{AstcBlock, AstcChannel, TextureDimension, TextureFormat as T};

/// Converts a format; `None` for depth, integer and multi-planar formats, which no filtering sampler can read.
pub(crate) fn to_vk(format: T) -> Option<Format> {
    if format.is_compressed() {
        return compressed_to_vk(format);
    }
    Some(match format {
        T::R8Unorm => Format::R8_UNORM,
        T::R8Snorm => Format::R8_SNORM,
        T::R16Unorm => Format::R16_UNORM,
        T::R16Snorm => Format::R16_SNORM,
        T::R16Float => Format::R16_SFLOAT,
        T::Rg8Unorm => Format::R8G8_UNORM,
        T::Rg8Snorm => Format::R8G8_SNORM,
        T::Rg16Unorm => Format::R16G16_UNORM,
        T::Rg16Snorm => Format::R16G16_SNORM,
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

/// Converts a block-compressed format; `None` for HDR formats of ASTC.
fn compressed_to_vk(format: T) -> Option<Format> {
    Some(match format {
        T::Bc1RgbaUnorm => Format::BC1_RGBA_UNORM_BLOCK,
        T::Bc1RgbaUnormSrgb => Format::BC1_RGBA_SRGB_BLOCK,
        T::Bc2RgbaUnorm => Format::BC2_UNORM_BLOCK,
        T::Bc2RgbaUnormSrgb => Format::BC2_SRGB_BLOCK,
        T::Bc3RgbaUnorm => Format::BC3_UNORM_BLOCK,
        T::Bc3RgbaUnormSrgb => Format::BC3_SRGB_BLOCK,
        T::Bc4RUnorm => Format::BC4_UNORM_BLOCK,
        T::Bc4RSnorm => Format::BC4_SNORM_BLOCK,
        T::Bc5RgUnorm => Format::BC5_UNORM_BLOCK,
        T::Bc5RgSnorm => Format::BC5_SNORM_BLOCK,
        T::Bc6hRgbUfloat => Format::BC6H_UFLOAT_BLOCK,
        T::Bc6hRgbFloat => Format::BC6H_SFLOAT_BLOCK,
        T::Bc7RgbaUnorm => Format::BC7_UNORM_BLOCK,
        T::Bc7RgbaUnormSrgb => Format::BC7_SRGB_BLOCK,
        T::Etc2Rgb8Unorm => Format::ETC2_R8G8B8_UNORM_BLOCK,
        T::Etc2Rgb8UnormSrgb => Format::ETC2_R8G8B8_SRGB_BLOCK,
        T::Etc2Rgb8A1Unorm => Format::ETC2_R8G8B8A1_UNORM_BLOCK,
        T::Etc2Rgb8A1UnormSrgb => Format::ETC2_R8G8B8A1_SRGB_BLOCK,
        T::Etc2Rgba8Unorm => Format::ETC2_R8G8B8A8_UNORM_BLOCK,
        T::Etc2Rgba8UnormSrgb => Format::ETC2_R8G8B8A8_SRGB_BLOCK,
        T::EacR11Unorm => Format::EAC_R11_UNORM_BLOCK,
        T::EacR11Snorm => Format::EAC_R11_SNORM_BLOCK,
        T::EacRg11Unorm => Format::EAC_R11G11_UNORM_BLOCK,
        T::EacRg11Snorm => Format::EAC_R11G11_SNORM_BLOCK,
        T::Astc { block, channel } => return astc_to_vk(block, channel),
        _ => return None,
    })
}

fn astc_to_vk(block: AstcBlock, channel: AstcChannel) -> Option<Format> {
    use AstcBlock as B;
    let unorm = match block {
        B::B4x4 => Format::ASTC_4X4_UNORM_BLOCK,
        B::B5x4 => Format::ASTC_5X4_UNORM_BLOCK,
        B::B5x5 => Format::ASTC_5X5_UNORM_BLOCK,
        B::B6x5 => Format::ASTC_6X5_UNORM_BLOCK,
        B::B6x6 => Format::ASTC_6X6_UNORM_BLOCK,
        B::B8x5 => Format::ASTC_8X5_UNORM_BLOCK,
        B::B8x6 => Format::ASTC_8X6_UNORM_BLOCK,
        B::B8x8 => Format::ASTC_8X8_UNORM_BLOCK,
        B::B10x5 => Format::ASTC_10X5_UNORM_BLOCK,
        B::B10x6 => Format::ASTC_10X6_UNORM_BLOCK,
        B::B10x8 => Format::ASTC_10X8_UNORM_BLOCK,
        B::B10x10 => Format::ASTC_10X10_UNORM_BLOCK,
        B::B12x10 => Format::ASTC_12X10_UNORM_BLOCK,
        B::B12x12 => Format::ASTC_12X12_UNORM_BLOCK,
    };
    match channel {
        AstcChannel::Unorm => Some(unorm),
        // In `VkFormat`, each UNORM format is followed by its sRGB counterpart.
        AstcChannel::UnormSrgb => Some(Format::from_raw(unorm.as_raw() + 1)),
        AstcChannel::Hdr => None,
    }
}

/// Returns the families of compressed formats that a device can sample.
pub(crate) fn compressed(gpu: &Gpu) -> CompressedImageFormats {
    let families = [
        (CompressedImageFormats::BC, Format::BC7_SRGB_BLOCK),
        (
            CompressedImageFormats::ETC2,
            Format::ETC2_R8G8B8A8_SRGB_BLOCK,
        ),
        (
            CompressedImageFormats::ASTC_LDR,
            Format::ASTC_4X4_SRGB_BLOCK,
        ),
    ];
    let known = families
        .into_iter()
        .filter(|&(_, format)| gpu.can_sample(format));
    known
        .map(|(family, _)| family)
        .fold(CompressedImageFormats::NONE, |all, one| all | one)
}

/// Size in bytes of one mip level of one layer.
pub(crate) fn mip_bytes(asset: &ImageAsset, mip: u32) -> u64 {
    let desc = &asset.texture_descriptor;
    let (width, height) = desc.format.block_dimensions();
    let blocks = |full: u32, block: u32| {
        let length = full.checked_shr(mip).unwrap_or(0).max(1);
        u64::from(length.div_ceil(block))
    };
    let bytes = u64::from(desc.format.block_copy_size(None).unwrap_or(0));
    let slices = match desc.dimension {
        TextureDimension::D3 => blocks(desc.size.depth_or_array_layers, 1),
        TextureDimension::D1 | TextureDimension::D2 => 1,
    };
    let count = blocks(desc.size.width, width) * blocks(desc.size.height, height);
    let count = count.saturating_mul(slices);
    count.saturating_mul(bytes)
}

/// Size in bytes of all mip levels of all layers.
pub(super) fn bytes(asset: &ImageAsset) -> u64 {
    let desc = &asset.texture_descriptor;
    let mips = desc.mip_level_count.max(1);
    // Sizes have 32 bits, so further levels would have a single texel.
    let sizes = (0..mips.min(32)).map(|mip| mip_bytes(asset, mip));
    let layer = sizes.fold(0, u64::saturating_add);
    let layers = match desc.dimension {
        TextureDimension::D3 => 1,
        TextureDimension::D1 | TextureDimension::D2 => desc.size.depth_or_array_layers.max(1),
    };
    layer.saturating_mul(u64::from(layers))
}

#[cfg(test)]
mod tests;
