use ash::vk::{Format, ImageAspectFlags};

use super::{aspects, sampled_aspects, texel_bytes};

#[test]
fn aspects_of_depth_and_stencil() {
    assert_eq!(aspects(Format::R8G8B8A8_UNORM), ImageAspectFlags::COLOR);
    assert_eq!(aspects(Format::D32_SFLOAT), ImageAspectFlags::DEPTH);
    let both = ImageAspectFlags::DEPTH | ImageAspectFlags::STENCIL;
    assert_eq!(aspects(Format::D24_UNORM_S8_UINT), both);
    assert_eq!(
        sampled_aspects(Format::D24_UNORM_S8_UINT),
        ImageAspectFlags::DEPTH
    );
    assert_eq!(sampled_aspects(Format::S8_UINT), ImageAspectFlags::STENCIL);
}

#[test]
fn sizes_of_common_texels() {
    for (format, bytes) in [
        (Format::R8_UNORM, 1),
        (Format::R8G8_UINT, 2),
        (Format::B8G8R8A8_SRGB, 4),
        (Format::A2B10G10R10_UNORM_PACK32, 4),
        (Format::R16G16B16A16_SFLOAT, 8),
        (Format::R32_UINT, 4),
        (Format::R32G32B32A32_SFLOAT, 16),
        (Format::D32_SFLOAT, 4),
    ] {
        assert_eq!(texel_bytes(format), Some(bytes), "{format:?}");
    }
    assert_eq!(texel_bytes(Format::BC1_RGB_UNORM_BLOCK), None);
}
