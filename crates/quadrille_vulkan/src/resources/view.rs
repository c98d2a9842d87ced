//! [`View`]: the mip levels and array layers of an image that a shader or an attachment accesses.

use ash::vk;
use quadrille_sync::range::SubresourceRange;

use crate::resources::format;
use crate::resources::image::GpuImage;
use crate::resources::region::mip_extent;

/// Some mip levels and array layers of an image. The default is the whole image.
///
/// ```
/// use quadrille_vulkan::resources::View;
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

    /// Selects one mip level.
    pub const fn mip(mut self, level: u8) -> Self {
        self.base_mip = level;
        self.mip_count = 1;
        self
    }

    /// Selects one array layer.
    pub const fn layer(mut self, layer: u16) -> Self {
        self.base_layer = layer;
        self.layer_count = 1;
        self
    }

    /// Resolves it to a subresource range of an image, with explicit counts.
    ///
    /// ```no_run
    /// # use quadrille_vulkan::device::Gpu;
    /// # use quadrille_vulkan::resources::{GpuImage, ImageDesc, View};
    /// # use quadrille_vulkan::vk;
    /// # fn example(gpu: &Gpu) -> Result<(), quadrille_vulkan::Error> {
    /// let format = vk::Format::R8G8B8A8_UNORM;
    /// let pyramid = gpu.create_image(&ImageDesc::sampled("pyramid", [64, 64], format).with_mips(4))?;
    /// let range = View::WHOLE.subresources(&pyramid);
    /// assert_eq!((range.base_mip, range.mip_count, range.layer_count), (0, 4, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn subresources(self, image: &GpuImage) -> SubresourceRange {
        let desc = image.desc();
        let or_rest = |count: u32, base: u32, of: u32| match count {
            0 => of.saturating_sub(base),
            count => count,
        };
        let (base_mip, base_layer) = (self.base_mip.into(), self.base_layer.into());
        SubresourceRange {
            aspects: image.aspects(),
            base_mip,
            mip_count: or_rest(self.mip_count.into(), base_mip, desc.mip_levels),
            base_layer,
            layer_count: or_rest(self.layer_count.into(), base_layer, desc.array_layers),
        }
    }

    /// Width, height and depth in texels of its first mip level: 64 by 64 texels are
    /// `[16, 16, 1]` in level 2.
    pub fn extent(self, image: &GpuImage) -> [u32; 3] {
        mip_extent(image.extent(), self.base_mip.into())
    }

    /// Returns the part that an attachment uses: one mip level, one layer.
    ///
    /// ```
    /// # use quadrille_vulkan::resources::View;
    /// assert_eq!(View::WHOLE.mip(2).attached(), View::WHOLE.mip(2).layer(0));
    /// ```
    pub fn attached(self) -> Self {
        self.mip(self.base_mip).layer(self.base_layer)
    }

    /// Reduces it to its first mip level, as for attachments.
    pub fn one_mip(self) -> Self {
        self.mip(self.base_mip)
    }

    /// Whether all its mip levels and layers exist in the image.
    pub fn is_within(self, image: &GpuImage) -> bool {
        self.fits(image.desc().mip_levels, image.desc().array_layers)
    }

    /// Whether it is within an image with these numbers of levels and layers.
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
    /// Converts mip levels and layers; values that do not fit the view's narrow integers saturate to the maximum,
    /// which no image has.
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

/// Key of an image view within its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewKey {
    /// Mip levels and array layers.
    pub view: View,
    /// Aspects.
    pub aspects: vk::ImageAspectFlags,
    /// Dimension.
    pub kind: vk::ImageViewType,
}

impl ViewKey {
    /// Key of an attachment's view. For an image with one level and one layer, the key of the whole image.
    pub(crate) fn attached(image: &GpuImage, part: View) -> Self {
        let desc = image.desc();
        let is_whole = desc.mip_levels == 1 && desc.array_layers == 1;
        Self {
            view: if is_whole { View::WHOLE } else { part },
            aspects: format::aspects(image.format()),
            kind: if is_whole {
                image.default_view_kind()
            } else if desc.one_dimensional {
                vk::ImageViewType::TYPE_1D_ARRAY
            } else {
                vk::ImageViewType::TYPE_2D_ARRAY
            },
        }
    }

    /// Converts to `VkImageSubresourceRange`.
    pub(crate) fn range(self) -> vk::ImageSubresourceRange {
        self.view.range(self.aspects)
    }
}

impl View {
    /// Converts to `VkImageSubresourceRange`.
    pub(crate) fn range(self, aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
        let all_if_0 = |count: u32| {
            if count == 0 {
                vk::REMAINING_MIP_LEVELS
            } else {
                count
            }
        };
        vk::ImageSubresourceRange {
            aspect_mask: aspects,
            base_mip_level: self.base_mip.into(),
            level_count: all_if_0(self.mip_count.into()),
            base_array_layer: self.base_layer.into(),
            layer_count: all_if_0(self.layer_count.into()),
        }
    }
}
