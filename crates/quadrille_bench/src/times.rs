//! Times of frames, and their medians.

use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};

/// Durations of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTimes {
    /// Declaring and collecting passes, and encoding their commands.
    pub build: Duration,
    /// Planning.
    pub compile: Duration,
    /// Recording command buffers.
    pub record: Duration,
    /// Submitting.
    pub submit: Duration,
    /// Waiting for the device.
    pub wait: Duration,
    /// From the start of declaring to just before submitting.
    pub pre_submit: Duration,
    /// CPU time of the thread during `pre_submit`.
    pub pre_submit_cpu: Duration,
    /// The whole frame.
    pub frame: Duration,
    /// CPU time of all threads of the process during `frame`.
    pub frame_process_cpu: Duration,
}

/// Row of [`Medians`]: name in reports, and accessor.
type Field = (&'static str, fn(&FrameTimes) -> Duration);

/// Fields of reports, in nanoseconds per frame.
const FIELDS: [Field; 9] = [
    ("build_wall_ns", |times| times.build),
    ("compile_wall_ns", |times| times.compile),
    ("record_wall_ns", |times| times.record),
    ("submit_wall_ns", |times| times.submit),
    ("wait_wall_ns", |times| times.wait),
    ("pre_submit_wall_ns", |times| times.pre_submit),
    ("pre_submit_cpu_ns", |times| times.pre_submit_cpu),
    ("frame_wall_ns", |times| times.frame),
    ("frame_process_cpu_ns", |times| times.frame_process_cpu),
];

/// Medians over frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Medians(Vec<FrameTimes>);

impl Medians {
    /// Adds a frame.
    pub fn add(&mut self, times: FrameTimes) {
        self.0.push(times);
    }

    /// Names and medians in nanoseconds per frame; zeros without frames.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        FIELDS.iter().map(|&(name, of)| (name, self.median(of)))
    }

    /// Median of one field in nanoseconds per frame.
    pub fn median(&self, of: impl Fn(&FrameTimes) -> Duration) -> u64 {
        let mut all: Vec<Duration> = self.0.iter().map(of).collect();
        all.sort_unstable();
        all.get(all.len() / 2)
            .map_or(0, |median| median.as_nanos() as u64)
    }
}

/// Measures wall time, and CPU time of thread and process. Read it on the thread that started it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    /// CPU time of the thread at the start.
    thread: Duration,
    process: ProcessTime,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        let process = ProcessTime::now();
        let thread = ThreadTime::now().as_duration();
        Self {
            wall: Instant::now(),
            thread,
            process,
        }
    }

    /// CPU time of this thread since the start.
    pub fn thread(&self) -> Duration {
        ThreadTime::now().as_duration().saturating_sub(self.thread)
    }

    /// Wall time since the start.
    pub fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    /// CPU time of all threads since the start.
    pub fn process(&self) -> Duration {
        self.process.elapsed()
    }
}

#[cfg(test)]
mod tests;
