//! Swapchains that change their present mode, on drivers that recreate them for it.
//!
//! With `QUADRILLE_LAYER_PRESENT_MODES=1` all present modes of a surface are compatible with each
//! other (`VK_EXT_surface_maintenance1`). The driver does not hear of it: it goes on in the mode
//! that a swapchain was made with, which nobody can tell from its images.

use std::ffi::c_void;

use ash::vk::{self, TaggedStructure as _};

use crate::dispatch::chain::{find, find_mut, without};
use crate::state::instance::Instance;

impl Instance {
    /// Answers which modes are compatible, if the chain asks.
    ///
    /// # Safety
    /// The handles and the chain are valid, and no other thread uses the chain.
    pub(crate) unsafe fn answer_modes(
        &self,
        physical_device: vk::PhysicalDevice,
        surface: vk::SurfaceKHR,
        chain: *mut c_void,
    ) -> vk::Result {
        // SAFETY: the caller vouches for the chain.
        let asked = unsafe { find_mut::<vk::SurfacePresentModeCompatibilityEXT<'_>>(chain) };
        let Some(asked) = asked.filter(|_| self.settings.any_mode) else {
            return vk::Result::SUCCESS;
        };
        let query = self
            .next
            .surface
            .get_physical_device_surface_present_modes_khr;
        let (count, modes) = (&mut asked.present_mode_count, asked.p_present_modes);
        // SAFETY: the caller vouches for the handles; the app's array has so many elements, or is
        // none.
        unsafe { query(physical_device, surface, count, modes) }
    }
}

/// Makes a swapchain without a list of modes that the driver did not offer.
///
/// # Safety
/// The chain is valid, and no other thread uses it.
pub(crate) unsafe fn create_without<T>(
    is_emulated: bool,
    info: &vk::SwapchainCreateInfoKHR<'_>,
    create: impl FnOnce() -> T,
) -> T {
    let kind = vk::SwapchainPresentModesCreateInfoEXT::STRUCTURE_TYPE;
    match is_emulated {
        // SAFETY: the caller vouches for the chain.
        true => unsafe { without(info.p_next, kind, create) },
        false => create(),
    }
}

/// Presents without a change of mode that the driver did not offer.
///
/// # Safety
/// The chain is valid, and no other thread uses it.
pub(crate) unsafe fn present_without<T>(
    is_emulated: bool,
    info: &vk::PresentInfoKHR<'_>,
    present: impl FnOnce() -> T,
) -> T {
    let kind = vk::SwapchainPresentModeInfoEXT::STRUCTURE_TYPE;
    match is_emulated {
        // SAFETY: the caller vouches for the chain.
        true => unsafe { without(info.p_next, kind, present) },
        false => present(),
    }
}

/// How many modes a present says, for the log.
///
/// # Safety
/// The chain is valid.
pub(crate) unsafe fn count(info: &vk::PresentInfoKHR<'_>) -> u32 {
    // SAFETY: the caller vouches for the chain.
    let modes = unsafe { find::<vk::SwapchainPresentModeInfoEXT<'_>>(info.p_next) };
    modes.map_or(0, |modes| modes.swapchain_count)
}
