//! Number of threads that record a frame, chosen by the measured cost of recording.
//!
//! bevy's multi-threaded executor costs about a microsecond per system, the single-threaded one a twentieth of
//! that. So short passes are faster on one thread; the measured break-even is about 5 us per pass.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_tasks::ComputeTaskPool;

/// Number of threads that record frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordOn {
    /// By measurement: one thread for short passes, all threads for long ones.
    #[default]
    Auto,
    /// Always one thread.
    OneThread,
    /// Always all threads.
    AllThreads,
}

/// The choice of threads, with its measurements.
#[derive(Resource, Debug, Default)]
pub(crate) struct Threads {
    setting: RecordOn,
    multi_threaded: Option<bool>,
    /// Mean time of a pass system in nanoseconds, smoothed.
    system_ns: f64,
    /// Mean time of encoding a pass in nanoseconds, smoothed; the bits of an `f64`.
    translation_ns: AtomicU64,
}

/// Mean time of pass systems, in nanoseconds, above which the multi-threaded executor is chosen; below half of it,
/// the single-threaded one. The gap is hysteresis.
const LONG_SYSTEM_NS: f64 = 5_000.0;

/// Encoding time of a chunk, in nanoseconds, that is worth a thread.
const CHUNK_NS: f64 = 50_000.0;

impl Threads {
    pub(crate) fn new(setting: RecordOn) -> Self {
        Self {
            setting,
            ..Self::default()
        }
    }

    /// Returns whether the schedule should use the multi-threaded executor, if that has changed.
    pub(crate) fn executor_change(&mut self) -> Option<bool> {
        let multi_threaded = match (self.setting, self.multi_threaded) {
            (RecordOn::OneThread, _) => false,
            (RecordOn::AllThreads, _) => true,
            (RecordOn::Auto, Some(true)) => self.system_ns > LONG_SYSTEM_NS / 2.0,
            (RecordOn::Auto, _) => self.system_ns > LONG_SYSTEM_NS,
        };
        let changed = self.multi_threaded != Some(multi_threaded);
        self.multi_threaded = Some(multi_threaded);
        changed.then_some(multi_threaded)
    }

    pub(crate) fn measured_systems(&mut self, time: Duration, passes: usize) {
        // A single pass cannot be split among threads, so its time says nothing.
        if passes > 1 {
            let threads = if self.multi_threaded == Some(true) {
                thread_count()
            } else {
                1
            };
            let mean = time.as_nanos() as f64 * threads as f64 / passes as f64;
            self.system_ns = smooth(self.system_ns, mean);
        }
    }

    pub(crate) fn measured_encode_time(&self, time: Duration, passes: usize) {
        let mean = time.as_nanos() as f64 / passes.max(1) as f64;
        let smoothed = smooth(
            f64::from_bits(self.translation_ns.load(Ordering::Relaxed)),
            mean,
        );
        self.translation_ns
            .store(smoothed.to_bits(), Ordering::Relaxed);
    }

    /// The number of chunks in which the passes of a frame are encoded in parallel.
    pub(crate) fn chunks(&self, passes: usize) -> usize {
        let total = f64::from_bits(self.translation_ns.load(Ordering::Relaxed)) * passes as f64;
        match self.setting {
            RecordOn::OneThread => 1,
            RecordOn::AllThreads => thread_count(),
            RecordOn::Auto => ((total / CHUNK_NS) as usize).clamp(1, thread_count()),
        }
    }
}

fn thread_count() -> usize {
    ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num().max(1))
}

fn smooth(old: f64, new: f64) -> f64 {
    if old == 0.0 {
        new
    } else {
        old * 0.95 + new * 0.05
    }
}
