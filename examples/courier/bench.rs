//! Measurement of a fixed ride: times of frames, CPU by phase, device by pass and queue, memory.

mod spread;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bevy_app::{App, First, Last, Plugin};
use bevy_ecs::prelude::*;
use examples::run::Run;
use quadrille::ecs::Phase;
use quadrille::prelude::Renderer;
use serde_json::{Value, json};

use self::spread::spread;
use crate::process;

/// Frames before those that are measured: pipelines, uploads, clocks.
pub(crate) const WARM_UP: u64 = 60;
/// Frames that are measured unless `--frames` says otherwise.
pub(crate) const MEASURED: u64 = 300;

/// Milliseconds of the phases of all frames.
type Phases = Arc<Mutex<[Vec<f64>; Phase::ALL.len()]>>;

/// Measures a run of [`WARM_UP`] and more frames.
pub(crate) struct BenchPlugin {
    /// File for the numbers as JSON.
    pub(crate) json: Option<PathBuf>,
    /// Frames of the run: one more than the warm-up and those that are measured.
    pub(crate) frames: u64,
    /// Name of the measurement: seed, size, quality.
    pub(crate) ride: String,
}

/// Measurements so far.
#[derive(Resource)]
struct Bench {
    json: Option<PathBuf>,
    frames: u64,
    ride: String,
    seen: u64,
    began: Instant,
    frame_ms: Vec<f64>,
    /// Milliseconds of CPU at the beginning and the end.
    cpu_ms: [Option<u64>; 2],
    phases: Phases,
    /// Sums of milliseconds by queue and pass, with the number of frames of all.
    passes: BTreeMap<(u8, String), f64>,
    device_frames: u64,
    last_device_frame: Option<u64>,
}

impl Plugin for BenchPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Bench {
            json: self.json.clone(),
            frames: self.frames,
            ride: self.ride.clone(),
            seen: 0,
            began: Instant::now(),
            frame_ms: Vec::new(),
            cpu_ms: [None; 2],
            phases: Phases::default(),
            passes: BTreeMap::new(),
            device_frames: 0,
            last_device_frame: None,
        })
        .add_systems(First, begin_frame)
        .add_systems(Last, end_frame);
    }
}

/// Notes the time of the frame before.
fn begin_frame(mut bench: ResMut<Bench>, renderer: Option<ResMut<Renderer>>) {
    let now = Instant::now();
    let took = now - std::mem::replace(&mut bench.began, now);
    bench.seen += 1;
    if bench.seen > bench.frames {
        return;
    }
    if bench.seen > WARM_UP + 1 {
        bench.frame_ms.push(took.as_secs_f64() * 1e3);
    }
    if bench.seen == bench.frames {
        bench.cpu_ms[1] = process::cpu_ms();
    }
    if bench.seen == WARM_UP + 1
        && let Some(mut renderer) = renderer
    {
        bench.cpu_ms[0] = process::cpu_ms();
        renderer.measure(true);
        let phases = bench.phases.clone();
        renderer.observe_phases(Box::new(move |phase, start, end| {
            // A poisoned lock means that the program ends anyway.
            if let Ok(mut phases) = phases.lock() {
                phases[phase as usize].push((end - start).as_secs_f64() * 1e3);
            }
        }));
    }
}

/// Adds the device times that have arrived, and reports after the last frame.
fn end_frame(mut bench: ResMut<Bench>, renderer: Option<Res<Renderer>>, mut run: ResMut<Run>) {
    let Some(renderer) = renderer else { return };
    let bench = &mut *bench;
    let times = renderer.device_times();
    if let Some(times) = times.filter(|times| bench.last_device_frame != Some(times.frame)) {
        bench.last_device_frame = Some(times.frame);
        bench.device_frames += 1;
        for pass in &times.passes {
            let took = pass.end.saturating_duration_since(pass.begin);
            let key = (pass.queue.0, pass.name.to_string());
            *bench.passes.entry(key).or_default() += took.as_secs_f64() * 1e3;
        }
    }
    if bench.seen != bench.frames {
        return;
    }
    let numbers = bench.numbers(&renderer);
    let written = table::print(&numbers);
    if let Err(error) = written {
        bevy_log::error!("cannot print the table: {error}");
    }
    if let Some(path) = &bench.json {
        let text = format!("{numbers:#}\n");
        let written = quadrille::vulkan::file::write_file(path, text.as_bytes());
        run.wrote("numbers", path, written);
    }
    run.report.insert("bench".to_owned(), numbers);
}

impl Bench {
    fn numbers(&self, renderer: &Renderer) -> Value {
        let count = self.frame_ms.len().max(1) as f64;
        let [begin, end] = self.cpu_ms;
        let cpu_ms = begin
            .zip(end)
            .map(|(begin, end)| (end - begin) as f64 / count);
        let phases = self.phases.lock().map(|phases| phases.clone());
        let phases: Vec<Value> = Phase::ALL
            .iter()
            .zip(phases.unwrap_or_default())
            .map(|(phase, times)| json!({ "phase": phase.name(), "ms": spread(times) }))
            .collect();
        let frames = self.device_frames.max(1) as f64;
        let mut passes: Vec<(&(u8, String), f64)> = self
            .passes
            .iter()
            .map(|(key, sum)| (key, sum / frames))
            .collect();
        passes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let pass = |((queue, name), ms): &(&(u8, String), f64)| json!({ "queue": queue, "pass": name, "ms": ms });
        let mut queues: BTreeMap<u8, f64> = BTreeMap::new();
        for ((queue, _), ms) in &passes {
            *queues.entry(*queue).or_default() += ms;
        }
        let queue = |(queue, ms): (&u8, &f64)| json!({ "queue": queue, "ms": ms });
        let memory = process::memory_kib();
        let device = renderer.gpu().memory_use();
        json!({
            "ride": self.ride,
            "device": renderer.gpu().info().name,
            "topology": renderer.gpu().topology().to_string(),
            "frames": self.frame_ms.len(),
            "frame_ms": spread(self.frame_ms.clone()),
            "process_cpu_ms": cpu_ms,
            "cpu_phases": phases,
            "device_queues": queues.iter().map(queue).collect::<Vec<_>>(),
            "device_passes": passes.iter().map(pass).collect::<Vec<_>>(),
            "memory_kib": { "resident": memory.map(|it| it[0]), "peak": memory.map(|it| it[1]),
                "device_used": device.used / 1024, "device_allocated": device.allocated / 1024 },
        })
    }
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
