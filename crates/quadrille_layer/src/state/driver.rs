//! The driver's device, with its one real queue.

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;

use crate::calls::Calls;
use crate::dispatch::loader::{Adopt, NextDevice};
use crate::dispatch::tables::DeviceTable;
use crate::state::instance::Instance;

/// The real device.
pub(crate) struct Driver {
    pub(crate) instance: Arc<Instance>,
    pub(crate) next: DeviceTable,
    lookup: vk::PFN_vkGetDeviceProcAddr,
    adopt: Adopt,
    /// Real family of all pools and queues.
    pub(crate) family: u32,
    /// The real queue. The lock of the held work guards it.
    pub(crate) queue: vk::Queue,
    lost: AtomicBool,
}

impl Driver {
    /// Wraps a device that the next layer has created.
    ///
    /// # Safety
    /// `handle` must be that device, created with one queue of `family`, within `vkCreateDevice`.
    pub(crate) unsafe fn new(
        instance: Arc<Instance>,
        lookups: NextDevice,
        adopt: Adopt,
        handle: vk::Device,
        family: u32,
    ) -> Self {
        // SAFETY: by the caller's contract.
        let next = unsafe { DeviceTable::load(handle, lookups.device_lookup) };
        // SAFETY: the real device was created with this queue.
        let queue = unsafe { next.core.get_device_queue(family, 0) };
        Self {
            instance,
            next,
            lookup: lookups.device_lookup,
            adopt,
            family,
            queue,
            lost: AtomicBool::new(false),
        }
    }

    /// The handle, which the layer does not wrap.
    pub(crate) fn handle(&self) -> vk::Device {
        self.next.core.handle()
    }

    /// Counting, log and script.
    pub(crate) fn calls(&self) -> &Calls {
        &self.instance.calls
    }

    /// Whether the device has been lost, really or by the script.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Marks the device as lost.
    pub(crate) fn mark_lost(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Looks up a command in the next layer.
    pub(crate) fn next_command(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        // SAFETY: the handle is valid as long as `self`.
        unsafe { (self.lookup)(self.handle(), name.as_ptr()) }
    }

    /// Lets the loader initialize the first word of a dispatchable object of the layer.
    ///
    /// # Safety
    /// `object` must be such an object.
    pub(crate) unsafe fn adopt(&self, object: *mut c_void) -> vk::Result {
        // SAFETY: by the caller's contract; the device is valid.
        unsafe { (self.adopt)(self.handle(), object) }
    }
}
