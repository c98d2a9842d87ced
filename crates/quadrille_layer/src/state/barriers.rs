//! Rewriting barriers: virtual families go, and the layout transition of an ownership transfer
//! happens once. Pure.
//!
//! Vulkan executes the transition of a queue family ownership transfer once, between release and
//! acquire, although both barriers name it ("Queue Family Ownership Transfer"). With one real
//! family the release executes it and the acquire keeps the layout.

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

/// The virtual families, as far as barriers need them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    /// The virtual family that the command buffer is recorded for.
    pub(crate) own: u32,
    /// The real family.
    pub(crate) real: u32,
}

impl Mapping {
    /// The families that the driver sees, and the role of the barrier.
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

    /// The layouts that the driver sees, given the families the app wrote.
    pub(crate) fn layouts(
        &self,
        role: Role,
        (src, dst): (u32, u32),
        (old, new): (vk::ImageLayout, vk::ImageLayout),
    ) -> (vk::ImageLayout, vk::ImageLayout) {
        let done_by_release = role == Role::Acquire && !is_outside(src) && !is_outside(dst);
        // An acquire from UNDEFINED throws the contents away, whatever the release has done.
        if done_by_release && old != vk::ImageLayout::UNDEFINED {
            (new, new)
        } else {
            (old, new)
        }
    }
}

/// Whether a family index means somebody outside of this device.
fn is_outside(family: u32) -> bool {
    [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT].contains(&family)
}

/// A buffer barrier of either generation of synchronization commands.
pub(crate) trait BufferBarrier: Copy {
    /// The families of the transfer.
    fn families(&mut self) -> (&mut u32, &mut u32);
}

/// An image barrier of either generation of synchronization commands.
pub(crate) trait ImageBarrier: BufferBarrier {
    /// The old and the new layout.
    fn layouts(&mut self) -> (&mut vk::ImageLayout, &mut vk::ImageLayout);
    /// Image and range of the transition.
    fn target(&self) -> (vk::Image, vk::ImageSubresourceRange);
    /// Makes the barrier wait for all that precedes it, the layer's own commands included.
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

    // The stages are an argument of the command.
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

/// The app's buffer barriers as the driver sees them, and how many of them transfer ownership.
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

/// The app's image barriers as the driver sees them, and how many of them transfer ownership.
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
