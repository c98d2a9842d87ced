//! Formats of attachments.

use ash::vk;

use crate::resources::image::GpuImage;

/// Maximum number of color attachments: `maxColorAttachments` of all desktop devices.
pub(crate) const MAX_COLORS: usize = 8;

/// The formats that a graphics pipeline is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Formats {
    /// Formats of the color attachments, padded with `UNDEFINED`.
    pub colors: [vk::Format; MAX_COLORS],
    /// Format of depth and stencil, or `UNDEFINED`.
    pub depth: vk::Format,
    /// Number of samples per texel.
    pub samples: u32,
    /// The [`view_mask`](crate::commands::Rendering::view_mask) of renderings; 0 without multiview.
    pub view_mask: u32,
}

impl Default for Formats {
    /// No attachments, one sample, no multiview.
    fn default() -> Self {
        Self {
            colors: [vk::Format::UNDEFINED; MAX_COLORS],
            depth: vk::Format::UNDEFINED,
            samples: 1,
            view_mask: 0,
        }
    }
}

impl Formats {
    /// Returns the formats of images that are attachments of one rendering, without multiview.
    pub fn of(colors: &[&GpuImage], depth: Option<&GpuImage>) -> Self {
        let mut formats = Self::default();
        for (slot, image) in formats.colors.iter_mut().zip(colors) {
            *slot = image.format();
        }
        formats.depth = depth.map_or(vk::Format::UNDEFINED, GpuImage::format);
        let first = colors.first().copied().or(depth);
        formats.samples = first.map_or(1, |image| image.desc().samples);
        formats
    }

    /// Formats of the color attachments, without padding.
    pub(crate) fn used_colors(&self) -> &[vk::Format] {
        let count = self
            .colors
            .iter()
            .position(|&format| format == vk::Format::UNDEFINED);
        &self.colors[..count.unwrap_or(MAX_COLORS)]
    }
}
