//! Detection and reports of deadlocks.

use std::fmt::Write as _;
use std::sync::Once;
use std::time::Instant;

use ash::vk;

use crate::calls::complain;
use crate::queues::fifo::{Blocked, Kind};
use crate::state::device::Device;
use crate::state::registry;
use crate::state::work::Work;

/// Time since the last progress during one wait.
#[derive(Debug)]
pub(crate) struct ProgressTimeout {
    limit: std::time::Duration,
    epoch: Option<u64>,
    since: Instant,
}

impl ProgressTimeout {
    /// Starts a wait.
    pub(crate) fn new(device: &Device) -> Self {
        let limit = device.driver.instance.settings.progress_timeout;
        Self {
            limit,
            epoch: None,
            since: Instant::now(),
        }
    }

    /// Whether nothing has been pushed, forwarded or signalled for longer than the timeout.
    pub(crate) fn is_over(&mut self, epoch: u64) -> bool {
        if self.epoch != Some(epoch) {
            self.epoch = Some(epoch);
            self.since = Instant::now();
        }
        self.since.elapsed() >= self.limit
    }
}

impl Device {
    /// Reports that `command` can never end, and loses the device.
    pub(crate) fn report_deadlock(&self, command: &str, work: &mut Work) -> vk::Result {
        let mut text = format!("{command} can never end: ");
        text.push_str(&self.explain(work));
        self.calls().warn("deadlock", &text);
        work.lose(&self.driver);
        vk::Result::ERROR_DEVICE_LOST
    }

    /// Reports submissions that are still held when the device is destroyed.
    pub(crate) fn report_left_over(&self) {
        let mut work = self.work();
        if self.warn_of_left_over(&work, "the device is destroyed") {
            work.lose(&self.driver);
        }
    }

    /// Reports the work that is still held. Returns whether there was any.
    fn warn_of_left_over(&self, work: &Work, event: &str) -> bool {
        if work.fifo.len() == 0 || self.is_lost() {
            return false;
        }
        let reason = if work.fifo.blocked().is_empty() {
            "nobody has waited for its work".to_owned()
        } else {
            self.explain(work)
        };
        let text = format!("{event}, but {reason}");
        self.calls().warn("left over", &text);
        true
    }

    /// Describes why the heads of the queues cannot be forwarded.
    fn explain(&self, work: &Work) -> String {
        let blocked = work.fifo.blocked();
        if blocked.is_empty() {
            return if work.has_dead_fence() {
                "a fence never signals"
            } else {
                "nothing submitted signals what it waits for"
            }
            .to_owned();
        }
        let reasons: Vec<_> = blocked
            .iter()
            .map(|one| self.explain_one(work, one))
            .collect();
        reasons.join("; ")
    }

    fn explain_one(&self, work: &Work, blocked: &Blocked) -> String {
        let queue = self.queues.at(blocked.queue);
        let semaphore = self.names.describe(blocked.wait.semaphore);
        let mut text = format!(
            "submission {} on queue {} of family {} waits for ",
            blocked.ticket.0, queue.index, queue.family
        );
        let value = blocked.wait.value;
        // Writing to a string cannot fail.
        let _ = match blocked.kind {
            Kind::Binary => write!(text, "signal {value} of binary semaphore {semaphore}"),
            Kind::Gone => write!(text, "semaphore {semaphore}, which is destroyed"),
            Kind::Timeline => {
                write!(text, "timeline semaphore {semaphore} to reach {value}")
            }
        };
        if blocked.kind == Kind::Gone {
            return text;
        }
        let mut pending = work.fifo.all_pending();
        let signaller =
            pending.find(|pending| pending.signals_at_least(blocked.wait, blocked.kind));
        match signaller {
            None => text.push_str(", which nothing submitted signals"),
            Some(pending) => {
                let _ = write!(
                    text,
                    ", which submission {} would signal, itself held",
                    pending.ticket.0
                );
            }
        }
        text
    }
}

/// Registers a report at process exit of work that is still held on devices that were not destroyed.
pub(crate) fn report_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: `at_exit` has the required C signature.
        let registered = unsafe { atexit(at_exit) };
        if registered != 0 {
            complain("what is held when the process ends will not be reported");
        }
    });
}

unsafe extern "C" {
    /// ISO C, 7.24.4.2: registers a function that is called at process exit.
    fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
}

extern "C" fn at_exit() {
    for device in registry::all_devices() {
        // A thread that holds the lock was interrupted by the exit and never releases it.
        if let Some(work) = device.try_work() {
            device.warn_of_left_over(&work, "the process ends");
        }
    }
}
