//! [`SwapchainSettings`].

use ash::vk;

/// A format with the color space of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SurfaceFormat {
    /// The format of the images.
    pub format: vk::Format,
    /// The color space of their values. All except sRGB need `VK_EXT_swapchain_colorspace` and a display that supports
    /// them.
    pub color_space: vk::ColorSpaceKHR,
}

impl SurfaceFormat {
    /// Standard dynamic range, best first: 8-bit sRGB, encoded by the device.
    pub const STANDARD: [Self; 5] = [
        Self::standard(vk::Format::B8G8R8A8_SRGB),
        Self::standard(vk::Format::R8G8B8A8_SRGB),
        Self::standard(vk::Format::A8B8G8R8_SRGB_PACK32),
        Self::standard(vk::Format::B8G8R8A8_UNORM),
        Self::standard(vk::Format::R8G8B8A8_UNORM),
    ];

    /// High dynamic range, best first: linear scRGB in half floats (1.0 is 80 cd/m2),
    /// then Rec. 2020 with the PQ curve in 10 bits, which the program encodes.
    pub const HIGH_DYNAMIC_RANGE: [Self; 3] = [
        Self {
            format: vk::Format::R16G16B16A16_SFLOAT,
            color_space: vk::ColorSpaceKHR::EXTENDED_SRGB_LINEAR_EXT,
        },
        Self {
            format: vk::Format::A2B10G10R10_UNORM_PACK32,
            color_space: vk::ColorSpaceKHR::HDR10_ST2084_EXT,
        },
        Self {
            format: vk::Format::A2R10G10B10_UNORM_PACK32,
            color_space: vk::ColorSpaceKHR::HDR10_ST2084_EXT,
        },
    ];

    /// Creates a format in the sRGB color space.
    pub const fn standard(format: vk::Format) -> Self {
        Self {
            format,
            color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
        }
    }

    /// Whether its color space has high dynamic range.
    pub fn is_high_dynamic_range(self) -> bool {
        Self::HIGH_DYNAMIC_RANGE.contains(&self)
    }
}

impl From<vk::SurfaceFormatKHR> for SurfaceFormat {
    fn from(known: vk::SurfaceFormatKHR) -> Self {
        Self {
            format: known.format,
            color_space: known.color_space,
        }
    }
}

/// Proof of a present's completion, after which its semaphore may be reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PresentCompletion {
    /// Present fences if the device has them, and the history.
    #[default]
    Automatic,
    /// The history of acquisitions alone, as on devices without `VK_EXT_swapchain_maintenance1`.
    History,
}

/// Settings of a swapchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapchainSettings {
    /// Present modes in order of preference. If none is supported, FIFO is used, which every device has.
    pub present_modes: Vec<vk::PresentModeKHR>,
    /// Formats in order of preference.
    pub formats: Vec<SurfaceFormat>,
    /// Composite alpha mode: how the window system blends the window. An empty or unsupported value means opaque;
    /// if that is not supported either, inherit, then any supported mode.
    pub composite_alpha: vk::CompositeAlphaFlagsKHR,
    /// Requested number of images; 0 for one more than the minimum.
    pub image_count: u32,
    /// Maximum number of this window's frames in flight; 0, or a higher number, for that of the device.
    pub frames_in_flight: u32,
    /// Proof of completion of presents; fixed at the swapchain's creation.
    pub completion: PresentCompletion,
    /// Counts frames as in flight until they are displayed, if the device reports that
    /// (`VK_KHR_present_wait`). Reduces latency, but leaves no slack for late frames.
    pub pace_by_display: bool,
}

impl Default for SwapchainSettings {
    /// FIFO, 8-bit sRGB, opaque, one image more than the minimum.
    fn default() -> Self {
        Self {
            present_modes: vec![vk::PresentModeKHR::FIFO],
            formats: SurfaceFormat::STANDARD.to_vec(),
            composite_alpha: vk::CompositeAlphaFlagsKHR::empty(),
            image_count: 0,
            frames_in_flight: 0,
            completion: PresentCompletion::Automatic,
            pace_by_display: false,
        }
    }
}
