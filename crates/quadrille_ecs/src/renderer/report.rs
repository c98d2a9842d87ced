//! Costs of frames: counts and CPU times.

use std::time::{Duration, Instant};

use quadrille_sync::plan::Counts;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::validation_messages;
use serde_json::{Map, Value, json};

/// Phases of a frame whose CPU time is measured, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Waiting for the device and for windows.
    Wait,
    /// Running the [`Render`](crate::Render) schedule: pass systems write their command lists.
    Run,
    /// Collecting the frame from entities and command lists.
    Collect,
    /// Planning.
    Plan,
    /// Encoding command lists into command buffers.
    Record,
    /// Submitting and presenting.
    Submit,
}

impl Phase {
    /// All phases, in their order.
    pub const ALL: [Self; 6] = [
        Self::Wait,
        Self::Run,
        Self::Collect,
        Self::Plan,
        Self::Record,
        Self::Submit,
    ];

    /// Its name in reports and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Run => "run",
            Self::Collect => "collect",
            Self::Plan => "plan",
            Self::Record => "record",
            Self::Submit => "submit",
        }
    }
}

/// Callback at the end of each phase, with its start and end. Runs on the thread that drives the frame, so
/// its own time counts towards the next phase.
pub type PhaseObserver = Box<dyn FnMut(Phase, Instant, Instant) + Send + Sync>;

/// CPU times of one frame, by phase.
pub(crate) struct Clock {
    last: Instant,
    times: [Duration; Phase::ALL.len()],
    laps: [Lap; MAX_PHASES],
    lap_count: usize,
    pub(crate) observer: Option<PhaseObserver>,
}

/// A phase with its start and end.
pub(crate) type Lap = (Phase, Instant, Instant);

/// An upper bound of the laps of a frame.
const MAX_PHASES: usize = 8;

impl Clock {
    pub(crate) fn start(observer: Option<PhaseObserver>) -> Self {
        let now = Instant::now();
        Self {
            last: now,
            times: Default::default(),
            laps: [(Phase::Wait, now, now); MAX_PHASES],
            lap_count: 0,
            observer,
        }
    }

    /// The phases so far.
    pub(crate) fn laps(&self) -> &[Lap] {
        &self.laps[..self.lap_count]
    }

    /// The time of a phase so far.
    pub(crate) fn time(&self, phase: Phase) -> Duration {
        self.times[phase as usize]
    }

    /// Adds the time since the last call to a phase.
    pub(crate) fn lap(&mut self, phase: Phase) -> Duration {
        let now = Instant::now();
        let (start, time) = (self.last, now - self.last);
        self.times[phase as usize] += time;
        self.last = now;
        if let Some(lap) = self.laps.get_mut(self.lap_count) {
            *lap = (phase, start, now);
            self.lap_count += 1;
        }
        if let Some(observer) = &mut self.observer {
            observer(phase, start, now);
        }
        time
    }
}

/// Counts and times over frames.
#[derive(Default)]
pub(crate) struct Measurements {
    frames: u64,
    plans_reused: u64,
    /// Distinct counts, with the number of frames that had them; most frequent first.
    kinds: Vec<Kind>,
    /// Nanoseconds by phase, of the last [`KEPT`] frames.
    times: Vec<[u64; Phase::ALL.len()]>,
}

struct Kind {
    counts: Counts,
    command_buffers: u32,
    frames: u64,
}

/// The most distinct counts that are stored; rarer ones are dropped.
const KINDS: usize = 16;

/// The number of recent frames that medians are taken over.
const KEPT: usize = 1024;

impl Measurements {
    pub(crate) fn add(
        &mut self,
        clock: &Clock,
        counts: Counts,
        command_buffers: u32,
        reused: bool,
    ) {
        let times = clock
            .times
            .map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        if self.times.len() < KEPT {
            self.times.push(times);
        } else {
            self.times[self.frames as usize % KEPT] = times;
        }
        self.frames += 1;
        self.plans_reused += u64::from(reused);
        self.add_kind(counts, command_buffers);
    }

    /// The number of submitted frames.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    fn add_kind(&mut self, counts: Counts, command_buffers: u32) {
        let same = |kind: &Kind| kind.counts == counts && kind.command_buffers == command_buffers;
        match self.kinds.iter().position(same) {
            Some(index) => {
                self.kinds[index].frames += 1;
                if index > 0 && self.kinds[index - 1].frames < self.kinds[index].frames {
                    self.kinds.swap(index - 1, index);
                }
            }
            None => {
                self.kinds.truncate(KINDS - 1);
                self.kinds.push(Kind {
                    counts,
                    command_buffers,
                    frames: 1,
                });
            }
        }
    }

    pub(crate) fn to_json(&self, gpu: &Gpu) -> Map<String, Value> {
        let info = gpu.info();
        // The steady state: the counts of most frames.
        let (counts, command_buffers) = self.kinds.first().map_or((Counts::default(), 0), |kind| {
            (kind.counts, kind.command_buffers)
        });
        let mut cpu_us = Map::new();
        for phase in Phase::ALL {
            cpu_us.insert(phase.name().into(), json!(self.median_us(phase)));
        }
        let report = json!({
            "frames": self.frames,
            "frame_us": self.median_frame_us(),
            "plans_reused": self.plans_reused,
            "submissions": counts.submissions,
            "command_buffers": command_buffers,
            "barrier_calls": counts.barrier_calls,
            "barriers": counts.barriers,
            "semaphore_waits": counts.semaphore_waits,
            "ownership_transfers": counts.ownership_transfers,
            "cpu_us": cpu_us,
            "device": info.name,
            "software": info.software,
            "topology": gpu.topology().to_string(),
            "idle_waits": gpu.idle_waits(),
            "validation": info.validation,
            "validation_messages": validation_messages(),
        });
        match report {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// Returns the median of whole frames, in microseconds. Phases include the wait for the device, so this is the
    /// device's frame time if the device is slower than the CPU.
    fn median_frame_us(&self) -> f64 {
        let frame = |times: &[u64; Phase::ALL.len()]| {
            times
                .iter()
                .fold(0, |sum: u64, time| sum.saturating_add(*time))
        };
        median_us(self.times.iter().map(frame).collect())
    }

    fn median_us(&self, phase: Phase) -> f64 {
        median_us(
            self.times
                .iter()
                .map(|times| times[phase as usize])
                .collect(),
        )
    }
}

/// The median of nanoseconds, in microseconds.
fn median_us(mut times: Vec<u64>) -> f64 {
    if times.is_empty() {
        return 0.0;
    }
    let middle = times.len() / 2;
    let (_, median, _) = times.select_nth_unstable(middle);
    *median as f64 / 1000.0
}

#[cfg(test)]
mod tests;
