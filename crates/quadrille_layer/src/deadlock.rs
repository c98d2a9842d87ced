//! Telling a deadlock from a slow app, and telling the user about it.

use std::fmt::Write as _;
use std::time::Instant;

use ash::vk;

use crate::device::Device;
use crate::fifo::{Blocked, Kind};
use crate::work::Work;

/// How long one wait has seen nothing happen.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: std::time::Duration,
    epoch: Option<u64>,
    since: Instant,
}

impl Patience {
    /// A fresh wait.
    pub(crate) fn new(device: &Device) -> Self {
        let limit = device.instance.settings.patience;
        Self {
            limit,
            epoch: None,
            since: Instant::now(),
        }
    }

    /// Whether nothing has been pushed, forwarded or signalled for too long.
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
        self.lose(work);
        vk::Result::ERROR_DEVICE_LOST
    }

    /// Reports what was submitted and could not be forwarded before the device was destroyed.
    pub(crate) fn report_left_over(&self) {
        let mut work = self.work();
        if work.fifo.len() == 0 || self.is_lost() {
            return;
        }
        let reason = if work.fifo.blocked().is_empty() {
            "nobody has waited for its work".to_owned()
        } else {
            self.explain(&work)
        };
        self.calls().warn(
            "left over",
            &format!("the device is destroyed, but {reason}"),
        );
        self.lose(&mut work);
    }

    /// Why the heads of the queues cannot be forwarded, in words.
    fn explain(&self, work: &Work) -> String {
        let blocked = work.fifo.blocked();
        if blocked.is_empty() {
            return "a fence never signals".to_owned();
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
            Kind::Timeline | Kind::External => {
                write!(text, "timeline semaphore {semaphore} to reach {value}")
            }
        };
        if blocked.kind == Kind::Gone {
            return text;
        }
        let mut held = work.fifo.all_held();
        let signaller = held.find(|held| held.signals_at_least(blocked.wait, blocked.kind));
        match signaller {
            None => text.push_str(", which nothing submitted signals"),
            Some(held) => {
                let _ = write!(
                    text,
                    ", which submission {} would signal, itself held",
                    held.ticket.0
                );
            }
        }
        text
    }
}
