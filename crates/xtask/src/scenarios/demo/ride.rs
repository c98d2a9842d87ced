//! Ride of ten seconds through the city of `courier`, as an animated file.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::animation::{self, Color};
use crate::scenarios::picture;

/// Frames of the ride.
const FRAMES: usize = 150;
/// Frames a second: each is four steps of the game.
const RATE: u16 = 15;
/// Polling interval of the progress.
const POLL: Duration = Duration::from_millis(200);

/// Arguments of `courier`, besides the files that it writes. The first parcel is delivered near the end of the ride.
const ARGUMENTS: [&str; 10] = [
    "--headless",
    "--autoplay",
    "--skip",
    "1500",
    "--steps",
    "4",
    "--frames",
    "150",
    "--size",
    "320x180",
];

/// Draws the ride with `courier`, and writes it to `folder`. Prints progress and times.
///
/// # Errors
/// When the program fails, or a file cannot be read or written.
pub(super) fn draw(mut courier: Command, folder: &Path) -> Result<()> {
    let frames = folder.join("frames");
    let report = folder.join("ride.json");
    remove(&frames)?;
    println!("==> a ride of ten seconds, {FRAMES} frames");
    let begin = Instant::now();
    courier.args(ARGUMENTS).arg("--record").arg(&frames);
    courier.arg("--report").arg(&report);
    let mut child = courier.spawn().context("cannot start courier")?;
    follow(&mut child, &frames)?;
    let drawn = begin.elapsed();
    let path = folder.join("ride.png");
    let bytes = write(&frames, &path)?;
    remove(&frames)?;
    let report = std::fs::read(&report).context("courier has written no report")?;
    let report: Value = serde_json::from_slice(&report).context("the report is no JSON")?;
    println!(
        "    {}: the ride, {} KiB, moves in a browser",
        path.display(),
        bytes / 1024
    );
    print!("{}", summary(&report, drawn, begin.elapsed() - drawn));
    Ok(())
}

/// Removes the frames of a ride, of which another run may have left some.
fn remove(frames: &Path) -> Result<()> {
    match std::fs::remove_dir_all(frames) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", frames.display()))
        }
        _ => Ok(()),
    }
}

/// Waits for the program, and prints how many frames it has written: one line that is overwritten on a terminal, four
/// lines elsewhere.
fn follow(child: &mut Child, frames: &Path) -> Result<()> {
    let is_terminal = std::io::stdout().is_terminal();
    let mut told = 0;
    let status = loop {
        let status = child.try_wait().context("cannot wait for courier")?;
        let count = std::fs::read_dir(frames).map_or(0, Iterator::count);
        let step = if is_terminal { 1 } else { FRAMES / 4 };
        if count >= told + step {
            told = count - count % step;
            let [before, after] = if is_terminal {
                ["\r\x1b[K", ""]
            } else {
                ["", "\n"]
            };
            // A closed terminal does not end the ride.
            let mut out = std::io::stdout();
            let _ = write!(out, "{before}    {told} of {FRAMES} frames{after}");
            let _ = out.flush();
        }
        match status {
            Some(status) => break status,
            None => thread::sleep(POLL),
        }
    };
    if is_terminal {
        println!();
    }
    if !status.success() {
        bail!("courier ended with {status}");
    }
    Ok(())
}

/// Writes recorded frames as one animated file. Returns its size in bytes.
fn write(frames: &Path, path: &Path) -> Result<usize> {
    let entries =
        std::fs::read_dir(frames).with_context(|| format!("no frames in {}", frames.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    // Their names are numbers of five digits.
    files.sort_unstable();
    let mut size = [0; 2];
    let mut pictures: Vec<Vec<Color>> = Vec::new();
    for file in &files {
        let picture;
        (size, picture) = picture::colors(file)?;
        pictures.push(picture);
    }
    let file = animation::encode(size, &pictures, RATE)?;
    std::fs::write(path, &file).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file.len())
}

/// Returns lines about the device, its queues, and times.
fn summary(report: &Value, drawn: Duration, encoded: Duration) -> String {
    let text = |key: &str| report[key].as_str().unwrap_or("?").to_owned();
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let phases: Vec<String> = report["cpu_us"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, time)| format!("{name} {:.1}", number(time) / 1000.0))
        .collect();
    let moved = report["moved"].as_object().map_or(0, serde_json::Map::len);
    format!(
        "    device  {}\n    \
         queues  {}; a frame has {} submissions and {} waits between queues; passes moved by measurement: {moved}\n    \
         median of a frame  {:.1} ms ({} ms)\n    \
         whole ride  {:.1} s drawn, {:.1} s encoded\n",
        text("device"),
        text("topology"),
        report["submissions"],
        report["semaphore_waits"],
        number(&report["frame_us"]) / 1000.0,
        phases.join(", "),
        drawn.as_secs_f64(),
        encoded.as_secs_f64(),
    )
}

#[cfg(test)]
#[path = "ride_tests.rs"]
mod tests;
