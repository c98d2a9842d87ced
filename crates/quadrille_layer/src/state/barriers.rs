//! Rewriting of barriers: replaces virtual families, and makes the layout transition of an ownership transfer happen
//! only once. Pure.
//!
//! Vulkan executes the layout transition of a queue family ownership transfer once, between release and acquire,
//! although both barriers specify it ("Queue Family Ownership Transfer"). With one real family, the release executes it
//! and the acquire keeps the layout.

use ash::vk;

/// Role of a barrier in an ownership transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// No ownership transfer.
    Plain,
    /// The first half of a transfer.
    Release,
    /// The second half of a transfer.
    Acquire,
}

/// Mapping of virtual to real families for barriers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    /// Virtual family of the command buffer.
    pub(crate) own: u32,
    /// The real family.
    pub(crate) real: u32,
}

impl Mapping {
    /// Returns the families for the driver, and the role of the barrier.
    pub(crate) fn families(&self, src: u32, dst: u32) -> (u32, u32, Role) {
        let ignored = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
        if src == dst {
            return (ignored.0, ignored.1, Role::Plain);
        }
        let role = if dst == self.own {
            Role::Acquire
        } else {
            Role::Release
        };
        if is_outside(src) || is_outside(dst) {
            let map = |family| {
                if is_outside(family) {
                    family
                } else {
                    self.real
                }
            };
            return (map(src), map(dst), role);
        }
        (ignored.0, ignored.1, role)
    }

    /// Returns the layouts for the driver. `src` and `dst` are the families of the app.
    pub(crate) fn layouts(
        &self,
        role: Role,
        (src, dst): (u32, u32),
        (old, new): (vk::ImageLayout, vk::ImageLayout),
    ) -> (vk::ImageLayout, vk::ImageLayout) {
        let done_by_release = role == Role::Acquire && !is_outside(src) && !is_outside(dst);
        // An acquire from UNDEFINED discards the contents, even after a release with a transition.
        if done_by_release && old != vk::ImageLayout::UNDEFINED {
            (new, new)
        } else {
            (old, new)
        }
    }
}

/// Whether a family index is external to this device.
fn is_outside(family: u32) -> bool {
    [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT].contains(&family)
}

/// A buffer barrier of Vulkan 1.0 or of synchronization2.
pub(crate) trait BufferBarrier: Copy {
    /// Families of the transfer.
    fn families(&mut self) -> (&mut u32, &mut u32);
}

/// An image barrier of Vulkan 1.0 or of synchronization2.
pub(crate) trait ImageBarrier: BufferBarrier {
    /// Old and new layout.
    fn layouts(&mut self) -> (&mut vk::ImageLayout, &mut vk::ImageLayout);
    /// Image and range of the transition.
    fn target(&self) -> (vk::Image, vk::ImageSubresourceRange);
    /// Makes the barrier wait for all earlier commands, including the layer's own.
    fn wait_for_all(&mut self);
}

macro_rules! families {
    ($($barrier:ident)*) => {$(
        impl BufferBarrier for vk::$barrier<'_> {
            fn families(&mut self) -> (&mut u32, &mut u32) {
                (&mut self.src_queue_family_index, &mut self.dst_queue_family_index)
            }
        }
    )*};
}
families!(BufferMemoryBarrier BufferMemoryBarrier2 ImageMemoryBarrier ImageMemoryBarrier2);

impl ImageBarrier for vk::ImageMemoryBarrier<'_> {
    fn layouts(&mut self) -> (&mut vk::ImageLayout, &mut vk::ImageLayout) {
        (&mut self.old_layout, &mut self.new_layout)
    }

    fn target(&self) -> (vk::Image, vk::ImageSubresourceRange) {
        (self.image, self.subresource_range)
    }

    // The stages are arguments of the command.
    fn wait_for_all(&mut self) {
        self.src_access_mask |= vk::AccessFlags::MEMORY_WRITE;
    }
}

impl ImageBarrier for vk::ImageMemoryBarrier2<'_> {
    fn layouts(&mut self) -> (&mut vk::ImageLayout, &mut vk::ImageLayout) {
        (&mut self.old_layout, &mut self.new_layout)
    }

    fn target(&self) -> (vk::Image, vk::ImageSubresourceRange) {
        (self.image, self.subresource_range)
    }

    fn wait_for_all(&mut self) {
        self.src_stage_mask |= vk::PipelineStageFlags2::ALL_COMMANDS;
        self.src_access_mask |= vk::AccessFlags2::MEMORY_WRITE;
    }
}

/// Rewrites buffer barriers for the driver. Returns them with the number of ownership transfers.
pub(crate) fn rewrite_buffers<B: BufferBarrier>(
    barriers: &[B],
    mapping: Mapping,
) -> (Vec<B>, usize) {
    let mut transfers = 0;
    let rewritten = barriers.iter().map(|barrier| {
        let mut barrier = *barrier;
        let (src, dst) = barrier.families();
        let role;
        (*src, *dst, role) = mapping.families(*src, *dst);
        transfers += usize::from(role != Role::Plain);
        barrier
    });
    let rewritten = rewritten.collect();
    (rewritten, transfers)
}

/// Rewrites image barriers for the driver. Returns them with the number of ownership transfers.
pub(crate) fn rewrite_images<B: ImageBarrier>(barriers: &[B], mapping: Mapping) -> (Vec<B>, usize) {
    let mut transfers = 0;
    let rewritten = barriers.iter().map(|barrier| {
        let mut barrier = *barrier;
        let (src, dst) = barrier.families();
        let original = (*src, *dst);
        let role;
        (*src, *dst, role) = mapping.families(original.0, original.1);
        let (old, new) = barrier.layouts();
        (*old, *new) = mapping.layouts(role, original, (*old, *new));
        transfers += usize::from(role != Role::Plain);
        barrier
    });
    let rewritten = rewritten.collect();
    (rewritten, transfers)
}

#[cfg(test)]
mod tests;
