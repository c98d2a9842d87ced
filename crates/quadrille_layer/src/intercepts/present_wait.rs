//! Emulation of `VK_KHR_present_id` and `VK_KHR_present_wait`.

use std::time::Duration;

use ash::vk;

use crate::dispatch::chain::{find_mut, slice};
use crate::state::device::Device;
use crate::state::registry::device_of;

impl Device {
    /// Presents without ids, which the driver does not support, and records the ids if the driver accepted the present.
    /// `failed` means that the app gets a failure in any case.
    ///
    /// # Safety
    /// `info` and everything it points to must be valid, and no other thread may use it.
    pub(crate) unsafe fn present_with_ids(
        &self,
        info: &vk::PresentInfoKHR<'_>,
        failed: bool,
        present: impl FnOnce() -> vk::Result,
    ) -> vk::Result {
        let chain = info.p_next.cast_mut();
        // SAFETY: valid by the caller's contract.
        let ids = unsafe { find_mut::<vk::PresentIdKHR<'_>>(chain) };
        let (true, Some(ids)) = (self.driver.instance.settings.emulated.present_wait, ids) else {
            return present();
        };
        // Restored after the call.
        let list = std::mem::replace(&mut ids.p_present_ids, std::ptr::null());
        let result = present();
        ids.p_present_ids = list;
        if failed || result.as_raw() < 0 {
            return result;
        }
        // SAFETY: valid by the caller's contract.
        let swapchains = unsafe { slice(info.p_swapchains, info.swapchain_count) };
        // SAFETY: as above.
        let list = unsafe { slice(list, ids.swapchain_count) };
        for (&swapchain, &id) in swapchains.iter().zip(list).filter(|(_, id)| **id > 0) {
            self.shown
                .presented(swapchain, id, self.calls().next_shown());
        }
        result
    }
}

/// `vkWaitForPresentKHR`, emulated.
pub(crate) unsafe extern "system" fn wait_for_present(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    id: u64,
    timeout_ns: u64,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    let call = device.calls().begin("vkWaitForPresentKHR").detail("id", id);
    device.run(call, || {
        if device.is_lost() {
            vk::Result::ERROR_DEVICE_LOST
        } else {
            device
                .shown
                .wait(swapchain, id, Duration::from_nanos(timeout_ns))
        }
    })
}
