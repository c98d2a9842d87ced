//! The queues that frames are planned for.

use bitflags::bitflags;

bitflags! {
    /// Capabilities of a queue; the bits of `VkQueueFlagBits` (section "Queue Family Properties").
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Capabilities: u32 {
        /// Draws, and other commands that require graphics.
        const GRAPHICS = 0x1;
        /// Dispatches, and ray tracing.
        const COMPUTE = 0x2;
        /// Copies. Graphics and compute imply it.
        const TRANSFER = 0x4;
        /// Sparse memory binding.
        const SPARSE_BINDING = 0x8;
        /// Video decode.
        const VIDEO_DECODE = 0x20;
        /// Video encode.
        const VIDEO_ENCODE = 0x40;
        /// Optical flow (`VK_NV_optical_flow`).
        const OPTICAL_FLOW = 0x100;
    }
}

/// Index of a queue in [`Topology::queues`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueIndex(pub u8);

/// Index of a queue family, as in `vkGetPhysicalDeviceQueueFamilyProperties`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FamilyIndex(pub u32);

impl FamilyIndex {
    /// `VK_QUEUE_FAMILY_EXTERNAL`: an owner outside of this device, on the same driver: another
    /// API, process or instance.
    pub const EXTERNAL: Self = Self(!1);
    /// `VK_QUEUE_FAMILY_FOREIGN_EXT`: an owner that need not use Vulkan: a camera, a display, a
    /// video block.
    pub const FOREIGN: Self = Self(!2);

    /// Whether this is an external owner and not a family of the device.
    pub const fn is_outside(self) -> bool {
        self.0 >= Self::FOREIGN.0
    }
}

impl std::fmt::Display for FamilyIndex {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::EXTERNAL => write!(out, "EXTERNAL"),
            Self::FOREIGN => write!(out, "FOREIGN"),
            Self(index) => write!(out, "{index}"),
        }
    }
}

/// One `VkQueue`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Queue {
    /// The family the queue belongs to.
    pub family: FamilyIndex,
    /// The queue's index within its family.
    pub index: u32,
    /// Capabilities of the queue; [`Capabilities::TRANSFER`] is set where it is implied.
    pub capabilities: Capabilities,
    /// Whether the queue can present to the windows of this program.
    pub can_present: bool,
}

impl Queue {
    /// Whether the queue belongs to another stream, so that plans can only wait for its timeline.
    ///
    /// Each stream plans with its own [`States`](crate::states::States), but all of them number timelines in
    /// the same way: a topology has a queue for each timeline of the device. Queues of other streams
    /// have no capabilities.
    pub fn is_foreign(&self) -> bool {
        self.capabilities.is_empty()
    }
}

/// The kind of barriers of dependencies without a layout transition or ownership transfer.
///
/// In measurements, one global memory barrier was faster than precise barriers on some discrete GPUs,
/// and slower on an integrated one. So the backend chooses per device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BarrierStyle {
    /// One global memory barrier per batch.
    #[default]
    Merged,
    /// A buffer or image memory barrier for each range, except between resources in the same memory.
    Precise,
}

/// Order in which the submissions of a frame reach the queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SubmitPolicy {
    /// A wait is submitted after the signal that it waits for, so no queues can deadlock.
    #[default]
    InOrder,
    /// One `vkQueueSubmit2` per queue and frame; waits may precede signals of *other* queues. See
    /// [`Plan::submit_calls`](crate::plan::Plan::submit_calls).
    Coalesced,
}

/// Order in which passes are submitted, where no hazard decides.
///
/// In either case the declared order decides which write a read observes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OrderPolicy {
    /// The order with the fewest submissions and barrier calls, if no queue is estimated to
    /// finish later than in declared order. Passes without a hazard between them may be exchanged, also
    /// if one is declared to follow the other. Passes with side effects keep their relative order.
    #[default]
    Free,
    /// The declared order; passes without one keep the order of declaration.
    Declared,
}

/// The queues of a device, and what the device allows a plan to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Topology {
    /// The queues: at least one, at most [`Topology::MAX_QUEUES`].
    pub queues: Vec<Queue>,
    /// Kind of barriers of dependencies without a layout transition or ownership transfer.
    pub barriers: BarrierStyle,
    /// Order in which submissions reach the queues.
    pub submit: SubmitPolicy,
    /// Order in which passes are submitted.
    pub order: OrderPolicy,
    /// `VK_KHR_maintenance8`: ownership transfers may have stages other than `ALL_COMMANDS`.
    pub maintenance8: bool,
}

impl Topology {
    /// The most queues a plan can use; vector clocks are arrays of this length.
    pub const MAX_QUEUES: usize = 32;

    /// A topology of the given queues with default options.
    ///
    /// ```
    /// use quadrille_sync::topology::{Capabilities, FamilyIndex, Queue, Topology};
    /// let queue = Queue {
    ///     family: FamilyIndex(0),
    ///     index: 0,
    ///     capabilities: Capabilities::GRAPHICS | Capabilities::COMPUTE | Capabilities::TRANSFER,
    ///     can_present: true,
    /// };
    /// assert_eq!(Topology::new(vec![queue]).to_string(), "gct:1");
    /// ```
    pub fn new(queues: Vec<Queue>) -> Self {
        Self {
            queues,
            ..Self::default()
        }
    }

    /// The queue at an index.
    ///
    /// # Panics
    /// When `index` is not of this topology.
    pub fn queue(&self, index: QueueIndex) -> &Queue {
        &self.queues[usize::from(index.0)]
    }

    /// The family of the queue at an index.
    pub fn family(&self, index: QueueIndex) -> FamilyIndex {
        self.queue(index).family
    }

    /// All queue indices, in order.
    pub fn indices(&self) -> impl Iterator<Item = QueueIndex> + use<> {
        (0..self.queues.len()).map(|index| QueueIndex(index as u8))
    }

    /// The number of different families of the queues.
    pub fn family_count(&self) -> usize {
        let first_of_family = |at: usize| {
            self.queues[..at]
                .iter()
                .all(|queue| queue.family != self.queues[at].family)
        };
        (0..self.queues.len())
            .filter(|&at| first_of_family(at))
            .count()
    }
}
