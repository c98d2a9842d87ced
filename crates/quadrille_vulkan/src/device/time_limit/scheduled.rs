//! The share of time that the threads of this process get to run.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The least share of a wait that counts, so that limits end on any machine.
const MIN_SHARE: f64 = 1.0 / 16.0;

/// Less than this of either is what an idle process has: its driver waits for a device.
const IDLE: Duration = Duration::from_millis(5);

/// Pipelines that a driver compiles right now.
static COMPILING: AtomicU32 = AtomicU32::new(0);

/// Whether a driver compiles a pipeline right now, which may hold up all else that it does.
pub(super) fn is_compiling() -> bool {
    COMPILING.load(Ordering::Relaxed) > 0
}

/// A pipeline is compiled until this is dropped.
pub(crate) struct Compiling(());

impl Compiling {
    /// Begins.
    pub(crate) fn begin() -> Self {
        COMPILING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        COMPILING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Scheduling times, summed over all threads of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// Time on a processor.
    ran: Duration,
    /// Time ready to run, without a processor.
    delayed: Duration,
}

impl Times {
    /// So far; `None` on systems that do not tell. Linux does (`schedstat` of proc(5)).
    pub(super) fn now() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let mut times = Self::default();
        for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
            // A thread may end meanwhile.
            if let Ok(text) = std::fs::read_to_string(task.path().join("schedstat")) {
                let (ran, delayed) = parse(&text)?;
                times.ran += ran;
                times.delayed += delayed;
            }
        }
        Some(times)
    }

    /// The times since others. Threads that have ended leave nothing behind.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            ran: self.ran.saturating_sub(before.ran),
            delayed: self.delayed.saturating_sub(before.delayed),
        }
    }

    /// The share of these times that counts as waited for a device: all of it if no thread wanted to
    /// run, and little while the driver was busy with a pipeline.
    pub(super) fn share(self, is_compiling: bool) -> f64 {
        let wanted = self.ran + self.delayed;
        if is_compiling {
            MIN_SHARE
        } else if wanted < IDLE {
            1.0
        } else {
            self.ran.div_duration_f64(wanted).max(MIN_SHARE)
        }
    }
}

/// Nanoseconds on a processor, and ready to run.
fn parse(schedstat: &str) -> Option<(Duration, Duration)> {
    let mut numbers = schedstat.split_whitespace().map(|it| it.parse().ok());
    let mut next = || numbers.next()?.map(Duration::from_nanos);
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests;
