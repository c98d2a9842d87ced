//! The time limit of a wait.
//!
//! A limit detects a device that makes no progress, so only time counts in which progress could
//! have been observed. A process that is stopped, or a computer that sleeps, must not
//! use the limit up, and no clock of the system leaves out both. So waits come in slices, and a
//! slice counts for what it was meant to take at most, however late it returns.
//!
//! A busy machine may leave the threads of a driver waiting for a processor, and so a device in
//! software as well. So once a wait has lasted for a slice, further ones count for the share of time
//! that the process got to run ([`scheduled`]), and for little while a pipeline is compiled.

pub(crate) mod scheduled;

use std::time::{Duration, Instant};

use scheduled::Times;

/// The longest slice: what one stop of the process can count for at most.
const SLICE: Duration = Duration::from_millis(100);
/// Between two polls, where a wait returns before its slice is over.
const POLL: Duration = Duration::from_millis(1);

/// Remaining part of a time limit.
#[derive(Debug)]
pub(crate) struct TimeLimit {
    limit: Duration,
    left: Duration,
    /// At the end of the last slice that was used up.
    times: Option<Times>,
}

impl TimeLimit {
    /// All of a limit.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            limit,
            left: limit,
            times: None,
        }
    }

    /// Waits for one slice, with a function that gets the time that it may take.
    pub(crate) fn wait<T>(&mut self, wait: impl FnOnce(Duration) -> T) -> T {
        let slice = self.left.min(SLICE);
        let start = Instant::now();
        let result = wait(slice);
        let took = start.elapsed();
        let share = self.share(slice, took);
        self.count(slice, took, share);
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

    /// The share of a wait that counts. Waits that end early are not looked into, since that costs a
    /// call for each thread.
    fn share(&mut self, slice: Duration, took: Duration) -> f64 {
        if slice < SLICE || took < SLICE {
            return 1.0;
        }
        let before = std::mem::replace(&mut self.times, Times::now());
        match (before, self.times) {
            (Some(before), Some(now)) => now.since(before).share(scheduled::is_compiling()),
            _ => 1.0,
        }
    }

    /// Counts a share of a wait that was to take a slice and took so long.
    fn count(&mut self, slice: Duration, took: Duration, share: f64) {
        self.left = self.left.saturating_sub(took.min(slice).mul_f64(share));
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
