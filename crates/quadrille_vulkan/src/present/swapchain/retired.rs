//! Replaced chains. They are destroyed once their presents are proven complete; their number is limited.

use std::time::Duration;

use ash::vk;

use super::{Chain, Proof, Swapchain};
use crate::device::Device;
use crate::device::time_limit::TimeLimit;
use crate::device::timeline::nanoseconds;
use crate::lock;

/// Maximum number of old swapchains; beyond it, the window waits for them. Drivers have limits, some below 10.
const MAX_OLD_SWAPCHAINS: usize = 5;
/// Timeout of the wait for the device before a window's swapchains are destroyed.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);

impl Swapchain {
    /// Waits for old chains if there are too many for one more.
    pub(super) fn make_room(&mut self) -> bool {
        let retires = self
            .chain
            .as_ref()
            .is_some_and(|chain| chain.history.has_presented());
        if self.old.len() + usize::from(retires) <= MAX_OLD_SWAPCHAINS {
            return true;
        }
        self.recycle();
        self.old.len() < MAX_OLD_SWAPCHAINS || self.destroy_old()
    }

    /// Retires a chain; destroys it at once if it never presented.
    pub(super) fn put_aside(&mut self, chain: Option<Chain>) {
        match chain {
            Some(chain) if chain.history.has_presented() => self.old.push(chain),
            Some(chain) => self.destroy_chain(chain),
            None => {}
        }
    }

    /// Waits for the old chains and destroys them; `false` after a timeout.
    pub(super) fn destroy_old(&mut self) -> bool {
        if self.old.is_empty() {
            return true;
        }
        if !self.wait_presented() {
            tracing::warn!(
                "{}: old swapchains are not given back in time",
                self.image().name()
            );
            return false;
        }
        for chain in std::mem::take(&mut self.old) {
            self.destroy_chain(chain);
        }
        self.shrink_pool();
        true
    }

    /// Waits for all chains and destroys them; `false` after a timeout.
    pub(crate) fn destroy_chains(&mut self) -> bool {
        if !self.drain_acquired() {
            return false;
        }
        self.acquired = None;
        let (no_image, no_view) = (vk::Image::null(), vk::ImageView::null());
        self.image().set_acquired(no_image, no_view, self.extent());
        let chain = self.chain.take();
        self.put_aside(chain);
        self.destroy_old()
    }

    /// Waits for completion of all submissions and presents; `false` after a timeout.
    fn wait_presented(&self) -> bool {
        let device = &*self.device;
        if device.wait_last(TIMEOUT).is_err() {
            return false;
        }
        if device.is_lost_for_certain() && self.fences {
            return true;
        }
        let fence = |proof| match proof {
            Proof::Fence(fence) => Some(fence),
            Proof::Point(_) => None,
        };
        let chains = self.old.iter().chain(&self.chain);
        let fences: Vec<_> = chains
            .flat_map(|chain| chain.history.fences().filter_map(fence))
            .collect();
        let presents: usize = self.old.iter().map(|chain| chain.history.len()).sum();
        if self.fences {
            if fences.is_empty() {
                return true;
            }
            let signalled = wait_for_fences(device, &fences, device.last.fence_timeout());
            device.last.note_fences(signalled);
            if signalled {
                return true;
            }
        }
        // Without fences, or with fences that the driver does not signal, waiting for the queue is the only proof that
        // Vulkan offers.
        tracing::debug!("{}: waiting for {presents} presents", self.image().name());
        let queue = lock(&device.queues[self.present_queue].raw);
        device.count_idle_wait();
        // SAFETY: the queue is locked.
        let idle = device.note("vkQueueWaitIdle", unsafe {
            device.raw.queue_wait_idle(*queue)
        });
        idle.is_ok() || device.is_lost_for_certain()
    }

    /// Destroys a chain. Device and presentation engine must no longer use it.
    pub(super) fn destroy_chain(&mut self, mut chain: Chain) {
        for (semaphore, fence) in chain.history.drain() {
            self.pool.give_back(semaphore);
            if let Some(Proof::Fence(fence)) = fence {
                self.pool.recycle_fence(&self.device, fence);
            }
        }
        chain.destroy(&self.device);
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        if !self.destroy_chains() {
            // Destroying objects in use is undefined behavior; leaking them is not.
            tracing::error!("{} is still in use; it is leaked", self.image().name());
            self.leak();
            return;
        }
        if self.pool.destroy(&self.device) {
            tracing::error!(
                "{}: fences of presents never signalled; they are leaked",
                self.image().name()
            );
            self.device.last.hold();
        }
    }
}

/// Waits for fences; `false` after a timeout.
pub(crate) fn wait_for_fences(device: &Device, fences: &[vk::Fence], timeout: Duration) -> bool {
    let signalled = TimeLimit::new(timeout).until(|slice| {
        let timeout = nanoseconds(slice);
        // SAFETY: the fences are of this device and alive.
        let waited = unsafe { device.raw.wait_for_fences(fences, true, timeout) };
        let waited = device.note("vkWaitForFences", waited);
        (waited.is_ok() || device.is_lost_for_certain()).then_some(())
    });
    signalled.is_some()
}
