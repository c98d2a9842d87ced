//! ThreadSanitizer, which detects data races.
//!
//! The standard library is built with it too; otherwise locks would not count as ordering. The driver is not, so races
//! within its own memory are ignored. A deliberately racy program proves that races in our code are detected.

use std::process::Command;

use anyhow::{Result, bail, ensure};

use super::{LIMIT, counted, host, outside};
use crate::host::paths;
use crate::host::process::{self, Running};

/// Exit code of a program with a race.
const RACE: i32 = 66;
const REPORT: &str = "ThreadSanitizer: data race";

/// Runs the GPU tests of a package.
///
/// # Errors
/// When a test fails, there is a race, or no test runs.
pub(crate) fn watch(package: &str) -> Result<String> {
    let mut command = command("test")?;
    command.args(["--package", package, "--test", "gpu"]).args([
        "--",
        "--ignored",
        "--test-threads=1",
    ]);
    let output = process::run(&format!("tsan-{package}"), &mut command, LIMIT)?;
    if let Some(line) = output.lines().find(|line| line.contains(REPORT)) {
        bail!("{line}");
    }
    counted(&output)
}

/// Runs the program that has a race.
///
/// # Errors
/// When the race is not reported.
pub(crate) fn canary() -> Result<String> {
    let mut command = command("run")?;
    command.args(["--package", "quadrille_canary", "--bin", "race"]);
    let mut running = Running::start("tsan-canary", &mut command)?;
    let status = running.wait(LIMIT)?;
    ensure!(
        status.code() == Some(RACE) && running.output().contains(REPORT),
        "a race was not found; the program ended with {status}\n{}",
        running.tail()
    );
    Ok("a race is found".to_owned())
}

/// Returns a cargo command that builds everything for ThreadSanitizer.
fn command(what: &str) -> Result<Command> {
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", what, "-Zbuild-std", "--target", &host()?])
        .arg("--target-dir")
        .arg(paths::target("tsan"))
        .env("RUSTFLAGS", "-Zsanitizer=thread")
        .env(
            "TSAN_OPTIONS",
            format!("ignore_noninstrumented_modules=1:exitcode={RACE}"),
        )
        .current_dir(paths::root());
    outside(&mut command);
    Ok(command)
}
