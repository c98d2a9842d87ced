//! Images in the order of the script.
//!
//! The driver returns images as it likes. To hand out a chosen one, the layer acquires until it
//! has it, keeps the others in stock, and signals the app's semaphore and fence itself.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use ash::vk;

use crate::device::Device;

/// How long the driver may take for an image that is not the only hope.
const TRY_NS: u64 = 20_000_000;

/// The swapchains whose order the script rules, and those that give nothing.
#[derive(Debug, Default)]
pub(crate) struct Swapchains {
    ruled: Mutex<HashMap<vk::SwapchainKHR, Stock>>,
    stuck: Mutex<HashSet<vk::SwapchainKHR>>,
}

#[derive(Debug, Default)]
struct Stock {
    handed_out: usize,
    images: Vec<u32>,
    fence: vk::Fence,
}

impl Swapchains {
    /// From now on a swapchain has no image to give.
    pub(crate) fn stick(&self, swapchain: vk::SwapchainKHR) {
        let mut stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.insert(swapchain);
    }

    /// Whether a swapchain has no image to give.
    pub(crate) fn is_stuck(&self, swapchain: vk::SwapchainKHR) -> bool {
        let stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.contains(&swapchain)
    }

    /// Acquires the image that the script names next, or another if it does not come.
    pub(crate) fn acquire_in_order(
        &self,
        device: &Device,
        info: &vk::AcquireNextImageInfoKHR<'_>,
        index: &mut u32,
        real: &impl Fn(&vk::AcquireNextImageInfoKHR<'_>, &mut u32) -> vk::Result,
    ) -> vk::Result {
        let mut swapchains = self.ruled.lock().unwrap_or_else(PoisonError::into_inner);
        let stock = swapchains.entry(info.swapchain).or_default();
        let order = device.calls().image_order();
        let wanted = order[stock.handed_out % order.len()];
        let mut result = vk::Result::SUCCESS;
        while !stock.images.contains(&wanted) {
            result = stock.fetch(device, info, real);
            if result != vk::Result::SUCCESS && result != vk::Result::SUBOPTIMAL_KHR {
                break;
            }
        }
        let position = stock.images.iter().position(|image| *image == wanted);
        if result.as_raw() < 0 || stock.images.is_empty() {
            return result;
        }
        *index = stock.images.remove(position.unwrap_or(0));
        stock.handed_out += 1;
        let suboptimal = result == vk::Result::SUBOPTIMAL_KHR;
        match signal(device, info) {
            vk::Result::SUCCESS if suboptimal => vk::Result::SUBOPTIMAL_KHR,
            other => other,
        }
    }

    /// Forgets a swapchain.
    ///
    /// # Safety
    /// The swapchain is not in use.
    pub(crate) unsafe fn destroy(&self, device: &Device, swapchain: vk::SwapchainKHR) {
        let mut stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.remove(&swapchain);
        let mut swapchains = self.ruled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stock) = swapchains.remove(&swapchain) {
            // SAFETY: every acquire has waited for the fence.
            unsafe { device.next.core.destroy_fence(stock.fence, None) };
        }
    }
}

impl Stock {
    /// Acquires one more image, and waits until it may be used.
    fn fetch(
        &mut self,
        device: &Device,
        info: &vk::AcquireNextImageInfoKHR<'_>,
        real: &impl Fn(&vk::AcquireNextImageInfoKHR<'_>, &mut u32) -> vk::Result,
    ) -> vk::Result {
        let core = &device.next.core;
        if self.fence == vk::Fence::null() {
            // SAFETY: a valid structure.
            match unsafe { core.create_fence(&vk::FenceCreateInfo::default(), None) } {
                Ok(fence) => self.fence = fence,
                Err(error) => return error,
            }
        }
        let timeout = if self.images.is_empty() {
            info.timeout
        } else {
            TRY_NS.min(info.timeout)
        };
        let own = (*info)
            .semaphore(vk::Semaphore::null())
            .fence(self.fence)
            .timeout(timeout);
        let mut image = 0;
        let result = real(&own, &mut image);
        if result != vk::Result::SUCCESS && result != vk::Result::SUBOPTIMAL_KHR {
            return result;
        }
        self.images.push(image);
        let fences = [self.fence];
        // SAFETY: the fence was handed to the acquire.
        let waited = unsafe { core.wait_for_fences(&fences, true, u64::MAX) };
        // SAFETY: the fence has signalled.
        match waited.and_then(|()| unsafe { core.reset_fences(&fences) }) {
            Ok(()) => result,
            Err(error) => error,
        }
    }
}

/// Signals the app's semaphore and fence, as the acquire would have.
fn signal(device: &Device, info: &vk::AcquireNextImageInfoKHR<'_>) -> vk::Result {
    let semaphores: Vec<_> = [info.semaphore]
        .into_iter()
        .filter(|one| *one != vk::Semaphore::null())
        .collect();
    let submit = vk::SubmitInfo::default().signal_semaphores(&semaphores);
    let _guards_the_real_queue = device.work();
    // SAFETY: the app's own handles, on the real queue, which is locked.
    let result = unsafe {
        device
            .next
            .core
            .queue_submit(device.queue, &[submit], info.fence)
    };
    result.err().unwrap_or(vk::Result::SUCCESS)
}
