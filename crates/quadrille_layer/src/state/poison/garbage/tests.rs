use ash::vk::Format;

use super::Garbage;

fn kind(format: Format) -> &'static str {
    match Garbage::of(format) {
        None => "none",
        Some(Garbage::Color(_)) => "color",
        Some(Garbage::DepthStencil(_)) => "depth",
    }
}

#[test]
fn formats_by_kind() {
    for (format, expected) in [
        (Format::R8G8B8A8_UNORM, "color"),
        (Format::B8G8R8A8_SRGB, "color"),
        (Format::R32_UINT, "color"),
        (Format::R16G16_SINT, "color"),
        (Format::R16G16B16A16_SFLOAT, "color"),
        (Format::B10G11R11_UFLOAT_PACK32, "color"),
        (Format::D16_UNORM, "depth"),
        (Format::X8_D24_UNORM_PACK32, "depth"),
        (Format::D32_SFLOAT_S8_UINT, "depth"),
        (Format::S8_UINT, "depth"),
        (Format::BC1_RGB_UNORM_BLOCK, "none"),
        (Format::ASTC_4X4_SFLOAT_BLOCK, "none"),
        (Format::G8_B8_R8_3PLANE_420_UNORM, "none"),
        (Format::UNDEFINED, "none"),
    ] {
        assert_eq!(kind(format), expected, "{format:?}");
    }
}
