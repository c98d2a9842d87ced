//! Decoding by the device: video sessions of `VK_KHR_video_queue`, `VK_KHR_video_decode_queue`,
//! `VK_KHR_video_decode_h264`, `VK_KHR_video_decode_h265` and `VK_KHR_video_decode_av1`.
//!
//! A session keeps its decoded picture buffer and bitstreams to itself: they never leave the decode queue, so plans do
//! not list them, and their barriers stand between the pictures of a pass. Decoded pictures leave by copies of their
//! planes to a buffer (NV12 or P010), which plans order, hand to the queue family that reads it, and let overlap with
//! drawing.

#![expect(
    unsafe_code,
    reason = "video sessions are Vulkan objects that Quadrille has no wrapper for"
)]

pub(crate) mod bitstream;
pub(crate) mod commands;
pub(crate) mod decoder;
pub(crate) mod memory;
mod picture_info;
pub(crate) mod session;
pub(crate) mod sets;
pub(crate) mod support;
pub(crate) mod work;

use crate::api::vk;

/// Layers of an image.
fn layers(first: u32, count: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: first,
        layer_count: count,
    }
}

/// Bytes of a decoded picture in a buffer: one value of luma per pixel and two of chroma per four pixels.
pub(crate) fn picture_bytes(coded: [u32; 2], bytes_per_value: u64) -> u64 {
    let [width, height] = coded.map(u64::from);
    width * height * 3 / 2 * bytes_per_value
}
