//! Counting, logging and injected results of intercepted calls.

pub(crate) mod log;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ash::vk;

use crate::calls::log::Log;
use crate::settings::script::{FenceFault, Script};

/// Counters, script and log of one instance.
#[derive(Debug)]
pub(crate) struct Calls {
    script: Script,
    log: Log,
    counts: Mutex<HashMap<&'static str, u64>>,
}

/// A call from its begin to its result.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    calls: &'a Calls,
    command: &'static str,
    nth: u64,
    details: Vec<(&'static str, u64)>,
}

impl Calls {
    /// Creates counters at zero.
    pub(crate) fn new(script: Script, log: Log) -> Self {
        Self {
            script,
            log,
            counts: Mutex::default(),
        }
    }

    /// Counts a call of a command.
    pub(crate) fn begin(&self, command: &'static str) -> Call<'_> {
        Call {
            calls: self,
            command,
            nth: self.count(command),
            details: Vec::new(),
        }
    }

    /// Counts a fence that the app passes; returns its fault in the script.
    pub(crate) fn next_fence(&self, fence: vk::Fence) -> Option<FenceFault> {
        if fence == vk::Fence::null() {
            return None;
        }
        self.script.fence(self.count("fence"))
    }

    /// Counts a fence that the app passes with a present; returns its fault in the script.
    pub(crate) fn next_present_fence(&self, fence: vk::Fence) -> Option<FenceFault> {
        let any = self.next_fence(fence);
        if fence == vk::Fence::null() {
            return None;
        }
        any.or(self.script.present_fence(self.count("present fence")))
    }

    /// Whether the script loses the device at the next submission.
    pub(crate) fn next_submission_loses(&self) -> bool {
        self.script.loses(self.count("submission"))
    }

    /// Whether the next read of a semaphore counter returns the maximum value.
    pub(crate) fn next_counter_is_max(&self) -> bool {
        let nth = self.count("counter");
        self.script
            .is_counter_max(nth, self.counted("vkWaitSemaphores"))
    }

    /// Counts a present with an id; returns its fault in the script.
    pub(crate) fn next_shown(&self) -> Option<FenceFault> {
        self.script.shown(self.count("shown"))
    }

    /// Counts a swapchain; returns the fault that delays its images.
    pub(crate) fn next_images(&self) -> Option<FenceFault> {
        self.script.images(self.count("swapchain"))
    }

    /// Maximum number of swapchains per surface.
    pub(crate) fn most_swapchains(&self) -> usize {
        self.script.most_swapchains.unwrap_or(usize::MAX)
    }

    /// Extent that the next query of surface capabilities reports.
    pub(crate) fn next_extent(&self) -> Option<vk::Extent2D> {
        self.script.extent(self.count("extent"))
    }

    /// Order in which images are returned, repeated; empty for the driver's own order.
    pub(crate) fn image_order(&self) -> &[u32] {
        &self.script.image_order
    }

    /// Warns on standard error and in the log.
    pub(crate) fn warn(&self, kind: &str, text: &str) {
        complain(&format!("{kind}: {text}"));
        self.log.note(kind, text);
    }

    /// Writes to the log only.
    pub(crate) fn note(&self, kind: &str, text: &str) {
        self.log.note(kind, text);
    }

    /// Returns how often an event has happened.
    fn counted(&self, what: &str) -> u64 {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(what).copied().unwrap_or_default()
    }

    fn count(&self, what: &'static str) -> u64 {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(what).or_default();
        *count += 1;
        *count
    }
}

impl Call<'_> {
    /// Adds a number to the call's line in the log.
    pub(crate) fn detail(mut self, key: &'static str, value: impl TryInto<u64>) -> Self {
        self.details
            .push((key, value.try_into().unwrap_or(u64::MAX)));
        self
    }

    /// Returns the result that the script injects into this call.
    pub(crate) fn injected(&self) -> Option<vk::Result> {
        self.calls.script.result(self.command, self.nth)
    }

    /// Ends a call without a result.
    pub(crate) fn done(self) {
        self.calls
            .log
            .call(self.command, self.nth, &self.details, None);
    }

    /// Ends a call: runs `real`, unless the script injects a result that means that nothing was done.
    pub(crate) fn run(self, real: impl FnOnce() -> vk::Result) -> vk::Result {
        let injected = self.injected();
        let result = match injected {
            None => real(),
            // The image is acquired or presented despite this result.
            Some(vk::Result::SUBOPTIMAL_KHR) => match real() {
                vk::Result::SUCCESS => vk::Result::SUBOPTIMAL_KHR,
                other => other,
            },
            Some(result) => result,
        };
        self.finish(result, injected.is_some())
    }

    /// Ends a call with a result that was determined elsewhere.
    pub(crate) fn finish(mut self, result: vk::Result, injected: bool) -> vk::Result {
        if injected {
            self.details.push(("injected", 1));
        }
        self.calls
            .log
            .call(self.command, self.nth, &self.details, Some(result));
        result
    }
}

/// Writes a line to standard error, which is the only channel from a layer to the user.
#[expect(
    clippy::print_stderr,
    reason = "a Vulkan layer has no tracing subscriber to speak to"
)]
pub(crate) fn complain(line: &str) {
    eprintln!("VK_LAYER_QUADRILLE_test: {line}");
}
