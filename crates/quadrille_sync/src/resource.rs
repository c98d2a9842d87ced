//! Resources that passes access: buffers and images.

use std::ops::Range;
use std::sync::Arc;

use crate::flags::Aspects;

/// Id of a resource, the same in all frames. The creator of resources assigns ids, and keeps them
/// dense, because state is stored in arrays. An id may be reused once the old resource is
/// destroyed and [`States::remove`](crate::states::States::remove) was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId(pub u32);

/// Index of a resource in [`Frame::resources`](crate::frame::Frame::resources).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceIndex(pub u32);

/// Kind and extent of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// A buffer.
    Buffer {
        /// Its size in bytes; at least 1.
        bytes: u64,
    },
    /// An image.
    Image {
        /// The aspects of its format.
        aspects: Aspects,
        /// Mip levels; at least 1.
        mip_levels: u32,
        /// Array layers; at least 1, and exactly 1 for a 3D image.
        array_layers: u32,
        /// Slices of the first mip level: the depth of a 3D image, and 1 for all others. Each mip
        /// level has half as many as the previous one, at least 1.
        slices: u32,
    },
}

/// `VkSharingMode` of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// One family owns it at a time; the plan transfers ownership.
    #[default]
    Exclusive,
    /// All families of the topology may use it; there is no owner.
    Concurrent,
}

/// Lifetime of a resource's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// Outlives the frame.
    #[default]
    Persistent,
    /// Lives within one frame; its contents are undefined at the frame's start.
    Transient,
    /// An image of a swapchain: acquired before its first use of a frame, presented after its
    /// last. Its contents are undefined when it is acquired.
    Swapchain,
}

/// Id of a block of device memory for transient resources, the same in all frames.
///
/// The allocator of blocks assigns ids, and keeps them dense. An id may be reused once the
/// old block is freed and [`States::remove_block`](crate::states::States::remove_block) was called. A
/// block belongs to one [`States`](crate::states::States).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// Range of a transient resource in a block. Resources with overlapping ranges are
/// *aliases* (section "Memory Aliasing"): their lifetimes are disjoint, and the first access to one depends on
/// all earlier accesses to the others.
///
/// Host passes must not access them: the next device access to the same bytes would have to wait for
/// the host. Copy to a buffer with its own memory, and let the host read that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The block.
    pub block: BlockId,
    /// The first byte within the block.
    pub offset: u64,
    /// The number of bytes that the resource needs, at least 1; may be more than its size.
    pub bytes: u64,
}

impl Placement {
    /// The bytes of the block.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.bytes)
    }

    /// Whether two resources have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.range(), other.range());
        self.block == other.block && a.start < b.end && b.start < a.end
    }
}

/// A resource of a frame.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    /// Its identity over frames.
    pub id: ResourceId,
    /// Its name in errors, plans and diagrams.
    pub name: Arc<str>,
    /// Buffer or image, and its extent.
    pub kind: ResourceKind,
    /// Exclusive or concurrent.
    pub sharing: Sharing,
    /// Lifetime of its contents.
    pub lifetime: Lifetime,
    /// Range in a block, for transient resources in shared memory; `None` for memory of its own.
    pub memory: Option<Placement>,
}

impl Resource {
    /// A persistent, exclusive buffer of `bytes` bytes.
    pub fn buffer(id: ResourceId, name: &str, bytes: u64) -> Self {
        Self {
            id,
            name: name.into(),
            kind: ResourceKind::Buffer { bytes },
            sharing: Sharing::Exclusive,
            lifetime: Lifetime::Persistent,
            memory: None,
        }
    }

    /// Kind of swapchain images; the layers of stereo displays are not known here.
    pub(crate) const PRESENTABLE: ResourceKind = ResourceKind::Image {
        aspects: Aspects::COLOR,
        mip_levels: 1,
        array_layers: 1,
        slices: 1,
    };

    /// A persistent, exclusive color image with one mip level and one array layer.
    pub fn image(id: ResourceId, name: &str) -> Self {
        let kind = Self::PRESENTABLE;
        Self {
            id,
            name: name.into(),
            kind,
            sharing: Sharing::Exclusive,
            lifetime: Lifetime::Persistent,
            memory: None,
        }
    }

    /// Whether states hold its accesses of earlier frames. They do not for images of swapchains,
    /// whose contents are undefined at their acquire, nor for resources in a block, which has
    /// states by byte instead.
    pub(crate) fn has_past(&self) -> bool {
        self.lifetime != Lifetime::Swapchain && self.memory.is_none()
    }

    /// Whether this is an image.
    pub fn is_image(&self) -> bool {
        matches!(self.kind, ResourceKind::Image { .. })
    }
}
