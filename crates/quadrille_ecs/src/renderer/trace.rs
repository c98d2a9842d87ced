//! Trace of frames on one time axis, for Chrome's and Perfetto's viewers.
//!
//! One track has the CPU phases. Each queue has a track with its submissions and, nested in them, its passes.
//! An arrow (flow event) leads from each submission to those that wait for it. Device times are converted to
//! the CPU's clock, by calibration if the device supports that; see [`DeviceTimes::calibrated`].
//!
//! The format is Chrome's JSON array of trace events, for `https://ui.perfetto.dev` or `chrome://tracing`.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use quadrille_sync::states::TimelinePoint;
use quadrille_sync::topology::{QueueIndex, Topology};
use quadrille_vulkan::record::{DeviceTimes, SubmissionTime};
use serde_json::{Value, json};

use crate::renderer::report::Phase;

/// The number of latest frames that are kept.
const KEPT: usize = 600;

/// The process id of all tracks.
const PROCESS: u32 = 1;

/// The thread id of the CPU track.
const CPU: u32 = 0;

/// The last frames, on the CPU and on the device.
pub(crate) struct Trace {
    start: Instant,
    phases: VecDeque<Vec<(Phase, Instant, Instant)>>,
    /// Device times with the number of the device: timeline values of different devices are unrelated.
    device: VecDeque<(u32, DeviceTimes)>,
    devices: u32,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            phases: VecDeque::new(),
            device: VecDeque::new(),
            devices: 0,
        }
    }

    /// Begins the trace of another device.
    pub(crate) fn begin_device(&mut self) {
        self.devices += 1;
    }

    /// Adds the CPU phases of a frame.
    pub(crate) fn add_phases(&mut self, laps: &[(Phase, Instant, Instant)]) {
        let mut kept = if self.phases.len() < KEPT {
            Vec::new()
        } else {
            self.phases.pop_front().unwrap_or_default()
        };
        kept.clear();
        kept.extend_from_slice(laps);
        self.phases.push_back(kept);
    }

    /// Adds the device times of a frame.
    pub(crate) fn add_device(&mut self, times: DeviceTimes) {
        if self.device.len() == KEPT {
            self.device.pop_front();
        }
        self.device.push_back((self.devices, times));
    }

    /// The events as JSON.
    pub(crate) fn to_json(&self, topology: &Topology) -> Value {
        let mut events = vec![track_name(CPU, "CPU: frame")];
        for queue in topology.indices() {
            let known = topology.queue(queue);
            let name = format!("queue {}: family {}", queue.0, known.family.0);
            events.push(track_name(track(queue), &name));
        }
        for &(phase, begin, end) in self.phases.iter().flatten() {
            events.push(self.slice(CPU, phase.name(), (begin, end), json!({})));
        }
        for (device, times) in &self.device {
            for submission in &times.submissions {
                self.add_submission(&mut events, (*device, times), submission);
            }
            for pass in &times.passes {
                let arguments = json!({ "frame": times.frame });
                let span = (pass.begin, pass.end);
                events.push(self.slice(track(pass.queue), &pass.name, span, arguments));
            }
        }
        json!({ "traceEvents": events, "displayTimeUnit": "ns" })
    }

    fn add_submission(
        &self,
        events: &mut Vec<Value>,
        (device, times): (u32, &DeviceTimes),
        submission: &SubmissionTime,
    ) {
        let waits: Vec<String> = submission.waits.iter().map(point_name).collect();
        let arguments = json!({
            "frame": times.frame,
            "signals": point_name(&submission.signal),
            "waits": waits,
            "calibrated": times.calibrated,
        });
        let row = track(submission.queue);
        let span = (submission.begin, submission.end);
        events.push(self.slice(row, "submission", span, arguments));
        events.push(self.arrow("s", row, submission.end, (device, &submission.signal)));
        for wait in &submission.waits {
            events.push(self.arrow("f", row, submission.begin, (device, wait)));
        }
    }

    /// A complete event (`X`): a duration on a track.
    fn slice(&self, row: u32, name: &str, (begin, end): (Instant, Instant), args: Value) -> Value {
        let duration = end.saturating_duration_since(begin);
        json!({
            "ph": "X", "pid": PROCESS, "tid": row, "name": name,
            "ts": self.microseconds(begin), "dur": duration.as_secs_f64() * 1e6, "args": args,
        })
    }

    /// A flow event: one end of an arrow from a signal to a wait.
    fn arrow(
        &self,
        end: &str,
        row: u32,
        at: Instant,
        (device, point): (u32, &TimelinePoint),
    ) -> Value {
        let id = format!("device {device} {}", point_name(point));
        json!({
            "ph": end, "bp": "e", "pid": PROCESS, "tid": row, "name": "wait", "cat": "wait",
            "id": id, "ts": self.microseconds(at),
        })
    }

    fn microseconds(&self, at: Instant) -> f64 {
        let before = self.start.saturating_duration_since(at);
        if before > Duration::ZERO {
            -before.as_secs_f64() * 1e6
        } else {
            at.duration_since(self.start).as_secs_f64() * 1e6
        }
    }
}

fn track(queue: QueueIndex) -> u32 {
    CPU + 1 + u32::from(queue.0)
}

fn track_name(row: u32, name: &str) -> Value {
    json!({
        "ph": "M", "pid": PROCESS, "tid": row, "name": "thread_name", "args": { "name": name },
    })
}

fn point_name(point: &TimelinePoint) -> String {
    format!("queue {} value {}", point.queue.0, point.value)
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
