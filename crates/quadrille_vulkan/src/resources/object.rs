//! Common part of buffers and images: an identity over frames, and a Vulkan object that may be
//! replaced.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use ash::vk;
use quadrille_sync::{Lifetime, Resource, ResourceId, ResourceKind, Sharing as Mode};

use crate::device::Device;
use crate::device::backing::Backing;
use crate::device::retire::Retired;
use crate::instance::sharing::Sharing;
use crate::lock;
use crate::resources::generation::Generation;

/// The part of a buffer or an image that does not depend on which of the two it is.
///
/// Raw handle, generation and sharing mode change only between frames, and for an image of a swapchain
/// when it is acquired: before the frame that uses them is encoded (the threads that encode are started
/// with a happens-before edge), so relaxed access is enough.
pub(crate) struct Object {
    /// Its identity over frames.
    pub id: ResourceId,
    /// Its name.
    pub name: Arc<str>,
    /// Its memory requirements, if it is transient: it gets its memory when a frame uses it.
    pub needs: Option<vk::MemoryRequirements>,
    /// The device that it was made from.
    pub device: Arc<Device>,
    raw: AtomicU64,
    /// Another number for each Vulkan object that it has been.
    pub generation: Generation,
    backing: Mutex<Backing>,
    /// All families may use it.
    is_concurrent: AtomicBool,
}

impl Object {
    /// One with a new id and without a Vulkan object.
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

    /// Fills in the raw handle.
    pub(crate) fn set_raw(&self, raw: u64) {
        self.raw.store(raw, Ordering::Relaxed);
    }

    /// Has another Vulkan object take over, and returns the raw handle of the old one.
    pub(crate) fn replace(&self, raw: u64) -> u64 {
        self.generation.change();
        self.raw.swap(raw, Ordering::Relaxed)
    }

    /// Where its bytes are.
    pub(crate) fn backing(&self) -> MutexGuard<'_, Backing> {
        lock(&self.backing)
    }

    /// Whether families own it in turn or together now.
    pub(crate) fn mode(&self) -> Mode {
        if self.is_concurrent.load(Ordering::Relaxed) {
            Mode::Concurrent
        } else {
            Mode::Exclusive
        }
    }

    /// Has families own it in turn or together.
    pub(crate) fn set_mode(&self, mode: Mode) {
        let is_concurrent = mode == Mode::Concurrent;
        self.is_concurrent.store(is_concurrent, Ordering::Relaxed);
    }

    /// Leaves what is to be destroyed to the device.
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
