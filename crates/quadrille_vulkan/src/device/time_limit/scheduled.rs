//! CPU times of the threads of this process.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Minimum fraction of a wait that counts, so that limits end on any machine.
const MIN_SHARE: f64 = 1.0 / 16.0;

/// Maximum CPU time, running and runnable together, of an idle process, whose driver waits for the device.
const IDLE: Duration = Duration::from_millis(5);

/// Number of pipelines that are being compiled.
static COMPILING: AtomicU32 = AtomicU32::new(0);

/// Whether a driver is compiling a pipeline, which may delay its other work.
pub(super) fn is_compiling() -> bool {
    COMPILING.load(Ordering::Relaxed) > 0
}

/// Guard of a running pipeline compilation.
pub(crate) struct Compiling(());

impl Compiling {
    /// Marks the begin of a compilation.
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
    /// Time running on a CPU.
    ran: Duration,
    /// Time runnable, but without a CPU.
    delayed: Duration,
}

impl Times {
    /// Reads the current times (`schedstat` in proc(5)); `None` on systems other than Linux.
    pub(super) fn now() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let mut times = Self::default();
        for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
            // The thread may have ended meanwhile.
            if let Ok(text) = std::fs::read_to_string(task.path().join("schedstat")) {
                let (ran, delayed) = parse(&text)?;
                times.ran += ran;
                times.delayed += delayed;
            }
        }
        Some(times)
    }

    /// Returns the difference to earlier times, saturating since threads that ended no longer count.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            ran: self.ran.saturating_sub(before.ran),
            delayed: self.delayed.saturating_sub(before.delayed),
        }
    }

    /// Returns the fraction of a wait that counts: 1 if the process was idle, less if its threads waited for a CPU,
    /// and little while a pipeline was compiled.
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

/// Parses nanoseconds running, and nanoseconds runnable.
fn parse(schedstat: &str) -> Option<(Duration, Duration)> {
    let mut numbers = schedstat.split_whitespace().map(|it| it.parse().ok());
    let mut next = || numbers.next()?.map(Duration::from_nanos);
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests;
