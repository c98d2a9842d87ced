//! What passes touch: buffers and images.

use std::sync::Arc;

use crate::flags::Aspects;

/// A resource's identity over frames. Whoever makes resources hands ids out, may hand one out
/// again once the old resource is destroyed and [`States::remove`](crate::States::remove) was
/// called, and keeps them dense: state is stored in arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId(pub u32);

/// Index of a resource in [`Frame::resources`](crate::Frame::resources).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceIndex(pub u32);

/// What a resource is made of.
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
        /// Array layers; at least 1 (a 3D image has one).
        array_layers: u32,
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

/// One resource that a frame names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    /// Its identity over frames.
    pub id: ResourceId,
    /// Its name in errors, plans and diagrams.
    pub name: Arc<str>,
    /// What it is made of.
    pub kind: ResourceKind,
    /// Exclusive or concurrent.
    pub sharing: Sharing,
    /// How long it lives.
    pub lifetime: Lifetime,
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
        }
    }

    /// What images of swapchains are made of; those of stereo displays are not known here.
    pub(crate) const PRESENTABLE: ResourceKind = ResourceKind::Image {
        aspects: Aspects::COLOR,
        mip_levels: 1,
        array_layers: 1,
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
        }
    }

    /// Whether this is an image.
    pub fn is_image(&self) -> bool {
        matches!(self.kind, ResourceKind::Image { .. })
    }
}
