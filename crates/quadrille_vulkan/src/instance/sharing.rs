//! How queue families share resources.

use ash::vk;
use quadrille_sync::{Sharing as Mode, Topology};

use crate::error::Error;

/// `VkSharingMode` of a resource, or that it follows from what frames cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// One queue family owns it at a time; the plan moves ownership.
    Exclusive,
    /// All queue families may use it; there is no owner.
    Concurrent,
    /// Exclusive at first, and concurrent once frames are seen to be shorter so, or as short with less
    /// between their passes: see [`SharingTrials`](quadrille_sync::SharingTrials). An image is exclusive
    /// again if measured frames take longer. The default; on a device with one queue family it means
    /// nothing.
    ///
    /// A change takes effect between two frames: another Vulkan object takes over, and the next frame
    /// begins with a copy of what is in the resource, if anything is. So [`GpuBuffer::raw`] and
    /// [`GpuImage::raw`] may change then. Nothing changes while there are streams beside the main loop,
    /// nor do images of swapchains, resources that the host writes, and images of formats that
    /// cannot be copied.
    ///
    /// [`GpuBuffer::raw`]: crate::GpuBuffer::raw
    /// [`GpuImage::raw`]: crate::GpuImage::raw
    #[default]
    Auto,
}

impl Sharing {
    /// Returns the sharing mode that a resource starts with.
    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Exclusive | Self::Auto => Mode::Exclusive,
            Self::Concurrent => Mode::Concurrent,
        }
    }

    /// The memory that a resource needs, in each sharing mode that it may come to have.
    pub(crate) fn requirements(
        self,
        topology: &Topology,
        of: impl Fn(Mode) -> Result<vk::MemoryRequirements, Error>,
    ) -> Result<vk::MemoryRequirements, Error> {
        let needs = of(self.mode())?;
        if self.may_change(topology) {
            Ok(either(needs, of(Mode::Concurrent)?))
        } else {
            Ok(needs)
        }
    }

    /// Whether a resource may get another mode, so that its contents are copied.
    pub(crate) fn may_change(self, topology: &Topology) -> bool {
        self == Self::Auto && topology.family_count() > 1
    }

    /// Resolves a description's setting with the device's, `otherwise`:
    /// [`Settings::sharing`](crate::Settings::sharing).
    pub(crate) fn or(self, otherwise: Self) -> Self {
        match self {
            Self::Auto => otherwise,
            asked => asked,
        }
    }
}

/// Returns requirements that suffice for either of two.
fn either(one: vk::MemoryRequirements, other: vk::MemoryRequirements) -> vk::MemoryRequirements {
    vk::MemoryRequirements {
        size: one.size.max(other.size),
        alignment: one.alignment.max(other.alignment),
        memory_type_bits: one.memory_type_bits & other.memory_type_bits,
    }
}
