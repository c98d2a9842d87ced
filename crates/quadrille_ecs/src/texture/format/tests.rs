use bevy_asset::RenderAssetUsages;
use quadrille_vulkan::resources::block;
use wgpu_types::{Extent3d, TextureDimension};

use super::*;

/// ASTC channel types except HDR.
const ASTC: [AstcChannel; 2] = [AstcChannel::Unorm, AstcChannel::UnormSrgb];

const ASTC_BLOCKS: [AstcBlock; 14] = [
    AstcBlock::B4x4,
    AstcBlock::B5x4,
    AstcBlock::B5x5,
    AstcBlock::B6x5,
    AstcBlock::B6x6,
    AstcBlock::B8x5,
    AstcBlock::B8x6,
    AstcBlock::B8x8,
    AstcBlock::B10x5,
    AstcBlock::B10x6,
    AstcBlock::B10x8,
    AstcBlock::B10x10,
    AstcBlock::B12x10,
    AstcBlock::B12x12,
];

const UNCOMPRESSED: [T; 24] = [
    T::R8Unorm,
    T::R8Snorm,
    T::R16Unorm,
    T::R16Snorm,
    T::R16Float,
    T::Rg8Unorm,
    T::Rg8Snorm,
    T::Rg16Unorm,
    T::Rg16Snorm,
    T::Rg16Float,
    T::R32Float,
    T::Rgba8Unorm,
    T::Rgba8UnormSrgb,
    T::Rgba8Snorm,
    T::Bgra8Unorm,
    T::Bgra8UnormSrgb,
    T::Rgb10a2Unorm,
    T::Rg11b10Ufloat,
    T::Rgb9e5Ufloat,
    T::Rg32Float,
    T::Rgba16Unorm,
    T::Rgba16Snorm,
    T::Rgba16Float,
    T::Rgba32Float,
];

const BC_AND_ETC2: [T; 24] = [
    T::Bc1RgbaUnorm,
    T::Bc1RgbaUnormSrgb,
    T::Bc2RgbaUnorm,
    T::Bc2RgbaUnormSrgb,
    T::Bc3RgbaUnorm,
    T::Bc3RgbaUnormSrgb,
    T::Bc4RUnorm,
    T::Bc4RSnorm,
    T::Bc5RgUnorm,
    T::Bc5RgSnorm,
    T::Bc6hRgbUfloat,
    T::Bc6hRgbFloat,
    T::Bc7RgbaUnorm,
    T::Bc7RgbaUnormSrgb,
    T::Etc2Rgb8Unorm,
    T::Etc2Rgb8UnormSrgb,
    T::Etc2Rgb8A1Unorm,
    T::Etc2Rgb8A1UnormSrgb,
    T::Etc2Rgba8Unorm,
    T::Etc2Rgba8UnormSrgb,
    T::EacR11Unorm,
    T::EacR11Snorm,
    T::EacRg11Unorm,
    T::EacRg11Snorm,
];

/// Returns all formats that are valid for textures.
fn formats() -> impl Iterator<Item = T> {
    let astc = ASTC_BLOCKS.into_iter();
    let astc = astc.flat_map(|block| ASTC.map(|channel| T::Astc { block, channel }));
    UNCOMPRESSED.into_iter().chain(BC_AND_ETC2).chain(astc)
}

#[test]
fn texels_and_blocks_are_as_large_in_both_words() {
    for format in formats() {
        let vk = to_vk(format).unwrap();
        let vk_block = block(vk).unwrap();
        assert_eq!(
            format.block_copy_size(None),
            Some(vk_block.bytes),
            "{format:?}"
        );
        let (width, height) = format.block_dimensions();
        assert_eq!([width, height], vk_block.size, "{format:?}");
    }
}

#[test]
fn formats_keep_their_names() {
    for format in formats() {
        let vk = format!("{:?}", to_vk(format).unwrap());
        let ours = format!("{format:?}").to_uppercase();
        assert_eq!(format.is_srgb(), vk.contains("SRGB"), "{ours}");
        for word in ["SNORM", "UFLOAT"] {
            let is_so = vk.contains(word);
            assert_eq!(ours.contains(word), is_so, "{ours} is {vk}");
        }
        for family in [
            "BC1", "BC2", "BC3", "BC4", "BC5", "BC6H", "BC7", "ETC2", "EAC", "ASTC",
        ] {
            let is_so = vk.contains(family);
            assert_eq!(ours.contains(family), is_so, "{ours} is {vk}");
        }
    }
    let mut all: Vec<_> = formats().filter_map(to_vk).collect();
    all.sort_unstable_by_key(|format| format.as_raw());
    all.dedup();
    assert_eq!(all.len(), formats().count(), "two formats have become one");
}

#[test]
fn formats_that_cannot_be_sampled_map_to_none() {
    let hdr = T::Astc {
        block: AstcBlock::B4x4,
        channel: AstcChannel::Hdr,
    };
    for format in [T::Depth32Float, T::Rgba8Uint, T::R32Sint, T::NV12, hdr] {
        assert_eq!(to_vk(format), None, "{format:?}");
    }
}

#[test]
fn mip_levels_are_added_up() {
    let size = Extent3d {
        width: 5,
        height: 2,
        depth_or_array_layers: 1,
    };
    let texel = [0; 4];
    let mut asset = ImageAsset::new_fill(
        size,
        TextureDimension::D2,
        &texel,
        T::Rgba8Unorm,
        RenderAssetUsages::default(),
    );
    asset.texture_descriptor.mip_level_count = 3;
    assert_eq!([0, 1, 2].map(|mip| mip_bytes(&asset, mip)), [40, 8, 4]);
    assert_eq!(bytes(&asset), 52);
}

#[test]
fn compressed_mip_levels_end_with_a_whole_block() {
    let size = Extent3d {
        width: 6,
        height: 5,
        depth_or_array_layers: 1,
    };
    let mut asset = ImageAsset::default();
    asset.texture_descriptor.size = size;
    asset.texture_descriptor.format = T::Bc1RgbaUnormSrgb;
    asset.texture_descriptor.mip_level_count = 3;
    assert_eq!([0, 1, 2].map(|mip| mip_bytes(&asset, mip)), [32, 8, 8]);
}

#[test]
fn slices_are_halved_with_the_mip_level() {
    let mut asset = ImageAsset::default();
    asset.texture_descriptor.size = Extent3d {
        width: 4,
        height: 4,
        depth_or_array_layers: 3,
    };
    asset.texture_descriptor.dimension = TextureDimension::D3;
    asset.texture_descriptor.format = T::Rgba8Unorm;
    asset.texture_descriptor.mip_level_count = 2;
    assert_eq!([0, 1].map(|mip| mip_bytes(&asset, mip)), [192, 16]);
    assert_eq!(bytes(&asset), 208);
}
