//! Virtual queues: dispatchable objects that the app uses as `VkQueue`s.

use std::ffi::c_void;
use std::sync::atomic::AtomicUsize;

use ash::vk::{self, Handle};

use crate::dispatch::loader::LOADER_MAGIC;
use crate::settings::families::Family;

/// Object behind a `VkQueue` handle of the layer. The loader owns the first word.
#[repr(C)]
#[derive(Debug)]
struct Object {
    dispatch: AtomicUsize,
}

/// A virtual queue.
#[derive(Debug)]
pub(crate) struct VirtualQueue {
    /// Virtual family.
    pub(crate) family: u32,
    /// Index in the family.
    pub(crate) index: u32,
    /// The flags it was created with.
    flags: vk::DeviceQueueCreateFlags,
    object: Box<Object>,
}

impl VirtualQueue {
    /// Handle for the app. Valid as long as `self`.
    pub(crate) fn handle(&self) -> vk::Queue {
        vk::Queue::from_raw(self.object().expose_provenance() as u64)
    }

    /// The object, whose first word the loader initializes.
    pub(crate) fn object(&self) -> *mut c_void {
        self.object.dispatch.as_ptr().cast()
    }
}

/// All virtual queues of a device.
#[derive(Debug, Default)]
pub(crate) struct VirtualQueues {
    queues: Vec<VirtualQueue>,
}

impl VirtualQueues {
    /// Creates the queues that a device requests; `None` if a family does not have them.
    pub(crate) fn new(
        families: &[Family],
        requests: &[vk::DeviceQueueCreateInfo<'_>],
    ) -> Option<Self> {
        let mut queues = Vec::new();
        for request in requests {
            let family = families.get(request.queue_family_index as usize)?;
            if request.queue_count > family.count {
                return None;
            }
            queues.extend((0..request.queue_count).map(|index| VirtualQueue {
                family: request.queue_family_index,
                index,
                flags: request.flags,
                object: Box::new(Object {
                    dispatch: AtomicUsize::new(LOADER_MAGIC),
                }),
            }));
        }
        Some(Self { queues })
    }

    /// Number of queues.
    pub(crate) fn len(&self) -> usize {
        self.queues.len()
    }

    /// Returns the queue at an index.
    pub(crate) fn at(&self, position: usize) -> &VirtualQueue {
        &self.queues[position]
    }

    /// Iterates over all queues.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &VirtualQueue> {
        self.queues.iter()
    }

    /// Returns the index of the queue with this handle.
    pub(crate) fn position(&self, handle: vk::Queue) -> Option<usize> {
        self.queues
            .iter()
            .position(|queue| queue.handle() == handle)
    }

    /// Returns the handle for `vkGetDeviceQueue2`; null if the queue does not exist.
    pub(crate) fn find(
        &self,
        family: u32,
        index: u32,
        flags: vk::DeviceQueueCreateFlags,
    ) -> vk::Queue {
        let found = self
            .queues
            .iter()
            .find(|queue| (queue.family, queue.index, queue.flags) == (family, index, flags));
        found.map_or(vk::Queue::null(), VirtualQueue::handle)
    }
}

#[cfg(test)]
mod tests;
