//! An instance, with its settings and the commands of the next layer.

use std::ffi::CStr;

use ash::vk;

use crate::calls::Calls;
use crate::dispatch::loader::NextInstance;
use crate::dispatch::tables::InstanceTable;
use crate::settings::emulated::Emulated;
use crate::settings::{Settings, families};

/// State of an instance.
pub(crate) struct Instance {
    pub(crate) settings: Settings,
    pub(crate) calls: Calls,
    pub(crate) next: InstanceTable,
    lookups: NextInstance,
}

impl Instance {
    /// An instance that the next layer has created.
    ///
    /// # Safety
    /// `handle` is that instance, and this is still within `vkCreateInstance`.
    pub(crate) unsafe fn new(
        settings: Settings,
        calls: Calls,
        lookups: NextInstance,
        handle: vk::Instance,
    ) -> Self {
        Self {
            settings,
            calls,
            // SAFETY: passed on.
            next: unsafe { InstanceTable::load(handle, lookups.instance_lookup) },
            lookups,
        }
    }

    /// The handle, which the layer does not wrap.
    pub(crate) fn handle(&self) -> vk::Instance {
        self.next.core.handle()
    }

    /// The next layer's answer to a lookup.
    pub(crate) fn next_command(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        // SAFETY: the handle is valid as long as `self`.
        unsafe { (self.lookups.instance_lookup)(self.handle(), name.as_ptr()) }
    }

    /// The next layer's answer to a lookup of a command of a physical device.
    pub(crate) fn next_physical_device_command(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        let lookup = self.lookups.physical_device_lookup?;
        // SAFETY: the handle is valid as long as `self`.
        unsafe { lookup(self.handle(), name.as_ptr()) }
    }

    /// Whether a virtual family may present at all.
    pub(crate) fn may_present(&self, family: u32) -> bool {
        self.settings
            .families
            .get(family as usize)
            .is_some_and(|family| family.present)
    }

    /// Whether the layer could make a command up and does not: it is the driver's own then.
    pub(crate) fn leaves_alone(&self, name: &CStr) -> bool {
        Emulated::ALL.has_command(name) && !self.settings.emulated.has_command(name)
    }

    /// The real family that carries all virtual ones.
    ///
    /// # Safety
    /// `physical_device` is valid.
    pub(crate) unsafe fn real_family(&self, physical_device: vk::PhysicalDevice) -> Option<u32> {
        // SAFETY: passed on.
        let real = unsafe {
            self.next
                .core
                .get_physical_device_queue_family_properties(physical_device)
        };
        families::real_family(&real, families::needed_flags(&self.settings.families))
    }
}
