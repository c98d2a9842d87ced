//! The program under fault injection, and a run of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use crate::host::built::Built;
use crate::host::paths;
use crate::host::process;
use crate::setup::layer::{self, Layer};
use crate::setup::validation::{self, Stack};
use crate::suites::gpu;
use crate::suites::sanitize;

const LIMIT: Duration = Duration::from_secs(90);
const TEST: &str = "faults::a_program_survives_faults";

/// Number of concurrent runs.
const WORKERS: usize = 2;

/// Calls that the validation layer (seen in 1.4.363) treats as successful even if they fail, so that it misjudges
/// everything after them. These are run without it.
const MISJUDGED: [&str; 3] = [
    "vkQueueSubmit2",
    "vkQueuePresentKHR",
    "vkGetSwapchainImagesKHR",
];

/// Check of a run, besides the program's own checks.
enum Judge<'a> {
    /// The validation layer.
    Validation(&'a Stack),
    /// AddressSanitizer, which the program was built with.
    Address,
}

/// The program under fault injection.
pub(crate) struct Program<'a> {
    judge: Judge<'a>,
    layer: &'a Layer,
    path: PathBuf,
}

/// A run with injected faults.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) script: String,
    pub(super) frames: u32,
    pub(super) families: &'static str,
    /// Whether presents have fences.
    pub(super) fences: bool,
    /// Further variables for the layer and the program.
    pub(super) environment: Vec<(&'static str, &'static str)>,
}

impl<'a> Program<'a> {
    /// Returns the program from the built ones.
    ///
    /// # Errors
    /// When it was not built.
    pub(crate) fn of(built: &Built, stack: &'a Stack, layer: &'a Layer) -> Result<Self> {
        Ok(Self {
            judge: Judge::Validation(stack),
            layer,
            path: built.gpu_test("quadrille_vulkan")?.path.clone(),
        })
    }

    /// Builds the program with AddressSanitizer, which then replaces the validation layer.
    ///
    /// # Errors
    /// When it does not build.
    pub(crate) fn build_sanitized(layer: &'a Layer) -> Result<Self> {
        let output = sanitize::build("quadrille_vulkan")?;
        let path = output
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["target"]["name"] == "gpu")
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .context("cargo names no test program")?;
        let judge = Judge::Address;
        Ok(Self { judge, layer, path })
    }

    /// Runs faults concurrently; returns the output of each.
    pub(super) fn run_all(&self, faults: &[Fault]) -> Result<Vec<String>> {
        let next = AtomicUsize::new(0);
        let failed = Mutex::new(Vec::new());
        let outputs = Mutex::new(vec![String::new(); faults.len()]);
        let work = |worker: usize| {
            let name = format!("faults-{worker}");
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(fault) = faults.get(at).filter(|_| !process::interrupted()) else {
                    return;
                };
                match self.run(&name, fault, None) {
                    Ok(output) => lock(&outputs)[at] = output,
                    Err(error) => lock(&failed).push(format!("{fault:?}: {error:#}")),
                }
            }
        };
        thread::scope(|scope| {
            for worker in 0..WORKERS {
                scope.spawn(move || work(worker));
            }
        });
        let failed = std::mem::take(&mut *lock(&failed));
        match failed.first() {
            None => Ok(std::mem::take(&mut *lock(&outputs))),
            Some(first) => Err(anyhow!(
                "{} of {} fail; {first}",
                failed.len(),
                faults.len()
            )),
        }
    }

    /// Runs the program with its own and further checks; returns its output.
    pub(super) fn run(&self, name: &str, fault: &Fault, log: Option<&Path>) -> Result<String> {
        self.run_test(name, TEST, fault, log)
    }

    /// Runs another test of the program.
    pub(super) fn run_test(
        &self,
        name: &str,
        test: &str,
        fault: &Fault,
        log: Option<&Path>,
    ) -> Result<String> {
        let script = paths::target("verify").join(format!("{name}.script.txt"));
        std::fs::write(&script, &fault.script)
            .with_context(|| format!("cannot write {}", script.display()))?;
        let out_of_memory =
            fault.script.contains("OUT_OF_HOST") || fault.script.contains("OUT_OF_DEVICE");
        let believes_counters = fault.script.contains("counter max waits");
        let misjudged = believes_counters
            || MISJUDGED.iter().any(|call| fault.script.contains(call))
                && (out_of_memory || fault.script.contains("vkGetSwapchainImagesKHR"));
        let mut command = match self.judge {
            Judge::Validation(stack) if !misjudged => stack.command(&self.path),
            _ => Command::new(&self.path),
        };
        command
            .args(["--ignored", "--exact", test, "--nocapture"])
            .env("QUADRILLE_FAULT_FRAMES", fault.frames.to_string());
        // Without a script, the program requires a run without faults.
        if !fault.script.is_empty() {
            command.env("QUADRILLE_LAYER_SCRIPT", &script);
        }
        if !fault.fences {
            command.env("QUADRILLE_PRESENT_FENCES", "0");
        }
        if let Some(log) = log {
            command.env("QUADRILLE_LAYER_LOG", log);
        }
        self.layer.apply(&mut command, fault.families);
        command.envs(fault.environment.iter().copied());
        let output = match self.judge {
            Judge::Validation(_) if !misjudged => validation::run(name, &mut command, LIMIT)?,
            Judge::Validation(_) => process::run(name, &mut command, LIMIT)?,
            Judge::Address => {
                sanitize::set_options(&mut command)?;
                // Mesa's implicit layer treats a failed query of extensions as an empty list.
                command.env("VK_LOADER_LAYERS_DISABLE", "~implicit~");
                let output = process::run(name, &mut command, LIMIT)?;
                sanitize::check_silence(&output)?;
                output
            }
        };
        layer::check_taken(&output)?;
        match gpu::passed(&output) {
            Some(1) => Ok(output),
            _ => Err(anyhow!("the program did not run its test")),
        }
    }
}

/// Locks a mutex, even if a worker has panicked.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
