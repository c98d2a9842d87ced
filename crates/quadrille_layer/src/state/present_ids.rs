//! State for emulating `VK_KHR_present_id` and `VK_KHR_present_wait`.
//!
//! Software drivers have neither, so `QUADRILLE_LAYER_PRESENT_WAIT=1` emulates them. The layer records the id of each
//! present that the driver accepted, and `vkWaitForPresentKHR` waits for it. The script determines when an id counts as
//! displayed: at once, late, or never.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;

use crate::settings::script::FenceFault;

/// An id, and the time at which it is displayed; `None` for never.
type Present = (u64, Option<Instant>);

/// The presents with ids of a device.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Presents by swapchain.
    presents: Mutex<HashMap<vk::SwapchainKHR, Vec<Present>>>,
    changed: Condvar,
}

impl Shown {
    /// Records a present that the driver accepted.
    pub(crate) fn presented(
        &self,
        swapchain: vk::SwapchainKHR,
        id: u64,
        fault: Option<FenceFault>,
    ) {
        let at = match fault {
            None => Some(Instant::now()),
            Some(FenceFault::Late(late)) => Some(Instant::now() + late),
            Some(FenceFault::Never) => None,
        };
        let mut presents = self.presents.lock().unwrap_or_else(PoisonError::into_inner);
        let known = presents.entry(swapchain).or_default();
        // Presents before the last displayed one need no entry.
        let now = Instant::now();
        let last = known
            .iter()
            .rposition(|(_, at)| at.is_some_and(|at| at <= now));
        known.drain(..last.unwrap_or(0));
        known.push((id, at));
        self.changed.notify_all();
    }

    /// Removes a swapchain.
    pub(crate) fn forget(&self, swapchain: vk::SwapchainKHR) {
        let mut presents = self.presents.lock().unwrap_or_else(PoisonError::into_inner);
        presents.remove(&swapchain);
    }

    /// Waits until this or a later id is displayed.
    pub(crate) fn wait(
        &self,
        swapchain: vk::SwapchainKHR,
        id: u64,
        timeout: Duration,
    ) -> vk::Result {
        let start = Instant::now();
        let mut presents = self.presents.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let known = presents.get(&swapchain).map_or(&[][..], Vec::as_slice);
            let shown = known.iter().filter(|(known, _)| *known >= id);
            let first = shown.filter_map(|(_, at)| *at).min();
            let left = timeout.saturating_sub(start.elapsed());
            let until = match first {
                Some(at) if at <= Instant::now() => return vk::Result::SUCCESS,
                Some(at) => at.saturating_duration_since(Instant::now()),
                None => left,
            };
            if left.is_zero() {
                return vk::Result::TIMEOUT;
            }
            let waited = self.changed.wait_timeout(presents, until.min(left));
            presents = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests;
