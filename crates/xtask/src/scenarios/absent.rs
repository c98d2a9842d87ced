//! Systems without a part of Vulkan: the loader, a driver, or the validation layer. A missing requirement is reported
//! in one line that says what to install, with an exit code; without the layer programs run.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::host::paths;
use crate::host::process::Running;

const LIMIT: Duration = Duration::from_secs(60);
/// Exit code of examples without a device.
const NO_DEVICE: i32 = 2;

/// A system, with the expected output of a program.
struct System {
    lacks: &'static str,
    environment: &'static [(&'static str, &'static str)],
    code: i32,
    /// Level of the log line about it, and parts of its text.
    level: &'static str,
    says: &'static str,
}

const SYSTEMS: [System; 3] = [
    System {
        lacks: "loader",
        environment: &[],
        code: NO_DEVICE,
        level: "ERROR",
        says: "the Vulkan loader cannot be loaded",
    },
    System {
        lacks: "driver",
        environment: &[("VK_DRIVER_FILES", "/nonexistent")],
        code: NO_DEVICE,
        level: "ERROR",
        says: "no Vulkan device is found. Install a driver",
    },
    System {
        lacks: "layer",
        environment: &[
            ("QUADRILLE_VALIDATION", "1"),
            ("VK_LAYER_PATH", "/nonexistent"),
        ],
        code: 0,
        level: "WARN",
        says: "validation layer is not installed",
    },
];

/// Runs a program on each system.
///
/// # Errors
/// When the exit code or the output differs.
pub(crate) fn check(program: &Path) -> Result<String> {
    for system in &SYSTEMS {
        run(program, system).with_context(|| format!("without a {}", system.lacks))?;
    }
    let lacks = SYSTEMS.map(|system| system.lacks);
    Ok(format!("one line each without {}", lacks.join(", ")))
}

fn run(program: &Path, system: &System) -> Result<()> {
    let mut command = Command::new(program);
    command
        .current_dir(paths::root())
        .args(["--headless", "--frames", "3"])
        .env("RUST_LOG", "warn")
        .envs(system.environment.iter().copied());
    if system.lacks == "loader" {
        command.env("LD_LIBRARY_PATH", without_loader()?);
    }
    let name = format!("absent-{}", system.lacks);
    let mut running = Running::start(&name, &mut command)?;
    let status = running.wait(LIMIT)?;
    let output = running.output();
    ensure!(
        status.code() == Some(system.code),
        "it ended with {status}\n{output}"
    );
    let lines: Vec<_> = output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    ensure!(
        lines.len() == 1 && lines[0].contains(system.level) && lines[0].contains(system.says),
        "it said\n{output}"
    );
    Ok(())
}

/// Creates a folder with invalid libraries of the loader's names, so that searching it first finds no loader.
fn without_loader() -> Result<std::path::PathBuf> {
    let folder = paths::target("verify").join("no-loader");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for name in ["libvulkan.so", "libvulkan.so.1"] {
        fs::write(folder.join(name), "").context("cannot write")?;
    }
    Ok(folder)
}
