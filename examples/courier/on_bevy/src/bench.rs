//! Numbers of the ride, as `courier --bench` prints them.

#[path = "../../bench/spread.rs"]
mod spread;
#[path = "../../bench/table.rs"]
mod table;

use std::path::PathBuf;
use std::time::Instant;

use bevy::prelude::*;
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured, save_to_disk};
use serde_json::{Value, json};

use self::spread::spread;
use crate::headless::{Canvas, check_pipelines, settled_frames};
use crate::player::Pace;
use crate::process;

/// Frames before those that are measured, as on Quadrille.
const WARM_UP: u32 = 60;
/// Frames without an awaited pipeline before the ride begins.
const SETTLED: u32 = 20;
/// Seconds after which the program gives up while pipelines are awaited.
const PATIENCE: u64 = 600;

/// Measures the ride, prints the numbers and ends the program.
pub struct BenchPlugin {
    /// Measured frames.
    pub frames: u32,
    /// Name of the measurement: seed, size, quality.
    pub ride: String,
    /// File for the numbers as JSON.
    pub json: Option<PathBuf>,
    /// File for the last frame.
    pub screenshot: Option<PathBuf>,
}

#[derive(Resource)]
struct Bench {
    frames: u32,
    ride: String,
    json: Option<PathBuf>,
    screenshot: Option<PathBuf>,
    began: Instant,
    last: Instant,
    /// Frames of the ride so far.
    seen: u32,
    frame_ms: Vec<f64>,
    cpu_ms: Option<u64>,
}

impl Plugin for BenchPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Bench {
            frames: self.frames,
            ride: self.ride.clone(),
            json: self.json.clone(),
            screenshot: self.screenshot.clone(),
            began: Instant::now(),
            last: Instant::now(),
            seen: 0,
            frame_ms: Vec::new(),
            cpu_ms: None,
        })
        .add_systems(First, measure);
    }
}

fn measure(
    mut commands: Commands,
    mut bench: ResMut<Bench>,
    mut pace: ResMut<Pace>,
    (info, canvas): (Res<RenderAdapterInfo>, Res<Canvas>),
    mut exit: MessageWriter<AppExit>,
) -> Result {
    let now = Instant::now();
    let took = now - std::mem::replace(&mut bench.last, now);
    if bench.seen == 0 {
        check_pipelines()?;
        if bench.began.elapsed().as_secs() > PATIENCE {
            return Err("pipelines are still compiled, so that something would be left out".into());
        }
        if settled_frames() < SETTLED {
            return Ok(());
        }
        *pace = Pace::new(Some(1));
    }
    bench.seen += 1;
    if bench.seen == WARM_UP + 1 {
        bench.cpu_ms = process::cpu_ms();
    }
    if bench.seen > WARM_UP + 1 && bench.frame_ms.len() < bench.frames as usize {
        bench.frame_ms.push(took.as_secs_f64() * 1e3);
    }
    if bench.seen != WARM_UP + 1 + bench.frames {
        return Ok(());
    }
    let numbers = bench.numbers(&info);
    table::print(&numbers)?;
    if let Some(path) = &bench.json {
        std::fs::write(path, format!("{numbers:#}\n"))?;
    }
    // The city stops for the picture.
    *pace = Pace::new(Some(0));
    match &bench.screenshot {
        Some(path) => {
            let mut asked = commands.spawn(Screenshot::image(canvas.0.clone()));
            asked.observe(save_to_disk(path.clone()));
            asked.observe(
                |_: On<ScreenshotCaptured>, mut exit: MessageWriter<AppExit>| {
                    exit.write(AppExit::Success);
                },
            );
        }
        None => {
            exit.write(AppExit::Success);
        }
    }
    Ok(())
}

impl Bench {
    fn numbers(&self, info: &RenderAdapterInfo) -> Value {
        let count = self.frame_ms.len().max(1) as f64;
        let cpu = process::cpu_ms().zip(self.cpu_ms);
        let memory = process::memory_kib();
        json!({
            "ride": self.ride,
            "device": info.name,
            "topology": "one",
            "frames": self.frame_ms.len(),
            "frame_ms": spread(self.frame_ms.clone()),
            "process_cpu_ms": cpu.map(|(end, begin)| (end - begin) as f64 / count),
            "memory_kib": { "resident": memory.map(|it| it[0]), "peak": memory.map(|it| it[1]) },
        })
    }
}
