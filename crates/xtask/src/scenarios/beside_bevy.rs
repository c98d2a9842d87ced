//! `courier-beside-bevy`: the ride of `courier --bench` beside the same city on bevy's own renderer, in turns.
//!
//! Both programs are compiled from the same files of `examples/courier`. A machine without cargo gets them packed, with a
//! script that runs them, and its numbers are read here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::host::cargo::{self, Workspace};
use crate::host::{paths, process};
use crate::suites::device::libraries;

/// Package of bevy's side, outside the workspace.
const FOLDER: &str = "examples/courier/on_bevy";

/// Target folder of bevy's side.
const TARGET: &str = "courier-on-bevy";

/// The two sides, in their turns.
const SIDES: [&str; 2] = ["bevy", "quadrille"];

/// Limit of a build on two slow cores: bevy itself takes most of it.
const BUILD_LIMIT: Duration = Duration::from_secs(90 * 60);
/// Limit of a run: software devices take seconds for a frame.
const RUN_LIMIT: Duration = Duration::from_secs(3600);

/// Libraries that the programs load or link besides those of drivers: Vulkan's loader, sound, names of devices.
const LOADED: [(&str, &str); 3] = [
    ("libvulkan1", "libvulkan."),
    ("libasound2", "libasound."),
    ("libudev1", "libudev."),
];

const SCRIPT: &str = include_str!("beside_bevy/run.sh.in");

/// Rows of the table: name, path of the number, unit in which it is shown.
const ROWS: [(&str, &str, f64); 7] = [
    ("frame, median (ms)", "/frame_ms/median", 1.0),
    ("frame, p95 (ms)", "/frame_ms/p95", 1.0),
    ("frame, p99 (ms)", "/frame_ms/p99", 1.0),
    ("frame, worst (ms)", "/frame_ms/worst", 1.0),
    ("CPU of all threads, a frame (ms)", "/process_cpu_ms", 1.0),
    (
        "resident memory at the end (MiB)",
        "/memory_kib/resident",
        1024.0,
    ),
    ("resident memory, peak (MiB)", "/memory_kib/peak", 1024.0),
];

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    /// Size of the picture
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "960x540")]
    size: String,
    /// Quality
    #[arg(long, value_name = "LEVEL", default_value = "high", value_parser = ["low", "medium", "high"])]
    quality: String,
    /// Decides the city and the way
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Measured frames of a run
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Turns of both sides
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Build both, and pack them for a machine with a GPU and without cargo
    #[arg(long, value_name = "DIR", conflicts_with = "read")]
    pack: Option<PathBuf>,
    /// Print the table of the numbers in a folder, as the script of --pack leaves them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["size", "quality", "seed", "frames", "rounds"])]
    read: Option<PathBuf>,
}

/// Builds both sides and runs them in turns.
///
/// # Errors
/// When a side does not build or run, or numbers are missing.
pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    if let Some(folder) = &request.read {
        println!("{}", table(folder)?);
        return Ok(ExitCode::SUCCESS);
    }
    let programs = build()?;
    if let Some(folder) = &request.pack {
        return pack(&programs, folder, request);
    }
    let folder = paths::target("courier-beside-bevy");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for round in 1..=request.rounds {
        for (side, program) in SIDES.iter().zip(&programs) {
            println!("round {round} of {}: {side}", request.rounds);
            let mut command = Command::new(program);
            command
                .args(arguments(request))
                .arg("--bench-json")
                .arg(folder.join(format!("{side}-{round}.json")))
                .env("BEVY_ASSET_ROOT", &folder);
            if *side == "quadrille" {
                command.args(["--headless", "--bench"]);
            }
            process::run(&format!("courier-{side}"), &mut command, RUN_LIMIT)?;
        }
    }
    println!("{}", table(&folder)?);
    Ok(ExitCode::SUCCESS)
}

/// Arguments that both programs have.
fn arguments(request: &Request) -> Vec<String> {
    let (frames, seed) = (request.frames.to_string(), request.seed.to_string());
    let options = [
        ["--size", &request.size],
        ["--quality", &request.quality],
        ["--seed", &seed],
        ["--frames", &frames],
    ];
    options.concat().into_iter().map(str::to_owned).collect()
}

/// Builds both sides with optimisation, and returns their programs in the order of [`SIDES`].
fn build() -> Result<[PathBuf; 2]> {
    println!("building courier on Quadrille, then on bevy, which takes half an hour once");
    let arguments = ["build", "--release", "--package", "examples"];
    let program = ["--bin", "courier", "--ignore-rust-version"];
    cargo::run("courier-build", &[arguments.as_slice(), &program].concat())?;
    let target = paths::target(TARGET);
    // bevy declares a newer Rust than its crates need.
    let mut command = cargo::command(&["build", "--release", "--locked", "--ignore-rust-version"]);
    command
        .arg("--manifest-path")
        .arg(paths::root().join(FOLDER).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target);
    process::run("courier-on-bevy-build", &mut command, BUILD_LIMIT)?;
    let ours = Workspace::read()?.target.join("release");
    let name = |name: &str| format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Ok([
        target.join("release").join(name("courier_on_bevy")),
        ours.join(name("courier")),
    ])
}

/// Packs both programs, libraries for drivers and the script.
fn pack(programs: &[PathBuf; 2], folder: &Path, request: &Request) -> Result<ExitCode> {
    let staged = paths::target("courier-beside-bevy-pack");
    let _ = fs::remove_dir_all(&staged);
    fs::create_dir_all(&staged).with_context(|| format!("cannot make {}", staged.display()))?;
    for (side, program) in SIDES.iter().zip(programs) {
        let mut strip = Command::new("strip");
        strip.arg("--strip-all").arg("-o").arg(staged.join(side));
        process::run("courier-strip", strip.arg(program), BUILD_LIMIT)?;
    }
    libraries(&staged.join("gl"), &LOADED)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut compress = Command::new("tar");
    compress
        .arg("-C")
        .arg(&staged)
        .arg("-cJf")
        .arg(folder.join("courier.tar.xz"))
        .arg(".");
    process::run("courier-pack", &mut compress, BUILD_LIMIT)?;
    let script = folder.join("run.sh");
    let options = arguments(request).join(" ");
    let text = SCRIPT
        .replace("@OPTIONS@", &options)
        .replace("@ROUNDS@", &request.rounds.to_string());
    fs::write(&script, text).with_context(|| format!("cannot write {}", script.display()))?;
    println!("on the device: bash {} [OUT]", script.display());
    println!("then here: cargo xtask courier-beside-bevy --read OUT");
    Ok(ExitCode::SUCCESS)
}

/// The numbers of a side, of all its rounds in a folder.
fn numbers(folder: &Path, side: &str) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for round in 1.. {
        let path = folder.join(format!("{side}-{round}.json"));
        if !path.exists() {
            break;
        }
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let value = serde_json::from_str(&text);
        found.push(value.with_context(|| format!("{} is not JSON", path.display()))?);
    }
    ensure!(
        !found.is_empty(),
        "no {side}-1.json in {}",
        folder.display()
    );
    Ok(found)
}

/// Returns the table of the numbers in a folder, as Markdown.
fn table(folder: &Path) -> Result<String> {
    let [theirs, ours] = [numbers(folder, SIDES[0])?, numbers(folder, SIDES[1])?];
    let what = ["device", "ride", "frames"].map(|key| &theirs[0][key]);
    for run in theirs.iter().chain(&ours) {
        let other = ["device", "ride", "frames"].map(|key| &run[key]);
        if other != what {
            bail!("runs differ: {what:?} and {other:?}");
        }
    }
    let [device, ride, frames] = what;
    Ok(format!(
        "{}, {}, {frames} frames, {} runs of bevy_pbr and {} of Quadrille in turns\n\n{}",
        device.as_str().unwrap_or("?"),
        ride.as_str().unwrap_or("?"),
        theirs.len(),
        ours.len(),
        rows(&theirs, &ours)
    ))
}

/// Returns the rows: means over the rounds, and their ratio.
fn rows(theirs: &[Value], ours: &[Value]) -> String {
    let mut text = "| | bevy_pbr | Quadrille | ratio |\n|---|---:|---:|---:|\n".to_owned();
    for (name, path, unit) in ROWS {
        let [theirs, ours] = [theirs, ours].map(|runs| mean(runs, path).map(|it| it / unit));
        text += &match theirs.zip(ours) {
            Some((theirs, ours)) => {
                format!(
                    "| {name} | {theirs:.2} | {ours:.2} | {:.2} |\n",
                    ours / theirs
                )
            }
            None => format!("| {name} | unknown | unknown | |\n"),
        };
    }
    text
}

/// Mean of a number over runs; `None` if one has none.
fn mean(runs: &[Value], path: &str) -> Option<f64> {
    let values = runs.iter().map(|run| run.pointer(path)?.as_f64());
    let sum: f64 = values.collect::<Option<Vec<f64>>>()?.iter().sum();
    Some(sum / runs.len() as f64)
}

#[cfg(test)]
#[path = "beside_bevy_tests.rs"]
mod tests;
