//! Pacing by the display (`VK_KHR_present_wait`): a frame begins after an earlier one was displayed.
//!
//! Without it the CPU waits only for the device and for free images, and several finished
//! images may be queued for the display, each of which adds a refresh interval of latency.
//!
//! An occluded window may never display its presents, so the wait has the timeout of an acquisition. After some
//! timeouts the window is no longer paced, until it has another swapchain. Only queued presents are waited for: the id
//! of a failed one is never signalled.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ash::vk;

use super::Swapchain;
use crate::device::timeline::nanoseconds;
use crate::error::SurfaceError;

/// Number of timeouts after which a window is no longer paced.
const MAX_MISSES: u32 = 3;

/// The presents of a chain that are not displayed yet. Pure.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    /// The last present id.
    last: u64,
    queued: VecDeque<u64>,
    misses: u32,
}

impl Unseen {
    /// The id of the next present: higher than all before it.
    pub(crate) fn next_id(&self) -> u64 {
        self.last + 1
    }

    /// Records a present with this id, and whether it was queued.
    pub(crate) fn presented(&mut self, id: u64, queued: bool) {
        self.last = id;
        if queued && self.misses < MAX_MISSES {
            self.queued.push_back(id);
        }
    }

    /// Returns the present that has to be displayed before another frame, if at most `most` may be queued for the
    /// display.
    fn due(&self, most: usize) -> Option<u64> {
        let is_due = self.queued.len() >= most.max(1);
        self.queued.front().copied().filter(|_| is_due)
    }

    /// Records that a present, and so all earlier ones, was displayed.
    fn seen(&mut self, id: u64) {
        while self.queued.pop_front_if(|queued| *queued <= id).is_some() {}
        self.misses = 0;
    }

    /// Records a timeout.
    fn missed(&mut self) {
        self.misses += 1;
        if self.misses >= MAX_MISSES {
            self.queued.clear();
        }
    }
}

impl Swapchain {
    /// The id of the next present, if presents have one.
    pub(crate) fn present_id(&self) -> Option<u64> {
        let chain = self.chain.as_ref()?;
        let wanted = self.settings.pace_by_display && self.device.extensions.present_wait.is_some();
        wanted.then(|| chain.unseen.next_id())
    }

    /// Waits until at most `most` presents are queued for the display, for `timeout` at most.
    pub(super) fn wait_seen(&mut self, most: usize, timeout: Duration) -> Result<(), SurfaceError> {
        let start = Instant::now();
        let (Some(functions), Some(chain)) =
            (&self.device.extensions.present_wait, &mut self.chain)
        else {
            return Ok(());
        };
        while let Some(id) = chain.unseen.due(most) {
            let left = nanoseconds(timeout.saturating_sub(start.elapsed()));
            // SAFETY: the chain is in use, and a present with this id was queued to it.
            let waited = unsafe { functions.wait_for_present(chain.raw, id, left) };
            match self.device.note("vkWaitForPresentKHR", waited) {
                Ok(()) => chain.unseen.seen(id),
                Err(vk::Result::SUBOPTIMAL_KHR) => {
                    chain.unseen.seen(id);
                    self.outdated = true;
                }
                Err(
                    vk::Result::ERROR_OUT_OF_DATE_KHR
                    | vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
                ) => {
                    self.outdated = true;
                    return Ok(());
                }
                Err(vk::Result::ERROR_SURFACE_LOST_KHR) => {
                    self.surface_lost = true;
                    return Ok(());
                }
                Err(error @ vk::Result::ERROR_DEVICE_LOST) => {
                    return Err(SurfaceError::vulkan(&self.device, "vkWaitForPresentKHR")(
                        error,
                    ));
                }
                // Timeout or out of memory: the frame continues without the wait.
                Err(_) => {
                    chain.unseen.missed();
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
