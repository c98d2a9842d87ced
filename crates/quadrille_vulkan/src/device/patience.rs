//! How long something is waited for.
//!
//! A limit is there to find a device that does not get on, so only time counts in which the device
//! could have been seen to get on. A process that is stopped, or a computer that sleeps, must not
//! use the limit up, and no clock of the system leaves out both. So waits come in slices, and a
//! slice counts for what it was meant to take at most, however late it returns.

use std::time::{Duration, Instant};

/// The longest slice: what one stop of the process can count for at most.
const SLICE: Duration = Duration::from_millis(100);
/// Between two questions, where a wait returns before its slice is over.
const POLL: Duration = Duration::from_millis(1);

/// What is left of the time that something may take.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    left: Duration,
}

impl Patience {
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

    /// Waits until there is an answer, `None` if the limit is over first. It is asked for once at
    /// least, by a function that gets the time that it may take and may return early.
    pub(crate) fn until<T>(&mut self, mut ask: impl FnMut(Duration) -> Option<T>) -> Option<T> {
        loop {
            let answer = self.wait(|slice| {
                let start = Instant::now();
                let answer = ask(slice);
                if answer.is_none() {
                    std::thread::sleep(POLL.min(slice.saturating_sub(start.elapsed())));
                }
                answer
            });
            if answer.is_some() || self.is_over() {
                return answer;
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
