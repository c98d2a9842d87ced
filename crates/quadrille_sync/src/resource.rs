//! Resources that passes access: buffers and images.

use std::ops::Range;
use std::sync::Arc;

use crate::flags::Aspects;

/// A resource's identity over frames. The creator of resources hands ids out, and keeps them
/// dense, because state is stored in arrays. An id may be used again once the old resource is
/// destroyed and [`States::remove`](crate::States::remove) was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId(pub u32);

/// Index of a resource in [`Frame::resources`](crate::Frame::resources).
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
        /// Array layers; at least 1, and just that of a 3D image.
        array_layers: u32,
        /// Slices of the first mip level: the depth of a 3D image, and 1 of all others. A mip
        /// level has half as many as the one before, at least 1.
        slices: u32,
    },
}

/// `VkSharingMode`: whether queue families own the resource in turn or together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// One family owns it at a time; the plan moves ownership.
    #[default]
    Exclusive,
    /// All families of the topology may use it; there is no owner.
    Concurrent,
}

/// How long a resource lives and who owns its memory.
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

/// A piece of device memory that transient resources are placed in: its identity over frames.
///
/// The allocator of blocks hands ids out, and keeps them dense. An id may be used again once the
/// old block is freed and [`States::remove_block`](crate::States::remove_block) was called. A
/// block belongs to one stream of planning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// Where in a block the bytes of a transient resource lie. Resources whose bytes overlap are
/// *aliases* (section "Memory Aliasing"): they take turns, and the first access to one depends on
/// all accesses to the others.
///
/// Host passes may not touch them: the next device access to the same bytes would have to wait for
/// the host. Copy to a buffer with memory of its own, and let the host read that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The block.
    pub block: BlockId,
    /// The first byte within the block.
    pub offset: u64,
    /// The number of bytes, at least 1: what the resource needs, which may be more than its size.
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

/// One resource that a frame names.
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
    /// Where its bytes lie, if it may share them: a transient one only. Without, its memory is its
    /// own.
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

    /// A persistent, exclusive colour image with one mip level and one array layer.
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
