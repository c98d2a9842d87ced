//! How many threads record a frame, chosen by what recording costs.
//!
//! bevy's multi-threaded executor costs about a microsecond a system and its single-threaded one
//! a twentieth of that, so short passes are faster on one thread; the break-even was measured at
//! about 5 us a pass.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_tasks::ComputeTaskPool;

/// On how many threads frames are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordOn {
    /// As measured: one while passes are short, all when they are long.
    #[default]
    Auto,
    /// Always one.
    OneThread,
    /// Always all.
    AllThreads,
}

/// The choice, and what it rests on.
#[derive(Resource, Debug, Default)]
pub(crate) struct Threads {
    setting: RecordOn,
    multi_threaded: Option<bool>,
    /// Mean time of a pass system in nanoseconds, smoothed.
    system_ns: f64,
    /// Mean time of translating a pass in nanoseconds, smoothed; the bits of an `f64`.
    translation_ns: AtomicU64,
}

/// Above this many nanoseconds a pass system is long, and below half of it short.
const LONG_SYSTEM_NS: f64 = 5_000.0;

/// A chunk of passes is worth a thread if it takes this long to translate.
const CHUNK_NS: f64 = 50_000.0;

impl Threads {
    pub(crate) fn new(setting: RecordOn) -> Self {
        Self {
            setting,
            ..Self::default()
        }
    }

    /// Whether the schedule should change to the multi-threaded executor, or to the other.
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
        // One long pass gains nothing from threads.
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

    /// Into how many chunks the passes of a frame are cut for translation.
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
