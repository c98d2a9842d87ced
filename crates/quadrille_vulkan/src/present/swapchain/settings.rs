//! A program's requests for a swapchain.

use ash::vk;

/// A format with the colour space that its values are shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SurfaceFormat {
    /// The format of the images.
    pub format: vk::Format,
    /// The colour space of their values; others than the standard one need
    /// `VK_EXT_swapchain_colorspace` and a display that has them.
    pub color_space: vk::ColorSpaceKHR,
}

impl SurfaceFormat {
    /// Formats that every display shows, best first: sRGB with 8 bits, encoded by the device.
    pub const STANDARD: [Self; 5] = [
        Self::standard(vk::Format::B8G8R8A8_SRGB),
        Self::standard(vk::Format::R8G8B8A8_SRGB),
        Self::standard(vk::Format::A8B8G8R8_SRGB_PACK32),
        Self::standard(vk::Format::B8G8R8A8_UNORM),
        Self::standard(vk::Format::R8G8B8A8_UNORM),
    ];

    /// More than standard brightness, best first: linear scRGB in half floats (1.0 is 80 cd/m2),
    /// then Rec. 2020 with the PQ curve in 10 bits, which the program encodes itself.
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

    /// A format in the standard colour space.
    pub const fn standard(format: vk::Format) -> Self {
        Self {
            format,
            color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
        }
    }

    /// Whether it shows more than standard brightness.
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

/// How it is known that a present is done, so that its semaphore may be used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PresentCompletion {
    /// Fences where the device has them, and the history.
    #[default]
    Automatic,
    /// The history alone, as on devices without `VK_EXT_swapchain_maintenance1`.
    History,
}

/// How a swapchain presents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapchainSettings {
    /// How presents meet the display's refresh, in order of preference; none of them means FIFO,
    /// which every device has.
    pub present_modes: Vec<vk::PresentModeKHR>,
    /// Formats in order of preference.
    pub formats: Vec<SurfaceFormat>,
    /// How the window system blends the window with what is behind it. An empty value, or one that the surface
    /// lacks, means opaque; where the surface has no such mode, the window system's own, then any.
    pub composite_alpha: vk::CompositeAlphaFlagsKHR,
    /// How many images to ask for; 0 for one more than the least.
    pub image_count: u32,
    /// How many frames of this window may be on their way to the device; 0 for as many as the
    /// device's, which is the most in any case.
    pub frames_in_flight: u32,
    /// How it is known that a present is done; the proof that a swapchain begins with is kept.
    pub completion: PresentCompletion,
    /// Count frames as on their way until the display has shown them, where the device reports it
    /// (`VK_KHR_present_wait`): less latency, and no time to spare.
    pub pace_by_display: bool,
}

impl Default for SwapchainSettings {
    /// FIFO, sRGB with 8 bits, opaque, one image more than the least.
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
