//! How queue families share resources.

use ash::vk;
use quadrille_sync::Sharing as Mode;

use crate::error::Error;

/// `VkSharingMode` of a resource, or that it is found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// One queue family owns it at a time; the plan moves ownership.
    #[default]
    Exclusive,
    /// All queue families may use it; there is no owner.
    Concurrent,
    /// Exclusive at first, and concurrent once frames are seen to be cheaper so: see
    /// [`SharingTrials`](quadrille_sync::SharingTrials). Its raw handle may change between frames.
    ///
    /// What is in it is copied when it changes, so it stays as it is while it has contents and is
    /// not made for both directions of copies, and while there are streams beside the main loop.
    Auto,
}

impl Sharing {
    /// What a resource begins with.
    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Exclusive | Self::Auto => Mode::Exclusive,
            Self::Concurrent => Mode::Concurrent,
        }
    }

    /// The memory that a resource needs, in each sharing mode that it may come to have.
    pub(crate) fn requirements(
        self,
        of: impl Fn(Mode) -> Result<vk::MemoryRequirements, Error>,
    ) -> Result<vk::MemoryRequirements, Error> {
        let needs = of(self.mode())?;
        match self {
            Self::Auto => Ok(either(needs, of(Mode::Concurrent)?)),
            Self::Exclusive | Self::Concurrent => Ok(needs),
        }
    }

    /// What is done where a description asks for this and the device's settings for `otherwise`:
    /// [`Settings::sharing`](crate::Settings::sharing).
    pub(crate) fn or(self, otherwise: Self) -> Self {
        match self {
            Self::Exclusive => otherwise,
            asked => asked,
        }
    }
}

/// What suffices for either of two needs.
fn either(one: vk::MemoryRequirements, other: vk::MemoryRequirements) -> vk::MemoryRequirements {
    vk::MemoryRequirements {
        size: one.size.max(other.size),
        alignment: one.alignment.max(other.alignment),
        memory_type_bits: one.memory_type_bits & other.memory_type_bits,
    }
}
