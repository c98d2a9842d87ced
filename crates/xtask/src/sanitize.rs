//! Tests under sanitizers, which find what tests alone do not see: memory that is used after it
//! was freed, or before it was written, or that two threads use at a time.
//!
//! Miri interprets the crates that call no foreign code, a hundred times slower than they run, so
//! tests that repeat something many times are left to the other tests. AddressSanitizer and
//! ThreadSanitizer run the GPU tests on a real driver. All need a nightly toolchain; each builds into
//! a folder of its own.

pub(crate) mod threads;

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::gpu::passed;
use crate::{place, process};

/// What watches a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sanitizer {
    /// An interpreter, without a GPU
    Miri,
    /// AddressSanitizer and LeakSanitizer
    Address,
    /// ThreadSanitizer
    Thread,
}

impl Sanitizer {
    /// Whether it is among those that were named, or none was.
    pub(crate) fn is_asked(self, which: &[Self]) -> bool {
        which.is_empty() || which.contains(&self)
    }
}

/// What Miri interprets: the package, and what is left out of its tests.
const INTERPRETED: [(&str, &[&str]); 1] = [(
    "quadrille_sync",
    // Thousands of random cases each; and tables of every pair of accesses.
    &[
        "random",
        "model_tests",
        "text::tests",
        "no_named_access_can_be_spelled_out",
        "reachability_agrees_with_a_search",
        "states_that_move_on_in_place",
        "a_glance_sees_what_the_long_way_finds",
    ],
)];
/// Whose GPU tests AddressSanitizer and ThreadSanitizer watch.
const WATCHED: [&str; 1] = ["quadrille_vulkan"];

const LIMIT: Duration = Duration::from_secs(60 * 60);
/// Foreign code that keeps memory for as long as the process lives.
const SUPPRESSED: [&str; 4] = ["libLLVM", "libvulkan", "ld-linux", "libxcb"];

/// The toolchain, or how to get it.
///
/// # Errors
/// When there is none.
pub(crate) fn toolchain() -> Result<String> {
    let mut version = Command::new("cargo");
    // The one that runs this tool would not let another be chosen.
    version.args(["+nightly", "miri", "--version"]);
    let output = outside(&mut version).output();
    let output = output.context("cargo cannot be started")?;
    ensure!(
        output.status.success(),
        "there is no nightly toolchain with Miri; run `rustup toolchain install nightly \
         --component miri,rust-src`"
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The packages that are interpreted.
pub(crate) fn interpreted() -> impl Iterator<Item = &'static str> {
    INTERPRETED.iter().map(|(package, _)| *package)
}

/// The packages whose GPU tests are watched.
pub(crate) fn watched() -> impl Iterator<Item = &'static str> {
    WATCHED.into_iter()
}

/// Interprets the tests of a package's library.
///
/// # Errors
/// When a test fails, or none runs.
pub(crate) fn interpret(package: &str) -> Result<String> {
    let known = INTERPRETED.iter().find(|(known, _)| *known == package);
    let (_, skipped) = known.with_context(|| format!("{package} is not interpreted"))?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "miri", "test", "--lib", "--package", package])
        .arg("--target-dir")
        .arg(place::made("miri"))
        .arg("--")
        .args(skipped.iter().flat_map(|name| ["--skip", *name]))
        // Some tests read cases from files.
        .env("MIRIFLAGS", "-Zmiri-disable-isolation");
    let output = process::run(
        &format!("miri-{package}"),
        outside(&mut command).current_dir(place::root()),
        LIMIT,
    )?;
    counted(&output)
}

/// Runs the GPU tests of a package with AddressSanitizer and LeakSanitizer.
///
/// # Errors
/// When a test fails, a sanitizer has something to say, or no test runs.
pub(crate) fn watch(package: &str) -> Result<String> {
    let suppressions = place::made("verify").join("sanitize.suppressions.txt");
    let lines = SUPPRESSED.map(|library| format!("leak:{library}\n"));
    std::fs::write(&suppressions, lines.concat())
        .with_context(|| format!("cannot write {}", suppressions.display()))?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "test", "--package", package, "--test", "gpu"])
        // With a target, build scripts and macros are built without the sanitizer.
        .args(["--target", &host()?, "--target-dir"])
        .arg(place::made("asan"))
        .args(["--", "--ignored", "--test-threads=1"])
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("ASAN_OPTIONS", "detect_stack_use_after_return=1")
        .env(
            "LSAN_OPTIONS",
            format!(
                "suppressions={}:print_suppressions=0",
                suppressions.display()
            ),
        );
    let output = process::run(
        &format!("asan-{package}"),
        outside(&mut command).current_dir(place::root()),
        LIMIT,
    )?;
    if let Some(line) = output.lines().find(|line| line.contains("Sanitizer")) {
        bail!("{line}");
    }
    counted(&output)
}

/// The same command without what cargo tells its children, which names its own toolchain.
fn outside(command: &mut Command) -> &mut Command {
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// The triple of this machine.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.context("rustc cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("rustc does not name its host")?.to_owned())
}

fn counted(output: &str) -> Result<String> {
    match passed(output) {
        None | Some(0) => bail!("no test ran"),
        Some(count) => Ok(format!("{count} tests")),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn a_run_without_tests_proves_nothing() {
        let line = |count| format!("test result: ok. {count} passed; 0 failed\n");
        assert!(counted(&line(3)).is_ok(), "three tests");
        assert!(counted(&line(0)).is_err(), "none");
        assert!(counted("").is_err(), "cut off");
    }
}
