//! Texel blocks of formats (section "Compatible Formats").

use ash::vk;

use super::texel_bytes;

/// A texel, or the block of texels of a compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Width and height in texels.
    pub size: [u32; 2],
    /// Its bytes in copies between buffers and images.
    pub bytes: u32,
}

/// The widths and heights of ASTC's blocks, in the order of Vulkan's formats.
const ASTC: [[u32; 2]; 14] = [
    [4, 4],
    [5, 4],
    [5, 5],
    [6, 5],
    [6, 6],
    [8, 5],
    [8, 6],
    [8, 8],
    [10, 5],
    [10, 6],
    [10, 8],
    [10, 10],
    [12, 10],
    [12, 12],
];

/// Returns the texel block of a format; `None` for formats not in the tables here.
pub fn block(format: vk::Format) -> Option<Block> {
    use vk::Format as F;
    let raw = format.as_raw();
    let in_range = |first: F, last: F| (first.as_raw()..=last.as_raw()).contains(&raw);
    let of_4x4 = |bytes| Block {
        size: [4, 4],
        bytes,
    };
    Some(match format {
        // Copies between buffers and images access only the depth of these.
        F::D16_UNORM_S8_UINT => Block {
            size: [1, 1],
            bytes: 2,
        },
        F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => Block {
            size: [1, 1],
            bytes: 4,
        },
        _ if in_range(F::BC1_RGB_UNORM_BLOCK, F::BC1_RGBA_SRGB_BLOCK) => of_4x4(8),
        _ if in_range(F::BC4_UNORM_BLOCK, F::BC4_SNORM_BLOCK) => of_4x4(8),
        _ if in_range(F::BC2_UNORM_BLOCK, F::BC7_SRGB_BLOCK) => of_4x4(16),
        _ if in_range(F::ETC2_R8G8B8_UNORM_BLOCK, F::ETC2_R8G8B8A1_SRGB_BLOCK) => of_4x4(8),
        _ if in_range(F::ETC2_R8G8B8A8_UNORM_BLOCK, F::ETC2_R8G8B8A8_SRGB_BLOCK) => of_4x4(16),
        _ if in_range(F::EAC_R11_UNORM_BLOCK, F::EAC_R11_SNORM_BLOCK) => of_4x4(8),
        _ if in_range(F::EAC_R11G11_UNORM_BLOCK, F::EAC_R11G11_SNORM_BLOCK) => of_4x4(16),
        _ if in_range(F::ASTC_4X4_UNORM_BLOCK, F::ASTC_12X12_SRGB_BLOCK) => {
            // Each size has two formats, UNORM and SRGB.
            let index = (raw - F::ASTC_4X4_UNORM_BLOCK.as_raw()) / 2;
            Block {
                size: ASTC[index as usize],
                bytes: 16,
            }
        }
        _ => Block {
            size: [1, 1],
            bytes: texel_bytes(format)?,
        },
    })
}

#[cfg(test)]
mod tests;
