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
    /// Wraps an instance that the next layer has created.
    ///
    /// # Safety
    /// `handle` must be that instance, within `vkCreateInstance`.
    pub(crate) unsafe fn new(
        settings: Settings,
        calls: Calls,
        lookups: NextInstance,
        handle: vk::Instance,
    ) -> Self {
        Self {
            settings,
            calls,
            // SAFETY: by the caller's contract.
            next: unsafe { InstanceTable::load(handle, lookups.instance_lookup) },
            lookups,
        }
    }

    /// The handle, which the layer does not wrap.
    pub(crate) fn handle(&self) -> vk::Instance {
        self.next.core.handle()
    }

    /// Looks up a command in the next layer.
    pub(crate) fn next_command(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        // SAFETY: the handle is valid as long as `self`.
        unsafe { (self.lookups.instance_lookup)(self.handle(), name.as_ptr()) }
    }

    /// Looks up a command of a physical device in the next layer.
    pub(crate) fn next_physical_device_command(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        let lookup = self.lookups.physical_device_lookup?;
        // SAFETY: the handle is valid as long as `self`.
        unsafe { lookup(self.handle(), name.as_ptr()) }
    }

    /// Whether the settings allow a virtual family to present.
    pub(crate) fn may_present(&self, family: u32) -> bool {
        self.settings
            .families
            .get(family as usize)
            .is_some_and(|family| family.present)
    }

    /// Whether the command belongs to an extension that the layer can emulate but does not: the driver's own is used.
    pub(crate) fn leaves_alone(&self, name: &CStr) -> bool {
        Emulated::ALL.has_command(name) && !self.settings.emulated.has_command(name)
    }

    /// Returns the real family that executes all virtual ones.
    ///
    /// # Safety
    /// `physical_device` must be valid.
    pub(crate) unsafe fn real_family(&self, physical_device: vk::PhysicalDevice) -> Option<u32> {
        // SAFETY: by the caller's contract.
        let real = unsafe {
            self.next
                .core
                .get_physical_device_queue_family_properties(physical_device)
        };
        families::real_family(&real, families::needed_flags(&self.settings.families))
    }
}
