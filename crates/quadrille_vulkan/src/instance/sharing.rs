//! Sharing of resources between queue families.

use ash::vk;
use quadrille_sync::resource::Sharing as Mode;
use quadrille_sync::topology::Topology;

use crate::error::Error;

/// `VkSharingMode` of a resource, stated or chosen from measured frame times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// One queue family owns it at a time; the plan moves ownership.
    Exclusive,
    /// All queue families may use it; there is no owner.
    Concurrent,
    /// The default: exclusive at first, and concurrent once measured frames get shorter, or equally short with
    /// fewer dependencies between their passes: see [`SharingTrials`](quadrille_sync::advise::SharingTrials). An image becomes
    /// exclusive again if measured frames take longer. Has no effect on devices with one queue family.
    ///
    /// A change happens between two frames: the Vulkan object is recreated, and the next frame begins with a copy
    /// of the contents, if there are any. So [`GpuBuffer::raw`] and [`GpuImage::raw`] may change. The mode stays
    /// while streams exist besides the main loop, and always for images of swapchains, resources that the host
    /// writes, and images of formats that cannot be copied.
    ///
    /// [`GpuBuffer::raw`]: crate::resources::GpuBuffer::raw
    /// [`GpuImage::raw`]: crate::resources::GpuImage::raw
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

    /// Returns memory requirements that suffice for every sharing mode that the resource may get.
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

    /// Whether the mode of a resource may change, which takes copies of its contents.
    pub(crate) fn may_change(self, topology: &Topology) -> bool {
        self == Self::Auto && topology.family_count() > 1
    }

    /// Resolves a description's setting with the device's, `otherwise`:
    /// [`Settings::sharing`](crate::instance::Settings::sharing).
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
