//! How samples become one: what devices differ in.

use ash::vk;

/// How samples of depth or stencil become one (`VkResolveModeFlagBits`). Every device has
/// `SampleZero`; which others it has for depth, and which for stencil, it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResolveMode {
    /// The first sample.
    SampleZero,
    /// The average of all; stencil has none.
    Average,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl ResolveMode {
    /// All that there are.
    pub const ALL: [Self; 4] = [Self::SampleZero, Self::Average, Self::Min, Self::Max];

    /// The mode in Vulkan's words.
    pub(crate) fn to_vk(self) -> vk::ResolveModeFlags {
        match self {
            Self::SampleZero => vk::ResolveModeFlags::SAMPLE_ZERO,
            Self::Average => vk::ResolveModeFlags::AVERAGE,
            Self::Min => vk::ResolveModeFlags::MIN,
            Self::Max => vk::ResolveModeFlags::MAX,
        }
    }
}
