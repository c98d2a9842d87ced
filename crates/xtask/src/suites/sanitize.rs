//! Tests under sanitizers, which detect use after free, uninitialized reads and data races.
//!
//! Miri interprets code without foreign calls, thousands of times slower than native. It runs all of `quadrille_sync`,
//! whose random tests use few rounds there. Of `quadrille_ecs` it runs the tests without a device, which run schedules
//! with recorders and accesses. These cover the unsafe code of system parameters, and the memory shared by systems and
//! the renderer. `quadrille_oracle` is excluded: it forbids unsafe code like `quadrille_sync`, and has no other
//! dependency.
//!
//! AddressSanitizer and ThreadSanitizer run the GPU tests on a real driver. All need a nightly toolchain, and each
//! builds into its own folder. AddressSanitizer also checks error paths after failed calls, whose memory errors the
//! validation layer does not see: the sweep of `faults/sweep.rs`.

pub(crate) mod threads;

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::host::paths;
use crate::host::process;
use crate::suites::gpu::passed;

/// A sanitizer.
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
    /// Whether it is among the requested ones, or none was requested.
    pub(crate) fn is_asked(self, which: &[Self]) -> bool {
        which.is_empty() || which.contains(&self)
    }
}

/// A package whose tests Miri interprets.
struct Interpreted {
    package: &'static str,
    /// Further arguments of cargo.
    arguments: &'static [&'static str],
    /// Flags of Miri.
    flags: &'static str,
    /// Tests that are left out.
    skipped: &'static [&'static str],
}

const INTERPRETED: [Interpreted; 2] = [
    Interpreted {
        package: "quadrille_sync",
        arguments: &[],
        // Tests read cases from files.
        flags: "-Zmiri-disable-isolation",
        // Each of its seventy trials plans a frame a dozen times, like those of `advise::sharing`.
        skipped: &["advise::trial"],
    },
    Interpreted {
        package: "quadrille_ecs",
        // Windowing libraries are foreign code.
        arguments: &["--no-default-features"],
        // Tests read the clock, and threads of bevy's task pools never end.
        flags: "-Zmiri-disable-isolation -Zmiri-ignore-leaks",
        skipped: &[],
    },
];
/// Packages whose GPU tests run under AddressSanitizer and ThreadSanitizer.
const WATCHED: [&str; 1] = ["quadrille_vulkan"];

const LIMIT: Duration = Duration::from_secs(60 * 60);
/// Foreign code that keeps memory for the lifetime of the process.
const SUPPRESSED: [&str; 4] = ["libLLVM", "libvulkan", "ld-linux", "libxcb"];

/// Returns the toolchain, or instructions to install it. Only Miri needs a toolchain with Miri.
///
/// # Errors
/// When there is none.
pub(crate) fn toolchain(which: &[Sanitizer]) -> Result<String> {
    let mut version = Command::new("cargo");
    // The variables of the toolchain that runs this tool would override `+nightly`.
    version.arg("+nightly");
    if Sanitizer::Miri.is_asked(which) {
        version.arg("miri");
    }
    version.arg("--version");
    let output = outside(&mut version).output();
    let output = output.context("cargo cannot be started")?;
    ensure!(
        output.status.success(),
        "there is no nightly toolchain, or it lacks Miri; run `rustup toolchain install nightly \
         --component miri,rust-src`"
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the packages that Miri interprets.
pub(crate) fn interpreted() -> impl Iterator<Item = &'static str> {
    INTERPRETED.iter().map(|known| known.package)
}

/// Returns the packages whose GPU tests run under sanitizers.
pub(crate) fn watched() -> impl Iterator<Item = &'static str> {
    WATCHED.into_iter()
}

/// Interprets the tests of a package's library.
///
/// # Errors
/// When a test fails, or none runs.
pub(crate) fn interpret(package: &str) -> Result<String> {
    let known = INTERPRETED.iter().find(|known| known.package == package);
    let known = known.with_context(|| format!("{package} is not interpreted"))?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "miri", "test", "--lib", "--package", package])
        .args(known.arguments)
        .arg("--target-dir")
        .arg(paths::target("miri"))
        .arg("--")
        .args(known.skipped.iter().flat_map(|name| ["--skip", *name]))
        .env("MIRIFLAGS", known.flags)
        // Errors of bevy capture a backtrace, which takes longer than everything else.
        .env("RUST_BACKTRACE", "0");
    let output = process::run(
        &format!("miri-{package}"),
        outside(&mut command).current_dir(paths::root()),
        LIMIT,
    )?;
    counted(&output)
}

/// Runs the GPU tests of a package with AddressSanitizer and LeakSanitizer.
///
/// # Errors
/// When a test fails, a sanitizer reports an error, or no test runs.
pub(crate) fn watch(package: &str) -> Result<String> {
    let mut command = watched_tests(package)?;
    command.args(["--", "--ignored", "--test-threads=1"]);
    let output = process::run(&format!("asan-{package}"), &mut command, LIMIT)?;
    check_silence(&output)?;
    counted(&output)
}

/// Builds the GPU tests of a package with AddressSanitizer; returns cargo's JSON messages.
///
/// # Errors
/// When they do not build.
pub(crate) fn build(package: &str) -> Result<String> {
    let mut command = watched_tests(package)?;
    command.args(["--no-run", "--message-format=json"]);
    process::run(&format!("asan-{package}-build"), &mut command, LIMIT)
}

/// Returns a cargo command for the GPU tests of a package with AddressSanitizer.
fn watched_tests(package: &str) -> Result<Command> {
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "test", "--package", package, "--test", "gpu"])
        // With an explicit target, build scripts and macros are built without the sanitizer.
        .args(["--target", &host()?, "--target-dir"])
        .arg(paths::target("asan"))
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .current_dir(paths::root());
    set_options(&mut command)?;
    outside(&mut command);
    Ok(command)
}

/// Sets the options of AddressSanitizer for a program.
///
/// # Errors
/// When the list of suppressions cannot be written.
pub(crate) fn set_options(command: &mut Command) -> Result<()> {
    let suppressions = paths::target("verify").join("sanitize.suppressions.txt");
    let lines = SUPPRESSED.map(|library| format!("leak:{library}\n"));
    std::fs::write(&suppressions, lines.concat())
        .with_context(|| format!("cannot write {}", suppressions.display()))?;
    command
        .env("ASAN_OPTIONS", "detect_stack_use_after_return=1")
        .env(
            "LSAN_OPTIONS",
            format!(
                "suppressions={}:print_suppressions=0",
                suppressions.display()
            ),
        );
    Ok(())
}

/// Fails if a sanitizer reports an error.
///
/// # Errors
/// Quotes its first line.
pub(crate) fn check_silence(output: &str) -> Result<()> {
    match output.lines().find(|line| line.contains("Sanitizer")) {
        Some(line) => bail!("{line}"),
        None => Ok(()),
    }
}

/// Removes the variables with which cargo passes its own toolchain to child processes.
fn outside(command: &mut Command) -> &mut Command {
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// Returns the target triple of this machine.
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
