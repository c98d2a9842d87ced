//! Properties of formats.

mod block;

use ash::vk;

use crate::device::Device;
use crate::shader::ScalarKind;

pub use block::{Block, block};

/// The aspects of a format (section "Format Definition"); planar formats are not supported.
pub(crate) fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::Format as F;
    use vk::ImageAspectFlags as A;
    match format {
        F::D16_UNORM | F::X8_D24_UNORM_PACK32 | F::D32_SFLOAT => A::DEPTH,
        F::S8_UINT => A::STENCIL,
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => {
            A::DEPTH | A::STENCIL
        }
        _ => A::COLOR,
    }
}

/// Queries the device's features of a format.
pub(crate) fn properties(device: &Device, format: vk::Format) -> vk::FormatProperties {
    // SAFETY: the physical device belongs to the instance; unknown formats have no features.
    unsafe {
        device
            .instance
            .raw
            .get_physical_device_format_properties(device.physical, format)
    }
}

/// Aspects that a shader samples: only depth for depth-stencil formats.
pub(crate) fn sampled_aspects(format: vk::Format) -> vk::ImageAspectFlags {
    let aspects = aspects(format);
    if aspects.contains(vk::ImageAspectFlags::DEPTH) {
        vk::ImageAspectFlags::DEPTH
    } else {
        aspects
    }
}

/// Whether a format is multi-planar or chroma-subsampled (section "Formats Requiring Sampler Y'CBCR Conversion").
pub(crate) fn is_planar(format: vk::Format) -> bool {
    use vk::Format as F;
    let in_range = |first: F, last: F| (first.as_raw()..=last.as_raw()).contains(&format.as_raw());
    in_range(F::G8B8G8R8_422_UNORM, F::G16_B16_R16_3PLANE_444_UNORM)
        || in_range(F::G8_B8R8_2PLANE_444_UNORM, F::G16_B16R16_2PLANE_444_UNORM)
}

/// Whether a color format is an integer format, which supports neither blending nor filtering.
pub(crate) fn is_integer(format: vk::Format) -> bool {
    scalar_kind(format) != ScalarKind::Float
}

/// Returns the scalar kind of a format in shaders; that of depth for depth-stencil formats.
pub(crate) fn scalar_kind(format: vk::Format) -> ScalarKind {
    use vk::Format as F;
    if format == F::S8_UINT {
        return ScalarKind::Uint;
    }
    // Integer formats are pairs, unsigned and signed, from these values of `VkFormat` on.
    let unsigned = [
        F::R8_UINT,
        F::R8G8_UINT,
        F::R8G8B8_UINT,
        F::B8G8R8_UINT,
        F::R8G8B8A8_UINT,
        F::B8G8R8A8_UINT,
        F::A8B8G8R8_UINT_PACK32,
        F::A2R10G10B10_UINT_PACK32,
        F::A2B10G10R10_UINT_PACK32,
        F::R16_UINT,
        F::R16G16_UINT,
        F::R16G16B16_UINT,
        F::R16G16B16A16_UINT,
        F::R32_UINT,
        F::R32G32_UINT,
        F::R32G32B32_UINT,
        F::R32G32B32A32_UINT,
        F::R64_UINT,
    ];
    let mut distances = unsigned
        .iter()
        .map(|unsigned| format.as_raw() - unsigned.as_raw());
    match distances.find(|distance| (0..2).contains(distance)) {
        Some(0) => ScalarKind::Uint,
        Some(_) => ScalarKind::Sint,
        None => ScalarKind::Float,
    }
}

/// Alignment in bytes of a vertex attribute: the size of a component; 1 for packed formats
/// (section "Vertex Input Extraction").
pub(crate) fn component_bytes(format: vk::Format) -> u32 {
    use vk::Format as F;
    let in_range = |first: F, last: F| (first.as_raw()..=last.as_raw()).contains(&format.as_raw());
    match format {
        _ if in_range(F::R16_UNORM, F::R16G16B16A16_SFLOAT) => 2,
        _ if in_range(F::R32_UINT, F::R32G32B32A32_SFLOAT) => 4,
        _ if in_range(F::R64_UINT, F::R64G64B64A64_SFLOAT) => 8,
        _ => 1,
    }
}

/// Bytes of a texel in copies between buffers and images; `None` for compressed formats (see
/// [`block`]) and formats not in this table.
pub fn texel_bytes(format: vk::Format) -> Option<u32> {
    use vk::Format as F;
    let raw = format.as_raw();
    let in_range = |first: F, last: F| (first.as_raw()..=last.as_raw()).contains(&raw);
    Some(match format {
        F::R4G4_UNORM_PACK8 => 1,
        F::D16_UNORM => 2,
        F::D32_SFLOAT | F::X8_D24_UNORM_PACK32 => 4,
        F::S8_UINT => 1,
        F::E5B9G9R9_UFLOAT_PACK32 | F::B10G11R11_UFLOAT_PACK32 => 4,
        _ if in_range(F::R4G4B4A4_UNORM_PACK16, F::A1R5G5B5_UNORM_PACK16) => 2,
        _ if in_range(F::R8_UNORM, F::R8_SRGB) => 1,
        _ if in_range(F::R8G8_UNORM, F::R8G8_SRGB) => 2,
        _ if in_range(F::R8G8B8_UNORM, F::B8G8R8_SRGB) => 3,
        _ if in_range(F::R8G8B8A8_UNORM, F::A2B10G10R10_SINT_PACK32) => 4,
        _ if in_range(F::R16_UNORM, F::R16_SFLOAT) => 2,
        _ if in_range(F::R16G16_UNORM, F::R16G16_SFLOAT) => 4,
        _ if in_range(F::R16G16B16_UNORM, F::R16G16B16_SFLOAT) => 6,
        _ if in_range(F::R16G16B16A16_UNORM, F::R16G16B16A16_SFLOAT) => 8,
        _ if in_range(F::R32_UINT, F::R32_SFLOAT) => 4,
        _ if in_range(F::R32G32_UINT, F::R32G32_SFLOAT) => 8,
        _ if in_range(F::R32G32B32_UINT, F::R32G32B32_SFLOAT) => 12,
        _ if in_range(F::R32G32B32A32_UINT, F::R32G32B32A32_SFLOAT) => 16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
