//! GPU tests: found by name, run under the validation layer.

use std::env;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::host::built::{Built, Program};
use crate::host::process;
use crate::setup::layer::{Layer, TOPOLOGIES};
use crate::setup::validation::{self, Stack};

/// Features and extensions to hide, one set per line: commands and state that need them must be rejected or replaced.
const SPARED: [&str; 3] = [
    "independentBlend",
    "multiDrawIndirect",
    "samplerAnisotropy,VK_EXT_conditional_rendering",
];

/// Packages and topologies (`None`: the driver's own queue) whose tests plan each frame as if the frames in flight were
/// still running: lavapipe completes a frame before the next one begins, so hazards between frames would not show. Other
/// topologies are excluded: on several queues, the validation layer does not always derive from a host wait the earlier
/// work that the queue had waited for (`quadrille_layer/README.md`, "One message to doubt").
const OVERLAPPING: [(&str, Option<&str>); 3] = [
    ("quadrille_ecs", Some(TOPOLOGIES[3])),
    ("quadrille_2d", Some(TOPOLOGIES[3])),
    ("quadrille_3d", None),
];

/// Packages whose transient resources share memory in tests too. The tests of others choose that themselves.
const ALIASING: [&str; 2] = ["quadrille_2d", "quadrille_3d"];

/// Variable with flags of lavapipe's compiler.
const LAVAPIPE_FLAGS: &str = "GALLIVM_PERF";

const LIMIT: Duration = Duration::from_secs(30 * 60);

const LIST_LIMIT: Duration = Duration::from_secs(60);

/// Maximum number of tests of a [`Part`].
const PART: usize = 64;

/// Tests of a program that run in one process. A program with many tests has several parts, which run concurrently.
pub(crate) struct Part<'a> {
    program: &'a Program,
    tests: Vec<String>,
    /// From 1.
    number: usize,
    parts: usize,
}

impl<'a> Part<'a> {
    /// Splits the ignored tests of a program into parts of nearly equal numbers. Neighbors, which often take equally
    /// long, are in different parts.
    ///
    /// # Errors
    /// When the program cannot list its tests, or has no ignored ones, which would prove nothing.
    pub(crate) fn of(stack: &Stack, program: &'a Program) -> Result<Vec<Self>> {
        let (package, name) = (program.package(), &program.name);
        let mut command = stack.command(&program.path);
        command.args(["--list", "--format=terse", "--ignored"]);
        let output = process::run(&format!("{package}-{name}-list"), &mut command, LIST_LIMIT)?;
        let tests: Vec<&str> = listed(&output).collect();
        ensure!(
            !tests.is_empty(),
            "{package} has a test program `{name}` without an #[ignore]d test"
        );
        let parts = tests.len().div_ceil(PART);
        let part = |number: usize| Self {
            program,
            tests: tests[number - 1..]
                .iter()
                .step_by(parts)
                .map(|&test| test.to_owned())
                .collect(),
            number,
            parts,
        };
        Ok((1..=parts).map(part).collect())
    }

    /// Returns the name of its step without a topology: package, program and, of several parts, the number.
    pub(crate) fn name(&self) -> String {
        let name = format!("{} {}", self.program.package(), self.program.name);
        match self.parts {
            1 => name,
            parts => format!("{name} {} of {parts}", self.number),
        }
    }

    /// Runs its tests sequentially under validation, on virtual queues if a layer and a topology are given.
    ///
    /// Returns the number of passed tests.
    ///
    /// # Errors
    /// When a test fails or is not run.
    pub(crate) fn run(&self, stack: &Stack, queues: Option<(&Layer, &str)>) -> Result<String> {
        let mut command = command(stack, self.program);
        command.arg("--exact").args(&self.tests);
        let package = self.program.package();
        let mut name = self.name().replace(' ', "-");
        if let Some((layer, families)) = queues {
            layer.apply(&mut command, families);
            name = format!("{name}-{families}");
        }
        let families = queues.map(|(_, families)| families);
        let is_overlapping = OVERLAPPING.contains(&(package, families));
        if is_overlapping {
            command.env("QUADRILLE_PROGRESS", "waited");
        }
        // The validation layer does not know that images share memory, which it notices if frames overlap and it
        // follows them exactly, as on one queue (`quadrille_layer/README.md`).
        if ALIASING.contains(&package) && (!is_overlapping || families.is_some()) {
            command.env("QUADRILLE_ALIASING", "1");
        }
        let output = validation::run(&name, &mut command, LIMIT)?;
        let count = passed(&output).context("the test program printed no result")?;
        let tests = self.tests.len();
        // Tests may start the program again, whose results are in the output too.
        ensure!(count as usize >= tests, "{count} of {tests} tests ran");
        Ok(format!("{count} tests"))
    }
}

/// Returns the names of the tests in the output of `--list --format=terse`.
fn listed(output: &str) -> impl Iterator<Item = &str> {
    output
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
}

/// Runs the tests with random commands and descriptions on devices without each line of [`SPARED`]. Uses of the hidden
/// features must be rejected or replaced, without validation messages.
///
/// # Errors
/// When a test fails, and when there is none.
pub(crate) fn spare(stack: &Stack, built: &Built, layer: &Layer, families: &str) -> Result<String> {
    for hidden in SPARED {
        for package in ["quadrille_vulkan", "quadrille_ecs"] {
            let mut command = command(stack, built.gpu_test(package)?);
            layer.apply(&mut command, families);
            command
                .arg("anything::")
                .env("QUADRILLE_LAYER_HIDE", hidden);
            let name = format!("{package}-gpu-without-{}", hidden.replace(',', "-"));
            let output = validation::run(&name, &mut command, LIMIT)?;
            ensure!(
                passed(&output).is_some_and(|count| count > 0),
                "no test of {package} ran without {hidden}"
            );
        }
    }
    Ok(format!("without {}", SPARED.join(", ")))
}

/// Returns the command for the ignored tests of a program, sequentially, in the working directory that cargo would use.
///
/// lavapipe does not optimize shaders, unless the environment says otherwise: for the small pictures of tests, optimizing
/// takes longer than it saves (31 s of CPU time instead of 14 for a test with eight deferred pictures).
fn command(stack: &Stack, program: &Program) -> Command {
    let mut command = stack.command(&program.path);
    if env::var_os(LAVAPIPE_FLAGS).is_none() {
        command.env(LAVAPIPE_FLAGS, "nopt");
    }
    command
        .args(["--ignored", "--test-threads=1"])
        .current_dir(program.folder())
        .env("CARGO_MANIFEST_DIR", program.folder());
    command
}

/// Returns the number of passed tests, from the summary lines.
pub(crate) fn passed(output: &str) -> Option<u32> {
    output
        .lines()
        .filter_map(|line| {
            line.strip_prefix("test result: ok. ")?
                .split(' ')
                .next()?
                .parse::<u32>()
                .ok()
        })
        .reduce(|sum, count| sum + count)
}

#[cfg(test)]
mod tests {
    use super::{listed, passed};

    #[test]
    fn tests_are_listed() {
        let output = "bloom::is_bright: test\nsizes: benchmark\nssao::corners: test\n";
        let tests: Vec<&str> = listed(output).collect();
        assert_eq!(tests, ["bloom::is_bright", "ssao::corners"], "tests alone");
    }

    #[test]
    fn passed_tests_are_counted() {
        let output = "running 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored\n";
        assert_eq!(passed(output), Some(3), "the line that sums up");
        assert_eq!(passed("running 0 tests\n"), None, "cut off");
    }
}
