use ash::vk::Format as F;

use super::*;

#[test]
fn blocks_are_those_of_the_specification() {
    let expected = [
        (F::R8G8B8A8_SRGB, [1, 1], 4),
        (F::BC1_RGB_UNORM_BLOCK, [4, 4], 8),
        (F::BC1_RGBA_SRGB_BLOCK, [4, 4], 8),
        (F::BC2_UNORM_BLOCK, [4, 4], 16),
        (F::BC3_SRGB_BLOCK, [4, 4], 16),
        (F::BC4_UNORM_BLOCK, [4, 4], 8),
        (F::BC4_SNORM_BLOCK, [4, 4], 8),
        (F::BC5_UNORM_BLOCK, [4, 4], 16),
        (F::BC6H_SFLOAT_BLOCK, [4, 4], 16),
        (F::BC7_SRGB_BLOCK, [4, 4], 16),
        (F::ETC2_R8G8B8_UNORM_BLOCK, [4, 4], 8),
        (F::ETC2_R8G8B8A1_SRGB_BLOCK, [4, 4], 8),
        (F::ETC2_R8G8B8A8_SRGB_BLOCK, [4, 4], 16),
        (F::EAC_R11_SNORM_BLOCK, [4, 4], 8),
        (F::EAC_R11G11_UNORM_BLOCK, [4, 4], 16),
        (F::ASTC_4X4_UNORM_BLOCK, [4, 4], 16),
        (F::ASTC_4X4_SRGB_BLOCK, [4, 4], 16),
        (F::ASTC_5X4_UNORM_BLOCK, [5, 4], 16),
        (F::ASTC_8X8_SRGB_BLOCK, [8, 8], 16),
        (F::ASTC_10X5_UNORM_BLOCK, [10, 5], 16),
        (F::ASTC_12X10_SRGB_BLOCK, [12, 10], 16),
        (F::ASTC_12X12_SRGB_BLOCK, [12, 12], 16),
    ];
    for (format, size, bytes) in expected {
        assert_eq!(block(format), Some(Block { size, bytes }), "{format:?}");
    }
    assert_eq!(block(F::G8B8G8R8_422_UNORM), None);
}
