//! Descriptions of images.

use ash::vk;
use bitflags::bitflags;

use super::Extent;
use crate::instance::sharing::Sharing;

bitflags! {
    /// Allowed uses of an image; the bits of `VkImageUsageFlagBits`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ImageUsage: u32 {
        /// Source of copies and blits.
        const TRANSFER_SRC = 0x1;
        /// Target of copies, blits and clears.
        const TRANSFER_DST = 0x2;
        /// Sampled in shaders.
        const SAMPLED = 0x4;
        /// Loaded and stored in shaders.
        const STORAGE = 0x8;
        /// Color attachment of draws.
        const COLOR_ATTACHMENT = 0x10;
        /// Depth-stencil attachment of draws.
        const DEPTH_STENCIL_ATTACHMENT = 0x20;
        /// Input attachment: read by fragment shaders at their own position.
        const INPUT_ATTACHMENT = 0x80;
    }
}

/// Description of an image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageDesc {
    /// Name in errors, plans and debuggers.
    pub name: String,
    /// Its format.
    pub format: vk::Format,
    /// Width, height and depth in texels; each at least 1. A depth above 1 makes it a 3D image.
    pub extent: [u32; 3],
    /// Number of mip levels; at least 1.
    pub mip_levels: u32,
    /// Number of array layers; at least 1.
    pub array_layers: u32,
    /// Number of samples per texel: 1, 2, 4, 8, ...
    pub samples: u32,
    /// Allowed uses.
    pub usage: ImageUsage,
    /// Whether layers can be viewed as cube map faces.
    pub cube: bool,
    /// Whether it is a 1D image, `texture_1d` in shaders. Its height and depth are 1, and it has one sample.
    pub one_dimensional: bool,
    /// Sharing between queue families. [`Settings::sharing`] applies if this is [`Sharing::Auto`].
    ///
    /// [`Settings::sharing`]: crate::instance::Settings::sharing
    pub sharing: Sharing,
    /// Whether the contents live for one frame only. Transient resources with disjoint lifetimes share memory: see
    /// [`Frames::place_transients`](crate::submit::Frames::place_transients).
    pub transient: bool,
}

impl ImageDesc {
    /// Describes an image with one mip level and one layer: 2D, or 3D if the extent has three numbers and a depth above
    /// 1.
    pub fn new(
        name: impl Into<String>,
        extent: impl Into<Extent>,
        format: vk::Format,
        usage: ImageUsage,
    ) -> Self {
        let Extent(extent) = extent.into();
        Self {
            name: name.into(),
            format,
            extent,
            mip_levels: 1,
            array_layers: 1,
            samples: 1,
            usage,
            cube: false,
            one_dimensional: false,
            sharing: Sharing::Auto,
            transient: false,
        }
    }

    /// Describes a color attachment that can be sampled and copied from.
    pub fn color_target(
        name: impl Into<String>,
        extent: impl Into<Extent>,
        format: vk::Format,
    ) -> Self {
        let usage = ImageUsage::COLOR_ATTACHMENT | ImageUsage::SAMPLED | COPIES;
        Self::new(name, extent, format, usage)
    }

    /// Describes an image to sample, filled by copies.
    pub fn sampled(name: impl Into<String>, extent: impl Into<Extent>, format: vk::Format) -> Self {
        Self::new(name, extent, format, ImageUsage::SAMPLED | COPIES)
    }

    /// Describes an image that shaders load, store and sample, and that can be copied.
    pub fn storage(name: impl Into<String>, extent: impl Into<Extent>, format: vk::Format) -> Self {
        let usage = ImageUsage::STORAGE | ImageUsage::SAMPLED | COPIES;
        Self::new(name, extent, format, usage)
    }

    /// Describes a depth or depth-stencil attachment that can be sampled.
    pub fn depth(name: impl Into<String>, extent: impl Into<Extent>, format: vk::Format) -> Self {
        let usage = ImageUsage::DEPTH_STENCIL_ATTACHMENT | ImageUsage::SAMPLED;
        Self::new(name, extent, format, usage)
    }

    /// Adds usages.
    pub fn with_usage(mut self, usage: ImageUsage) -> Self {
        self.usage |= usage;
        self
    }

    /// Sets the sharing between queue families.
    pub fn with_sharing(mut self, sharing: Sharing) -> Self {
        self.sharing = sharing;
        self
    }

    /// Makes it transient: each frame writes it before reading it, and other resources may use its memory outside its
    /// lifetime.
    ///
    /// ```
    /// use quadrille_vulkan::Format;
    /// use quadrille_vulkan::resources::ImageDesc;
    /// let glow = ImageDesc::color_target("glow", [64, 64], Format::R8G8B8A8_UNORM).transient();
    /// assert!(glow.transient);
    /// ```
    pub fn transient(mut self) -> Self {
        self.transient = true;
        self
    }

    /// Sets the number of mip levels.
    pub fn with_mips(mut self, mip_levels: u32) -> Self {
        self.mip_levels = mip_levels;
        self
    }

    /// Sets the number of array layers.
    pub fn with_layers(mut self, array_layers: u32) -> Self {
        self.array_layers = array_layers;
        self
    }

    /// Makes it a 1D image; see [`ImageDesc::one_dimensional`].
    ///
    /// ```
    /// use quadrille_vulkan::Format;
    /// use quadrille_vulkan::resources::ImageDesc;
    /// let ramp = ImageDesc::sampled("ramp", [256, 1], Format::R8G8B8A8_SRGB).in_one_dimension();
    /// assert!(ramp.one_dimensional);
    /// ```
    pub fn in_one_dimension(mut self) -> Self {
        self.one_dimensional = true;
        self
    }

    /// Dimensionality of the Vulkan image.
    pub(super) fn kind(&self) -> vk::ImageType {
        if self.one_dimensional {
            vk::ImageType::TYPE_1D
        } else if self.extent[2] > 1 {
            vk::ImageType::TYPE_3D
        } else {
            vk::ImageType::TYPE_2D
        }
    }
}

/// Source and destination of copies.
const COPIES: ImageUsage = ImageUsage::TRANSFER_SRC.union(ImageUsage::TRANSFER_DST);
