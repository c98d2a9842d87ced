//! Child processes with a timeout, a log, and a process group of their own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::host::paths;

/// Polling interval.
const POLL: Duration = Duration::from_millis(20);
/// Interval of messages about a silent child, so that a long build is not mistaken for a hang.
const HEARTBEAT: Duration = Duration::from_secs(60);
/// Number of log lines that a failure shows.
const TAIL_LINES: usize = 60;

/// Set by SIGINT and SIGTERM. The terminal does not signal children, because they have their own process groups; they
/// are killed before this process exits.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // If the handler cannot be set, the signal ends this process by default.
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
});

/// Whether the user has interrupted the run.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Runs a command to its end and returns its output.
///
/// Standard output and error go to `target/verify/NAME.log`.
///
/// # Errors
/// When it cannot be started, fails, or is still running after `limit`; the error ends with
/// the last lines of the log.
pub(crate) fn run(name: &str, command: &mut Command, limit: Duration) -> Result<String> {
    Running::start(name, command)?.finish(limit)
}

/// A running child. Dropping it kills its process group.
pub(crate) struct Running {
    name: String,
    child: Child,
    log: PathBuf,
    started: Instant,
}

impl Running {
    /// Starts a command with its output in `target/verify/NAME.log`.
    ///
    /// # Errors
    /// When the log or the program cannot be opened.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Self> {
        LazyLock::force(&INTERRUPTED);
        let log = log_path(name);
        let output = create(&log)?;
        let errors = output.try_clone().context("cannot share the log")?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        Ok(Self {
            name: name.to_owned(),
            child: spawn(command)?,
            log,
            started: Instant::now(),
        })
    }

    /// Waits for the end, for at most `limit`.
    ///
    /// # Errors
    /// When the timeout or an interrupt ends the wait; the process group is then killed.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let deadline = Instant::now() + limit;
        let mut next_word = self.started + HEARTBEAT;
        loop {
            if let Some(status) = self.child.try_wait().context("cannot wait for a child")? {
                return Ok(status);
            }
            let now = Instant::now();
            if interrupted() {
                end(&mut self.child);
                bail!("interrupted");
            }
            if now >= deadline {
                end(&mut self.child);
                bail!(
                    "{} did not end within {limit:?}\n{}",
                    self.name,
                    self.tail()
                );
            }
            if now >= next_word {
                let minutes = now.duration_since(self.started).as_secs() / 60;
                println!("    {} has been running for {minutes} min", self.name);
                next_word += HEARTBEAT;
            }
            thread::sleep(POLL);
        }
    }

    /// Waits for success and returns the output.
    ///
    /// # Errors
    /// As [`Running::wait`], and when the command fails.
    pub(crate) fn finish(&mut self, limit: Duration) -> Result<String> {
        let status = self.wait(limit)?;
        if !status.success() {
            bail!("{} ended with {status}\n{}", self.name, self.tail());
        }
        Ok(self.output())
    }

    /// Name of its log.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns its output so far.
    pub(crate) fn output(&self) -> String {
        fs::read(&self.log).map_or_else(
            |_| String::new(),
            |bytes| String::from_utf8_lossy(&bytes).into_owned(),
        )
    }

    /// Returns the last lines of its output, with the path of the log.
    pub(crate) fn tail(&self) -> String {
        format!(
            "{}\n(all of it: {})",
            last_lines(&self.output(), TAIL_LINES),
            self.log.display()
        )
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Starts a command as the leader of its own process group.
///
/// # Errors
/// When the program cannot be started.
pub(crate) fn spawn(command: &mut Command) -> Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let program = command.get_program().to_owned();
    command
        .spawn()
        .map_err(|error| anyhow!("cannot start {}: {error}", program.display()))
}

/// Kills a child with its process group, and reaps it.
pub(crate) fn end(child: &mut Child) {
    // The `kill` program can signal a group, which the standard library cannot without unsafe code. The group may
    // outlive its leader, so it is killed even if the leader has ended.
    if cfg!(unix) {
        let _ = Command::new("sh")
            .args([
                "-c",
                "kill -KILL \"-$1\" 2>/dev/null",
                "sh",
                &child.id().to_string(),
            ])
            .stdin(Stdio::null())
            .status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Path of a step's log.
fn log_path(name: &str) -> PathBuf {
    let file: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '.' {
                c
            } else {
                '_'
            }
        })
        .collect();
    paths::target("verify").join(file + ".log")
}

fn create(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    File::create(path).with_context(|| format!("cannot write {}", path.display()))
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests;
