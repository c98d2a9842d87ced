//! Extensions that the layer emulates where the driver lacks them.
//!
//! The extensions are reported to the app, which enables them. The driver never sees them or their features, and their
//! commands are implemented in this layer.

use std::ffi::{CStr, c_void};

use ash::{ext, khr, vk};

use crate::dispatch::chain::find_mut;

/// Extensions to emulate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Emulated {
    /// `VK_KHR_present_id` and `VK_KHR_present_wait`: see `present_wait.rs`.
    pub(crate) present_wait: bool,
    /// `VK_EXT_device_fault`: see `device_fault.rs`.
    pub(crate) device_fault: bool,
}

/// An extension, with its command if it has one.
type Extension = (&'static CStr, Option<&'static CStr>);

const PRESENT_WAIT: [Extension; 2] = [
    (khr::present_id::NAME, None),
    (khr::present_wait::NAME, Some(c"vkWaitForPresentKHR")),
];
const DEVICE_FAULT: [Extension; 1] = [(ext::device_fault::NAME, Some(c"vkGetDeviceFaultInfoEXT"))];

impl Emulated {
    /// All extensions that can be emulated.
    pub(crate) const ALL: Self = Self {
        present_wait: true,
        device_fault: true,
    };

    fn all(self) -> impl Iterator<Item = Extension> {
        let shown = PRESENT_WAIT.into_iter().filter(move |_| self.present_wait);
        shown.chain(DEVICE_FAULT.into_iter().filter(move |_| self.device_fault))
    }

    /// Whether any extension is emulated.
    pub(crate) fn is_any(self) -> bool {
        self != Self::default()
    }

    /// Iterates over the emulated extensions.
    pub(crate) fn extensions(self) -> impl Iterator<Item = &'static CStr> {
        self.all().map(|(name, _)| name)
    }

    /// Whether a command belongs to an emulated extension.
    pub(crate) fn has_command(self, name: &CStr) -> bool {
        self.all().any(|(_, command)| command == Some(name))
    }

    /// Reports their features as supported.
    ///
    /// # Safety
    /// The chain must be valid, and no other thread may use it.
    pub(crate) unsafe fn announce(self, chain: *mut c_void) {
        // SAFETY: valid by the caller's contract.
        unsafe { self.switch(chain, vk::TRUE) };
    }

    /// Runs the driver's `vkCreateDevice` without the emulated features.
    ///
    /// # Safety
    /// The chain must be valid, and no other thread may use it.
    pub(crate) unsafe fn without_features<T>(
        self,
        chain: *const c_void,
        create: impl FnOnce() -> T,
    ) -> T {
        // The structures belong to the app or to the layer above; they are restored afterwards.
        // SAFETY: the chain is valid by the caller's contract.
        unsafe { self.switch(chain.cast_mut(), vk::FALSE) };
        let made = create();
        // SAFETY: as above.
        unsafe { self.switch(chain.cast_mut(), vk::TRUE) };
        made
    }

    /// # Safety
    /// The chain must be valid, and no other thread may use it.
    unsafe fn switch(self, chain: *mut c_void, on: vk::Bool32) {
        if self.present_wait {
            // SAFETY: valid by the caller's contract.
            let ids = unsafe { find_mut::<vk::PhysicalDevicePresentIdFeaturesKHR<'_>>(chain) };
            if let Some(ids) = ids {
                ids.present_id = on;
            }
            // SAFETY: as above.
            let waits = unsafe { find_mut::<vk::PhysicalDevicePresentWaitFeaturesKHR<'_>>(chain) };
            if let Some(waits) = waits {
                waits.present_wait = on;
            }
        }
        if self.device_fault {
            // SAFETY: as above.
            let fault = unsafe { find_mut::<vk::PhysicalDeviceFaultFeaturesEXT<'_>>(chain) };
            if let Some(fault) = fault {
                fault.device_fault = on;
            }
        }
    }
}

#[cfg(test)]
mod tests;
