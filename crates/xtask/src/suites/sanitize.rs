//! Tests under sanitizers, which find what tests alone do not see: memory that is used after it
//! was freed, or before it was written, or that two threads use at a time.
//!
//! Miri interprets what calls no foreign code, thousands of times slower than it runs: all of
//! `quadrille_sync`, whose tests of random cases take few rounds there, and of `quadrille_ecs` the
//! tests without a device, in which schedules run with recorders and accesses: the unsafe code of
//! its system parameters, and the memory that systems and the renderer share. Not `quadrille_oracle`,
//! which forbids unsafe code as `quadrille_sync` does and depends on nothing else.
//!
//! AddressSanitizer and ThreadSanitizer run the GPU tests on a real driver. All need a nightly
//! toolchain; each builds into a folder of its own. AddressSanitizer also watches what is done after
//! a call has failed, where the validation layer hears nothing of memory: the sweep of
//! `faults/sweep.rs`.

pub(crate) mod threads;

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::host::place;
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
    /// Whether it is among those that were named, or none was.
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
        // Each of their seventy looks at a frame plans it a dozen times over, as those at
        // `advise::sharing` do too, and counts what comes out.
        skipped: &["advise::trial"],
    },
    Interpreted {
        package: "quadrille_ecs",
        // Windows of the system are foreign code.
        arguments: &["--no-default-features"],
        // Tests ask for the time; and bevy's pools have threads that nobody ever ends.
        flags: "-Zmiri-disable-isolation -Zmiri-ignore-leaks",
        skipped: &[],
    },
];
/// Packages whose GPU tests run under AddressSanitizer and ThreadSanitizer.
const WATCHED: [&str; 1] = ["quadrille_vulkan"];

const LIMIT: Duration = Duration::from_secs(60 * 60);
/// Foreign code that keeps memory for as long as the process lives.
const SUPPRESSED: [&str; 4] = ["libLLVM", "libvulkan", "ld-linux", "libxcb"];

/// The toolchain, or how to get it. Only Miri itself needs one that has Miri.
///
/// # Errors
/// When there is none.
pub(crate) fn toolchain(which: &[Sanitizer]) -> Result<String> {
    let mut version = Command::new("cargo");
    // The one that runs this tool would not let another be chosen.
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

/// The packages that are interpreted.
pub(crate) fn interpreted() -> impl Iterator<Item = &'static str> {
    INTERPRETED.iter().map(|known| known.package)
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
    let known = INTERPRETED.iter().find(|known| known.package == package);
    let known = known.with_context(|| format!("{package} is not interpreted"))?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "miri", "test", "--lib", "--package", package])
        .args(known.arguments)
        .arg("--target-dir")
        .arg(place::made("miri"))
        .arg("--")
        .args(known.skipped.iter().flat_map(|name| ["--skip", *name]))
        .env("MIRIFLAGS", known.flags)
        // Errors of bevy take a back trace with them, which takes longer than all else.
        .env("RUST_BACKTRACE", "0");
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
    let mut command = watched_tests(package)?;
    command.args(["--", "--ignored", "--test-threads=1"]);
    let output = process::run(&format!("asan-{package}"), &mut command, LIMIT)?;
    check_silence(&output)?;
    counted(&output)
}

/// Builds the GPU tests of a package with AddressSanitizer; what cargo says in JSON.
///
/// # Errors
/// When they do not build.
pub(crate) fn build(package: &str) -> Result<String> {
    let mut command = watched_tests(package)?;
    command.args(["--no-run", "--message-format=json"]);
    process::run(&format!("asan-{package}-build"), &mut command, LIMIT)
}

/// Cargo, with the GPU tests of a package built with AddressSanitizer.
fn watched_tests(package: &str) -> Result<Command> {
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "test", "--package", package, "--test", "gpu"])
        // With a target, build scripts and macros are built without the sanitizer.
        .args(["--target", &host()?, "--target-dir"])
        .arg(place::made("asan"))
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .current_dir(place::root());
    set_options(&mut command)?;
    outside(&mut command);
    Ok(command)
}

/// Tells a program with AddressSanitizer what to look for.
///
/// # Errors
/// When the list of what is suppressed cannot be written.
pub(crate) fn set_options(command: &mut Command) -> Result<()> {
    let suppressions = place::made("verify").join("sanitize.suppressions.txt");
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

/// Fails if a sanitizer has something to say.
///
/// # Errors
/// With its first line.
pub(crate) fn check_silence(output: &str) -> Result<()> {
    match output.lines().find(|line| line.contains("Sanitizer")) {
        Some(line) => bail!("{line}"),
        None => Ok(()),
    }
}

/// Removes the variables by which cargo names its own toolchain to its children.
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
