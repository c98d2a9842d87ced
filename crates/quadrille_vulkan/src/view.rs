//! The part of an image that a shader or an attachment sees.

use ash::vk;
use quadrille_sync::SubresourceRange;

/// A part of an image's mip levels and array layers. The default is the whole image.
///
/// ```
/// use quadrille_vulkan::View;
/// let level = View::WHOLE.mip(2);
/// assert_eq!((level.base_mip, level.mip_count), (2, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct View {
    /// First mip level.
    pub base_mip: u8,
    /// Number of mip levels; 0 for all from the first.
    pub mip_count: u8,
    /// First array layer.
    pub base_layer: u16,
    /// Number of array layers; 0 for all from the first.
    pub layer_count: u16,
}

impl View {
    /// The whole image.
    pub const WHOLE: Self = Self {
        base_mip: 0,
        mip_count: 0,
        base_layer: 0,
        layer_count: 0,
    };

    /// The same with one mip level only.
    pub const fn mip(mut self, level: u8) -> Self {
        self.base_mip = level;
        self.mip_count = 1;
        self
    }

    /// The same with one array layer only.
    pub const fn layer(mut self, layer: u16) -> Self {
        self.base_layer = layer;
        self.layer_count = 1;
        self
    }

    /// Whether it lies within an image of so many levels and layers.
    pub(crate) fn fits(self, mip_levels: u32, array_layers: u32) -> bool {
        let within = |base: u32, count: u32, limit: u32| base < limit && base + count <= limit;
        within(self.base_mip.into(), self.mip_count.into(), mip_levels)
            && within(
                self.base_layer.into(),
                self.layer_count.into(),
                array_layers,
            )
    }
}

impl From<SubresourceRange> for View {
    /// The same mip levels and layers; what does not fit the view's narrow integers becomes the
    /// largest value, which no image has.
    fn from(range: SubresourceRange) -> Self {
        let small = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        let large = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
        Self {
            base_mip: small(range.base_mip),
            mip_count: small(range.mip_count),
            base_layer: large(range.base_layer),
            layer_count: large(range.layer_count),
        }
    }
}

/// What tells the views of one image apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewKey {
    /// Levels and layers.
    pub view: View,
    /// Aspects.
    pub aspects: vk::ImageAspectFlags,
    /// Dimension.
    pub kind: vk::ImageViewType,
}

impl ViewKey {
    /// The range in Vulkan's words.
    pub(crate) fn range(self) -> vk::ImageSubresourceRange {
        let all_if_0 = |count: u32| {
            if count == 0 {
                vk::REMAINING_MIP_LEVELS
            } else {
                count
            }
        };
        vk::ImageSubresourceRange {
            aspect_mask: self.aspects,
            base_mip_level: self.view.base_mip.into(),
            level_count: all_if_0(self.view.mip_count.into()),
            base_array_layer: self.view.base_layer.into(),
            layer_count: all_if_0(self.view.layer_count.into()),
        }
    }
}
