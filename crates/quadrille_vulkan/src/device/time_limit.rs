//! The time limit of a wait.
//!
//! A limit detects a device that makes no progress, so only time counts in which progress could
//! have been observed. A process that is stopped, or a computer that sleeps, must not
//! use the limit up, and no clock of the system leaves out both. So waits come in slices, and a
//! slice counts for what it was meant to take at most, however late it returns.

use std::time::{Duration, Instant};

/// The longest slice: what one stop of the process can count for at most.
const SLICE: Duration = Duration::from_millis(100);
/// Between two polls, where a wait returns before its slice is over.
const POLL: Duration = Duration::from_millis(1);

/// What is left of the time that something may take.
#[derive(Debug)]
pub(crate) struct TimeLimit {
    limit: Duration,
    left: Duration,
}

impl TimeLimit {
    /// All of a limit.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, left: limit }
    }

    /// Waits for one slice, with a function that gets the time that it may take.
    pub(crate) fn wait<T>(&mut self, wait: impl FnOnce(Duration) -> T) -> T {
        let slice = self.left.min(SLICE);
        let start = Instant::now();
        let result = wait(slice);
        self.count(slice, start.elapsed());
        result
    }

    /// Calls a function until it returns a value; `None` if the limit is over first. It is called at
    /// least once, with the time that it may take, and may return early.
    pub(crate) fn until<T>(&mut self, mut poll: impl FnMut(Duration) -> Option<T>) -> Option<T> {
        loop {
            let result = self.wait(|slice| {
                let start = Instant::now();
                let result = poll(slice);
                if result.is_none() {
                    std::thread::sleep(POLL.min(slice.saturating_sub(start.elapsed())));
                }
                result
            });
            if result.is_some() || self.is_over() {
                return result;
            }
        }
    }

    /// Counts a wait that was to take a slice and took so long.
    fn count(&mut self, slice: Duration, took: Duration) {
        self.left = self.left.saturating_sub(took.min(slice));
    }

    /// Whether nothing is left.
    pub(crate) fn is_over(&self) -> bool {
        self.left.is_zero()
    }

    /// How much of the limit has been counted.
    pub(crate) fn spent(&self) -> Duration {
        self.limit - self.left
    }
}

#[cfg(test)]
mod tests;
