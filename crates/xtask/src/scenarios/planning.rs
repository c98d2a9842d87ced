//! `bench-plan`: duration of planning, and its growth.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::host::cargo;

/// Builds and runs the measurement in release mode, and prints the CPU's name.
///
/// # Errors
/// When it cannot be built or fails.
pub(crate) fn run() -> Result<ExitCode> {
    run_example("scale")?;
    println!();
    run_example("tables")
}

/// Measures the planning of realistic frames, and counts the contents of the plans.
///
/// # Errors
/// When it cannot be built or fails.
pub(crate) fn run_frames() -> Result<ExitCode> {
    run_example("frames")
}

fn run_example(example: &str) -> Result<ExitCode> {
    println!("{}, one core\n", cpu());
    let arguments = "run --quiet --release --package quadrille_sync --example";
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    arguments.push(example);
    let status = cargo::command(&arguments).status()?;
    if !status.success() {
        bail!("the measurement failed: {status}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Name of the CPU, if the system reports it.
pub(crate) fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or("unknown processor".into(), |(_, name)| name.trim().into())
}
