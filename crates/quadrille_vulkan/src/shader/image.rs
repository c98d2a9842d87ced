//! Image types of shaders.

use ash::vk;
use naga::StorageFormat;
use spirq::spirv::ImageFormat;

use super::location::ScalarKind;

/// Image type of a shader's variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShaderImage {
    /// The view type.
    pub view: vk::ImageViewType,
    /// The scalar kind of sampled or loaded texels; `None` for storage images, which have a format.
    pub texels: Option<ScalarKind>,
    /// The format of a storage image, if the shader declares one.
    pub format: Option<vk::Format>,
    /// Whether it is multisampled.
    pub multisampled: bool,
}

/// Input attachment of a fragment shader (`subpassInput` of GLSL).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InputAttachment {
    /// The number of the color attachment (`input_attachment_index`); `None` for depth or stencil.
    pub index: Option<u32>,
    /// Scalar kind of its texels.
    pub texels: Option<ScalarKind>,
    /// Whether it is multisampled.
    pub multisampled: bool,
}

/// Converts a storage format of WGSL.
pub(super) fn format_of_wgsl(format: StorageFormat) -> vk::Format {
    use StorageFormat as S;
    use vk::Format as F;
    match format {
        S::R8Unorm => F::R8_UNORM,
        S::R8Snorm => F::R8_SNORM,
        S::R8Uint => F::R8_UINT,
        S::R8Sint => F::R8_SINT,
        S::R16Uint => F::R16_UINT,
        S::R16Sint => F::R16_SINT,
        S::R16Float => F::R16_SFLOAT,
        S::Rg8Unorm => F::R8G8_UNORM,
        S::Rg8Snorm => F::R8G8_SNORM,
        S::Rg8Uint => F::R8G8_UINT,
        S::Rg8Sint => F::R8G8_SINT,
        S::R32Uint => F::R32_UINT,
        S::R32Sint => F::R32_SINT,
        S::R32Float => F::R32_SFLOAT,
        S::Rg16Uint => F::R16G16_UINT,
        S::Rg16Sint => F::R16G16_SINT,
        S::Rg16Float => F::R16G16_SFLOAT,
        S::Rgba8Unorm => F::R8G8B8A8_UNORM,
        S::Rgba8Snorm => F::R8G8B8A8_SNORM,
        S::Rgba8Uint => F::R8G8B8A8_UINT,
        S::Rgba8Sint => F::R8G8B8A8_SINT,
        S::Bgra8Unorm => F::B8G8R8A8_UNORM,
        S::Rgb10a2Uint => F::A2B10G10R10_UINT_PACK32,
        S::Rgb10a2Unorm => F::A2B10G10R10_UNORM_PACK32,
        S::Rg11b10Ufloat => F::B10G11R11_UFLOAT_PACK32,
        S::R64Uint => F::R64_UINT,
        S::Rg32Uint => F::R32G32_UINT,
        S::Rg32Sint => F::R32G32_SINT,
        S::Rg32Float => F::R32G32_SFLOAT,
        S::Rgba16Uint => F::R16G16B16A16_UINT,
        S::Rgba16Sint => F::R16G16B16A16_SINT,
        S::Rgba16Float => F::R16G16B16A16_SFLOAT,
        S::Rgba32Uint => F::R32G32B32A32_UINT,
        S::Rgba32Sint => F::R32G32B32A32_SINT,
        S::Rgba32Float => F::R32G32B32A32_SFLOAT,
        S::R16Unorm => F::R16_UNORM,
        S::R16Snorm => F::R16_SNORM,
        S::Rg16Unorm => F::R16G16_UNORM,
        S::Rg16Snorm => F::R16G16_SNORM,
        S::Rgba16Unorm => F::R16G16B16A16_UNORM,
        S::Rgba16Snorm => F::R16G16B16A16_SNORM,
    }
}

/// Converts an image format of SPIR-V (section "Compatibility Between SPIR-V Image Formats And Vulkan Formats"); `None`
/// for an unknown format.
pub(super) fn format_of_spirv(format: ImageFormat) -> Option<vk::Format> {
    use ImageFormat as S;
    use vk::Format as F;
    Some(match format {
        S::Rgba32f => F::R32G32B32A32_SFLOAT,
        S::Rgba16f => F::R16G16B16A16_SFLOAT,
        S::R32f => F::R32_SFLOAT,
        S::Rgba8 => F::R8G8B8A8_UNORM,
        S::Rgba8Snorm => F::R8G8B8A8_SNORM,
        S::Rg32f => F::R32G32_SFLOAT,
        S::Rg16f => F::R16G16_SFLOAT,
        S::R11fG11fB10f => F::B10G11R11_UFLOAT_PACK32,
        S::R16f => F::R16_SFLOAT,
        S::Rgba16 => F::R16G16B16A16_UNORM,
        S::Rgb10A2 => F::A2B10G10R10_UNORM_PACK32,
        S::Rg16 => F::R16G16_UNORM,
        S::Rg8 => F::R8G8_UNORM,
        S::R16 => F::R16_UNORM,
        S::R8 => F::R8_UNORM,
        S::Rgba16Snorm => F::R16G16B16A16_SNORM,
        S::Rg16Snorm => F::R16G16_SNORM,
        S::Rg8Snorm => F::R8G8_SNORM,
        S::R16Snorm => F::R16_SNORM,
        S::R8Snorm => F::R8_SNORM,
        S::Rgba32i => F::R32G32B32A32_SINT,
        S::Rgba16i => F::R16G16B16A16_SINT,
        S::Rgba8i => F::R8G8B8A8_SINT,
        S::R32i => F::R32_SINT,
        S::Rg32i => F::R32G32_SINT,
        S::Rg16i => F::R16G16_SINT,
        S::Rg8i => F::R8G8_SINT,
        S::R16i => F::R16_SINT,
        S::R8i => F::R8_SINT,
        S::Rgba32ui => F::R32G32B32A32_UINT,
        S::Rgba16ui => F::R16G16B16A16_UINT,
        S::Rgba8ui => F::R8G8B8A8_UINT,
        S::R32ui => F::R32_UINT,
        S::Rgb10a2ui => F::A2B10G10R10_UINT_PACK32,
        S::Rg32ui => F::R32G32_UINT,
        S::Rg16ui => F::R16G16_UINT,
        S::Rg8ui => F::R8G8_UINT,
        S::R16ui => F::R16_UINT,
        S::R8ui => F::R8_UINT,
        S::R64ui => F::R64_UINT,
        S::R64i => F::R64_SINT,
        _ => return None,
    })
}
