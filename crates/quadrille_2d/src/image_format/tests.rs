use bevy_asset::RenderAssetUsages;
use quadrille::vulkan::texel_bytes;
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
    ];
    for format in formats {
        let vk = to_vk(format).unwrap();
        assert_eq!(format.block_copy_size(None), texel_bytes(vk), "{format:?}");
        assert_eq!(
            format.is_srgb(),
            format!("{vk:?}").contains("SRGB"),
            "{format:?}"
        );
    }
    assert_eq!(to_vk(T::Bc1RgbaUnorm), None);
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
