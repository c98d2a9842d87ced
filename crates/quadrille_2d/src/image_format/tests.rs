use bevy_asset::RenderAssetUsages;
use quadrille::vulkan::block;
use wgpu_types::{Extent3d, TextureDimension};

use super::*;

#[test]
fn texels_are_as_large_in_both_words() {
    let formats = [
        T::R8Unorm,
        T::R16Float,
        T::Rg8Unorm,
        T::Rgba8UnormSrgb,
        T::Bgra8UnormSrgb,
        T::Rgb10a2Unorm,
        T::Rg11b10Ufloat,
        T::Rgb9e5Ufloat,
        T::Rgba16Float,
        T::Rgba32Float,
        T::Bc1RgbaUnormSrgb,
        T::Bc4RSnorm,
        T::Bc7RgbaUnorm,
        T::Etc2Rgb8UnormSrgb,
        T::Etc2Rgba8Unorm,
        T::EacRg11Unorm,
        T::Astc {
            block: AstcBlock::B4x4,
            channel: AstcChannel::UnormSrgb,
        },
        T::Astc {
            block: AstcBlock::B10x8,
            channel: AstcChannel::Unorm,
        },
    ];
    for format in formats {
        let vk = to_vk(format).unwrap();
        let vk_block = block(vk).unwrap();
        assert_eq!(format.block_copy_size(None), Some(vk_block.bytes));
        let (width, height) = format.block_dimensions();
        assert_eq!([width, height], vk_block.size, "{format:?}");
        assert_eq!(
            format.is_srgb(),
            format!("{vk:?}").contains("SRGB"),
            "{format:?}"
        );
    }
    assert_eq!(to_vk(T::Depth32Float), None);
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
