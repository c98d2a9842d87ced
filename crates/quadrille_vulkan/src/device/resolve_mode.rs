//! [`ResolveMode`] of depth and stencil.

use ash::vk;

/// Resolve mode of depth or stencil (`VkResolveModeFlagBits`). Every device supports
/// `SampleZero`; support of the others differs between devices, and between depth and stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResolveMode {
    /// The first sample.
    SampleZero,
    /// The average of all samples; not for stencil.
    Average,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
}

impl ResolveMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::SampleZero, Self::Average, Self::Min, Self::Max];

    /// Converts to `VkResolveModeFlagBits`.
    pub(crate) fn to_vk(self) -> vk::ResolveModeFlags {
        match self {
            Self::SampleZero => vk::ResolveModeFlags::SAMPLE_ZERO,
            Self::Average => vk::ResolveModeFlags::AVERAGE,
            Self::Min => vk::ResolveModeFlags::MIN,
            Self::Max => vk::ResolveModeFlags::MAX,
        }
    }
}
