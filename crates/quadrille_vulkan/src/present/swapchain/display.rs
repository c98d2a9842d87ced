//! Pacing by the display (`VK_KHR_present_wait`): a frame begins when an earlier one was seen.
//!
//! Without it the CPU is held back by the device and by free images alone, and several finished
//! pictures may wait for the display, each of them older by a refresh when it is seen.
//!
//! A window that nobody sees may never show what it was given, so the wait is as long as that for
//! an image at most. After some waits in vain the window does without, until it has another
//! swapchain. Only presents that were queued are waited for: the id of a failed one never comes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ash::vk;

use super::Swapchain;
use crate::device::timeline::nanoseconds;
use crate::error::SurfaceError;

/// So many waits in vain end the waiting.
const MAX_MISSES: u32 = 3;

/// The presents of a chain that were not seen yet. Pure.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    /// The last id that was given out.
    last: u64,
    queued: VecDeque<u64>,
    misses: u32,
}

impl Unseen {
    /// The id of the next present: higher than all before it.
    pub(crate) fn next_id(&self) -> u64 {
        self.last + 1
    }

    /// Notes a present with this id, which was queued or not.
    pub(crate) fn presented(&mut self, id: u64, queued: bool) {
        self.last = id;
        if queued && self.misses < MAX_MISSES {
            self.queued.push_back(id);
        }
    }

    /// The present that has to be seen before there may be another frame, of which `most` may be
    /// on their way to the display.
    fn due(&self, most: usize) -> Option<u64> {
        let is_due = self.queued.len() >= most.max(1);
        self.queued.front().copied().filter(|_| is_due)
    }

    /// A present was seen, and with it all before it.
    fn seen(&mut self, id: u64) {
        while self.queued.pop_front_if(|queued| *queued <= id).is_some() {}
        self.misses = 0;
    }

    /// A wait was in vain.
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

    /// Waits until few enough presents are on their way to the display, for `timeout` at most.
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
                // The time is over, or memory: the frame goes on without having seen it.
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
