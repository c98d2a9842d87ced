//! Common part of buffers and images: a stable id, and a Vulkan object that may be replaced.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use ash::vk;
use quadrille_sync::resource::{Lifetime, Resource, ResourceId, ResourceKind, Sharing as Mode};

use crate::device::Device;
use crate::device::backing::Backing;
use crate::device::retire::Retired;
use crate::instance::sharing::Sharing;
use crate::lock;
use crate::resources::generation::Generation;

/// Common part of buffers and images.
///
/// Raw handle, generation and sharing mode change only between frames, or when the image of a swapchain is
/// acquired. Both happen before the frame that uses them is encoded, and encoding threads are started with a
/// happens-before edge, so relaxed access is enough.
pub(crate) struct Object {
    /// Id, constant over all frames.
    pub id: ResourceId,
    /// Name.
    pub name: Arc<str>,
    /// Memory requirements of a transient resource, whose memory is bound when a frame uses it.
    pub needs: Option<vk::MemoryRequirements>,
    /// The device that created it.
    pub device: Arc<Device>,
    raw: AtomicU64,
    /// Number of the current Vulkan object.
    pub generation: Generation,
    backing: Mutex<Backing>,
    /// Whether its sharing mode is concurrent.
    is_concurrent: AtomicBool,
}

impl Object {
    /// Creates an object with a new id and without a Vulkan object.
    pub(crate) fn new(
        device: &Arc<Device>,
        name: &str,
        sharing: Sharing,
        needs: Option<vk::MemoryRequirements>,
    ) -> Self {
        Self {
            id: device.ids.take(name),
            name: name.into(),
            needs,
            device: Arc::clone(device),
            raw: AtomicU64::new(0),
            generation: Generation::new(),
            backing: Mutex::default(),
            is_concurrent: AtomicBool::new(sharing == Sharing::Concurrent),
        }
    }

    /// The raw handle.
    #[inline]
    pub(crate) fn raw(&self) -> u64 {
        self.raw.load(Ordering::Relaxed)
    }

    /// Sets the raw handle.
    pub(crate) fn set_raw(&self, raw: u64) {
        self.raw.store(raw, Ordering::Relaxed);
    }

    /// Replaces the Vulkan object, and returns the raw handle of the old one.
    pub(crate) fn replace(&self, raw: u64) -> u64 {
        self.generation.change();
        self.raw.swap(raw, Ordering::Relaxed)
    }

    /// Locks the memory that backs the resource.
    pub(crate) fn backing(&self) -> MutexGuard<'_, Backing> {
        lock(&self.backing)
    }

    /// The current sharing mode.
    pub(crate) fn mode(&self) -> Mode {
        if self.is_concurrent.load(Ordering::Relaxed) {
            Mode::Concurrent
        } else {
            Mode::Exclusive
        }
    }

    /// Sets the current sharing mode.
    pub(crate) fn set_mode(&self, mode: Mode) {
        let is_concurrent = mode == Mode::Concurrent;
        self.is_concurrent.store(is_concurrent, Ordering::Relaxed);
    }

    /// Hands an object to the device for destruction.
    pub(crate) fn retire(&self, retired: Retired) {
        lock(&self.device.dropped).push(retired);
    }

    /// Returns its declaration for the solver.
    pub(crate) fn declare(
        &self,
        name: Arc<str>,
        kind: ResourceKind,
        is_transient: bool,
    ) -> Resource {
        Resource {
            id: self.id,
            name,
            kind,
            sharing: self.mode(),
            lifetime: if is_transient {
                Lifetime::Transient
            } else {
                Lifetime::Persistent
            },
            memory: None,
        }
    }
}
