//! Destruction of dropped objects once no queue can still use them.
//!
//! Dropping the last handle of a resource adds it to the device's list. [`Frames::retire`] assigns to each entry the
//! timeline points that it has to outlive: for buffers and images that passes declared their last uses in the solver's
//! states, for other objects all submissions so far. Once these are reached, the entry is destroyed, and a resource's id
//! may be reused.
//!
//! [`Frames::retire`]: crate::submit::Frames::retire

use std::sync::atomic::Ordering;

use ash::vk;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::states::States;
use quadrille_sync::topology::QueueIndex;

use crate::device::Device;
use crate::device::backing::Backing;
use crate::instance::imported::KeepAlive;
use crate::lock;

/// A dropped object.
pub(crate) enum Retired {
    /// A buffer and its memory.
    Buffer {
        /// Id in the states; `None` if the resource still exists, with other memory.
        id: Option<ResourceId>,
        /// Handle.
        raw: vk::Buffer,
        /// Memory.
        backing: Backing,
    },
    /// An image, its views and its memory.
    Image {
        /// Id in the states; `None` if the resource still exists, with other memory.
        id: Option<ResourceId>,
        /// Handle.
        raw: vk::Image,
        /// All views.
        views: Vec<vk::ImageView>,
        /// Memory.
        backing: Backing,
    },
    /// The id of an image whose handles belong to a swapchain.
    SwapchainImage {
        /// Id in the states.
        id: ResourceId,
    },
    /// Memory without a resource, such as a block.
    Memory(Backing),
    /// A pool with all its descriptor sets.
    DescriptorPool(vk::DescriptorPool),
    /// A pool of queries.
    QueryPool(vk::QueryPool),
    /// A sampler.
    Sampler(vk::Sampler),
    /// A pipeline.
    Pipeline(vk::Pipeline),
    /// A timeline semaphore of the program.
    Semaphore {
        /// Handle.
        raw: vk::Semaphore,
        /// Keep-alive of an imported semaphore, which is not destroyed; dropping it tells the program that the
        /// semaphore is unused.
        imported: Option<KeepAlive>,
    },
    /// Objects of the program, by the call that destroys them.
    Program(Box<dyn FnOnce(&ash::Device) + Send + Sync>),
}

impl Retired {
    /// Id in the states, if there is one.
    fn id(&self) -> Option<ResourceId> {
        match self {
            Self::Buffer { id, .. } | Self::Image { id, .. } => *id,
            Self::SwapchainImage { id } => Some(*id),
            Self::Memory(_)
            | Self::DescriptorPool(_)
            | Self::QueryPool(_)
            | Self::Sampler(_)
            | Self::Pipeline(_)
            | Self::Semaphore { .. }
            | Self::Program(_) => None,
        }
    }

    /// Destroys the object. No queue may use it any more.
    pub(crate) fn destroy(self, device: &Device) {
        match self {
            Self::Buffer { raw, backing, .. } => {
                device.forget_address(raw);
                if !backing.is_of_program() {
                    // SAFETY: created from this device, owned by this value, and used by no queue.
                    unsafe { device.raw.destroy_buffer(raw, None) };
                }
                backing.free(device);
            }
            Self::Image {
                raw,
                views,
                backing,
                ..
            } => {
                for view in views {
                    // SAFETY: as above.
                    unsafe { device.raw.destroy_image_view(view, None) };
                }
                if !backing.is_of_program() {
                    // SAFETY: as above; its views were destroyed.
                    unsafe { device.raw.destroy_image(raw, None) };
                }
                backing.free(device);
            }
            Self::SwapchainImage { .. } => {}
            Self::Memory(backing) => backing.free(device),
            Self::Sampler(raw) => {
                device.samplers.fetch_sub(1, Ordering::Relaxed);
                // SAFETY: as above.
                unsafe { device.raw.destroy_sampler(raw, None) }
            }
            // SAFETY: as above, and for the pool's sets too.
            Self::DescriptorPool(raw) => unsafe {
                device.raw.destroy_descriptor_pool(raw, None);
            },
            // SAFETY: as above.
            Self::QueryPool(raw) => unsafe { device.raw.destroy_query_pool(raw, None) },
            // SAFETY: as above.
            Self::Pipeline(raw) => unsafe { device.raw.destroy_pipeline(raw, None) },
            Self::Semaphore {
                imported: Some(keep),
                ..
            } => drop(keep),
            // SAFETY: as above.
            Self::Semaphore { raw, .. } => unsafe { device.raw.destroy_semaphore(raw, None) },
            Self::Program(destroy) => destroy(&device.raw),
        }
    }
}

/// Dropped objects that the device may still use, with the timeline values to reach.
#[derive(Default)]
pub(crate) struct Waiting(Vec<(Retired, Vec<u64>)>);

impl Waiting {
    /// Collects objects dropped since the last call, and destroys those that are no longer in use.
    pub(crate) fn retire(&mut self, device: &Device, states: &mut States, reached: &[u64]) {
        let dropped = std::mem::take(&mut *lock(&device.dropped));
        for retired in dropped {
            let points = last_uses(device, &retired, states);
            self.0.push((retired, points));
        }
        let is_free = |points: &[u64]| points.iter().zip(reached).all(|(point, at)| at >= point);
        for (retired, _) in self.0.extract_if(.., |(_, points)| is_free(points)) {
            let id = retired.id();
            retired.destroy(device);
            if let Some(id) = id {
                states.remove(id);
                device.streams.forget(id);
                device.ids.give_back(id);
            }
        }
    }

    /// Returns all objects to the device, which destroys them on its own drop.
    pub(crate) fn give_back(&mut self, device: &Device) {
        lock(&device.dropped).extend(self.0.drain(..).map(|(retired, _)| retired));
    }
}

/// Returns per timeline the value that has to be reached before the object may be destroyed.
fn last_uses(device: &Device, retired: &Retired, states: &States) -> Vec<u64> {
    // States of other streams are not accessible here; all their submissions so far cover their uses.
    let mut points = device.timelines.submitted();
    // A resource without uses in the states may have been used without a declaration, as the staging buffers of uploads.
    let Some(id) = retired
        .id()
        .filter(|id| states.last_uses(*id).next().is_some())
    else {
        return points;
    };
    points[..device.queues.len()].fill(0);
    for point in states.last_uses(id) {
        let QueueIndex(queue) = point.queue;
        if let Some(value) = points.get_mut(usize::from(queue)) {
            *value = point.value.max(*value);
        }
    }
    points
}
