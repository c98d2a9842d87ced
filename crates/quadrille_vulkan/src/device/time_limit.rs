//! Time limits of waits.
//!
//! A limit detects a device that makes no progress, so only time counts in which progress could
//! have been observed. A stopped process or a sleeping computer must not
//! use up the limit, and no system clock excludes both. So waits are divided into slices, and a
//! slice counts for its intended length at most, however late it returns.
//!
//! On a busy machine the threads of a driver, and so of a software device, may wait for a CPU. So after the first full
//! slice of a wait, further ones count in proportion to the CPU time that the process got ([`scheduled`]), and only
//! little while a pipeline is compiled.

pub(crate) mod scheduled;

use std::time::{Duration, Instant};

use scheduled::Times;

/// Maximum length of a slice, and so of the time that a stopped process counts for.
const SLICE: Duration = Duration::from_millis(100);
/// Interval between polls if a wait returns before its slice is over.
const POLL: Duration = Duration::from_millis(1);

/// Remaining part of a time limit.
#[derive(Debug)]
pub(crate) struct TimeLimit {
    limit: Duration,
    left: Duration,
    /// CPU times at the end of the last full slice.
    times: Option<Times>,
}

impl TimeLimit {
    /// Creates an unused limit.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            limit,
            left: limit,
            times: None,
        }
    }

    /// Waits for one slice by a function, which gets the timeout of the slice.
    pub(crate) fn wait<T>(&mut self, wait: impl FnOnce(Duration) -> T) -> T {
        let slice = self.left.min(SLICE);
        let start = Instant::now();
        let result = wait(slice);
        let took = start.elapsed();
        let share = self.share(slice, took);
        self.count(slice, took, share);
        result
    }

    /// Calls a function until it returns a value; `None` if the limit is over first. The function is called at least
    /// once with its timeout, and may return early.
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

    /// The fraction of a wait that counts. It is 1 for waits that end early, since CPU times cost a
    /// system call per thread.
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

    /// Counts a fraction of a wait with timeout `slice` that took `took`.
    fn count(&mut self, slice: Duration, took: Duration, share: f64) {
        self.left = self.left.saturating_sub(took.min(slice).mul_f64(share));
    }

    /// Whether the limit is used up.
    pub(crate) fn is_over(&self) -> bool {
        self.left.is_zero()
    }

    /// The time counted so far.
    pub(crate) fn spent(&self) -> Duration {
        self.limit - self.left
    }
}

#[cfg(test)]
mod tests;
