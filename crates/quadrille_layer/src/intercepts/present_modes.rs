//! Swapchains that change their present mode, on drivers that would need to recreate them.
//!
//! With `QUADRILLE_LAYER_PRESENT_MODES=1` all present modes of a surface are compatible with each other
//! (`VK_EXT_surface_maintenance1`). The driver is not told: it continues in the mode that the swapchain was created
//! with. The images do not show the difference.

use std::ffi::c_void;

use ash::vk::{self, TaggedStructure as _};

use crate::dispatch::chain::{find, find_mut, without};
use crate::state::instance::Instance;

impl Instance {
    /// Fills in the compatible modes, if the chain queries them.
    ///
    /// # Safety
    /// The handles and the chain must be valid, and no other thread may use the chain.
    pub(crate) unsafe fn answer_modes(
        &self,
        physical_device: vk::PhysicalDevice,
        surface: vk::SurfaceKHR,
        chain: *mut c_void,
    ) -> vk::Result {
        // SAFETY: valid by the caller's contract.
        let asked = unsafe { find_mut::<vk::SurfacePresentModeCompatibilityEXT<'_>>(chain) };
        let Some(asked) = asked.filter(|_| self.settings.any_mode) else {
            return vk::Result::SUCCESS;
        };
        let query = self
            .next
            .surface
            .get_physical_device_surface_present_modes_khr;
        let (count, modes) = (&mut asked.present_mode_count, asked.p_present_modes);
        // SAFETY: the handles are valid by the caller's contract; the app's array has this length, or is null.
        unsafe { query(physical_device, surface, count, modes) }
    }
}

/// Creates a swapchain without a list of modes that the driver did not offer.
///
/// # Safety
/// The chain must be valid, and no other thread may use it.
pub(crate) unsafe fn create_without<T>(
    is_emulated: bool,
    info: &vk::SwapchainCreateInfoKHR<'_>,
    create: impl FnOnce() -> T,
) -> T {
    let kind = vk::SwapchainPresentModesCreateInfoEXT::STRUCTURE_TYPE;
    match is_emulated {
        // SAFETY: valid by the caller's contract.
        true => unsafe { without(info.p_next, kind, create) },
        false => create(),
    }
}

/// Presents without a change of mode that the driver did not offer.
///
/// # Safety
/// The chain must be valid, and no other thread may use it.
pub(crate) unsafe fn present_without<T>(
    is_emulated: bool,
    info: &vk::PresentInfoKHR<'_>,
    present: impl FnOnce() -> T,
) -> T {
    let kind = vk::SwapchainPresentModeInfoEXT::STRUCTURE_TYPE;
    match is_emulated {
        // SAFETY: valid by the caller's contract.
        true => unsafe { without(info.p_next, kind, present) },
        false => present(),
    }
}

/// Returns the number of modes that a present names, for the log.
///
/// # Safety
/// The chain must be valid.
pub(crate) unsafe fn count(info: &vk::PresentInfoKHR<'_>) -> u32 {
    // SAFETY: valid by the caller's contract.
    let modes = unsafe { find::<vk::SwapchainPresentModeInfoEXT<'_>>(info.p_next) };
    modes.map_or(0, |modes| modes.swapchain_count)
}
