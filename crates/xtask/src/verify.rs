//! `cargo verify`: sets up the machine, then runs all checks of this checkout.

mod steps;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::faults::program::Program;
use crate::faults::recover;
use crate::faults::sweep::Depth;
use crate::host::built::{self, Built};
use crate::host::cargo::{self, Workspace};
use crate::host::paths;
use crate::scenarios::absent;
use crate::scenarios::canary;
use crate::scenarios::counts;
use crate::scenarios::examples as example;
use crate::scenarios::life;
use crate::scenarios::minimised;
use crate::scenarios::schedules;
use crate::scenarios::soak as soaked;
use crate::scenarios::stuck;
use crate::scenarios::window;
use crate::scenarios::with_bevy;
use crate::setup::layer::{Build, Layer, TOPOLOGIES};
use crate::setup::machine;
use crate::setup::packages::Purpose;
use crate::setup::validation::{self, Stack};
use crate::suites::gpu as gpu_test;
use crate::suites::sanitize;
use crate::suites::sanitize::{Sanitizer, threads};
use crate::tidy;
use crate::verify::steps::{Check, Steps};

/// A soak of seconds, which checks that soaks work.
const SHORT_SOAK: soaked::Dose = soaked::Dose {
    frames: 300,
    seed: 1,
};

/// Topology on which [`verify`] runs GPU programs in addition to the driver's single queue: one queue of each kind,
/// each in its own family. `cargo xtask gpu` and `cargo xtask examples` use all topologies.
const FAMILIES: &str = TOPOLOGIES[3];

/// Runs all steps. Quick steps that often fail come before those that take minutes.
///
/// # Errors
/// When cargo cannot describe the workspace. A failed step is counted instead.
pub(crate) fn verify() -> Result<ExitCode> {
    let mut steps = Steps::default();
    let setup = set_up(&mut steps)?;
    steps.check("format", || {
        cargo::run("format", &["fmt", "--all", "--check"]).map(|_| String::new())
    });
    steps.check("tidy", tidy::check);
    steps.check("clippy", || {
        let arguments = [
            &["clippy", "--all-targets"],
            &built::WHOLE[..],
            &["--", "-D", "warnings"],
        ];
        cargo::run("clippy", &arguments.concat()).map(|_| String::new())
    });
    steps.check("docs", || {
        cargo::run("docs", &["doc", "--workspace", "--no-deps", "--lib"]).map(|_| String::new())
    });
    let built = build(&mut steps);
    let tests = Check::new("tests".to_owned(), || {
        let arguments = [&["test", "--no-fail-fast"], &built::WHOLE[..]];
        cargo::run("tests", &arguments.concat()).map(|output| counted(&output))
    });
    if let (Some(setup), Some(built)) = (setup, built) {
        let bench = setup.with(built);
        let mut checks = vec![tests, on_bevy(&bench)];
        for queues in bench.topologies() {
            checks.extend(gpu_tests(&bench, queues));
            checks.extend(example_runs(&bench, queues));
        }
        steps.side_by_side(&checks);
        run_faults(&mut steps, &bench, Depth::Sample);
        run_on_displays(&mut steps, &bench);
    } else {
        steps.side_by_side(&[tests]);
        steps.skip(
            "GPU tests and examples",
            "no programs, or no validation stack to run them under",
        );
    }
    Ok(steps.finish())
}

/// Runs only the GPU tests, each on every topology.
///
/// # Errors
/// As [`verify`].
pub(crate) fn gpu() -> Result<ExitCode> {
    alone(|steps, mut bench| {
        bench.all_topologies = true;
        let checks: Vec<_> = bench
            .topologies()
            .flat_map(|queues| gpu_tests(&bench, queues))
            .collect();
        steps.side_by_side(&checks);
    })
}

/// Runs only the examples, each on every topology.
///
/// # Errors
/// As [`verify`].
pub(crate) fn examples() -> Result<ExitCode> {
    alone(|steps, mut bench| {
        bench.all_topologies = true;
        let runs = bench
            .topologies()
            .flat_map(|queues| example_runs(&bench, queues));
        let checks: Vec<_> = runs.chain([on_bevy(&bench)]).collect();
        steps.side_by_side(&checks);
        run_on_displays(steps, &bench);
    })
}

/// Runs all faults: the traps, and each call of a short program.
///
/// # Errors
/// As [`verify`].
pub(crate) fn faults() -> Result<ExitCode> {
    alone(|steps, bench| run_faults(steps, &bench, Depth::Whole))
}

/// Runs the example with several windows: resized, closed, and without its device.
///
/// # Errors
/// As [`verify`].
pub(crate) fn windows() -> Result<ExitCode> {
    alone(|steps, bench| run_windows(steps, &bench, Depth::Whole))
}

/// Runs tests under sanitizers: Miri without a GPU, AddressSanitizer and ThreadSanitizer with one.
///
/// # Errors
/// Never; a failed step is counted instead.
pub(crate) fn sanitize(which: &[Sanitizer], whole: bool) -> Result<ExitCode> {
    let mut steps = Steps::default();
    let toolchain = steps.run("nightly toolchain", || {
        Ok(((), sanitize::toolchain(which)?))
    });
    if toolchain.is_none() {
        return Ok(steps.finish());
    }
    if Sanitizer::Miri.is_asked(which) {
        for package in sanitize::interpreted() {
            steps.check(&format!("{package} under Miri"), || {
                sanitize::interpret(package)
            });
        }
    }
    if Sanitizer::Thread.is_asked(which) {
        steps.check("a planted race", threads::canary);
        for package in sanitize::watched() {
            steps.check(&format!("{package} under ThreadSanitizer"), || {
                threads::watch(package)
            });
        }
    }
    if Sanitizer::Address.is_asked(which) {
        for package in sanitize::watched() {
            steps.check(&format!("{package} under AddressSanitizer"), || {
                sanitize::watch(package)
            });
        }
        let depth = if whole { Depth::Whole } else { Depth::Sample };
        steps.check("calls that fail under AddressSanitizer", || {
            let layer = Layer::build(&Workspace::read()?, Build::Debug)?;
            Program::build_sanitized(&layer)?.sweep(depth)
        });
    }
    Ok(steps.finish())
}

/// Runs the soak program for the duration of the dose.
///
/// # Errors
/// As [`verify`].
pub(crate) fn soak(dose: soaked::Dose) -> Result<ExitCode> {
    alone(|steps, bench| run_soak(steps, &bench, dose))
}

fn alone(run: impl FnOnce(&mut Steps, Bench)) -> Result<ExitCode> {
    let mut steps = Steps::default();
    if let Some(setup) = set_up(&mut steps)?
        && let Some(built) = build(&mut steps)
    {
        run(&mut steps, setup.with(built));
    }
    Ok(steps.finish())
}

/// Builds all programs that later steps run.
fn build(steps: &mut Steps) -> Option<Built> {
    steps.run("build", || {
        let built = Built::workspace()?;
        // A linker without disk space is killed by a signal without a message, so free space is reported.
        let free = paths::free_space().map_or_else(String::new, |it| format!("{it} of disk left"));
        Ok((built, free))
    })
}

/// Programs, validation layer and virtual topologies for the GPU steps.
struct GpuSetup {
    /// Target folder of cargo.
    target: PathBuf,
    stack: Stack,
    /// `None` if it did not build, which is counted as a failed step.
    layer: Option<Layer>,
}

impl GpuSetup {
    fn with(self, built: Built) -> Bench {
        Bench {
            target: self.target,
            stack: self.stack,
            layer: self.layer,
            built,
            all_topologies: false,
        }
    }
}

/// GPU programs with everything that they run on.
struct Bench {
    target: PathBuf,
    stack: Stack,
    layer: Option<Layer>,
    built: Built,
    /// Whether programs run on all topologies instead of only [`FAMILIES`].
    all_topologies: bool,
}

/// The plain driver, or the layer with a topology of virtual queues.
type Queues<'a> = Option<(&'a Layer, &'static str)>;

impl Bench {
    /// The plain driver, then the topologies of virtual queues. All checks of one come before those of the next: the driver
    /// compiles shaders on the first (an eighth of the time on later ones, where it finds them in its cache).
    fn topologies(&self) -> impl Iterator<Item = Queues<'_>> {
        let families = if self.all_topologies {
            &TOPOLOGIES[..]
        } else {
            &[FAMILIES]
        };
        let virtual_queues = self
            .layer
            .iter()
            .flat_map(move |layer| families.iter().map(move |it| Some((layer, *it))));
        std::iter::once(None).chain(virtual_queues)
    }
}

/// Sets up the machine and runs the canary. Returns `None` if later steps could not be checked.
fn set_up(steps: &mut Steps) -> Result<Option<GpuSetup>> {
    let workspace = Workspace::read()?;
    let stack = steps.run("setup", || {
        machine::install(Purpose::Verify)?;
        let stack = validation::prepare()?;
        let versions = stack.to_string();
        Ok((stack, versions))
    });
    let layer = steps.run("test layer", || {
        Ok((Layer::build(&workspace, Build::Debug)?, String::new()))
    });
    let Some(stack) = stack else {
        return Ok(None);
    };
    let canary = steps.run("canary", || {
        Ok(((), canary::run(&workspace, &stack, layer.as_ref())?))
    });
    Ok(canary.map(|()| GpuSetup {
        target: workspace.target,
        stack,
        layer,
    }))
}

/// Packages whose GPU tests take longest. They begin first, so that all else runs beside them.
const LONGEST: [&str; 3] = ["quadrille_3d", "quadrille_ecs", "quadrille_2d"];

/// Returns a check for each part of each GPU test program on a topology.
fn gpu_tests<'a>(bench: &'a Bench, queues: Queues<'a>) -> Vec<Check<'a>> {
    let mut programs: Vec<_> = bench.built.gpu_tests().collect();
    programs.sort_by_key(|program| {
        let rank = LONGEST.iter().position(|it| *it == program.package());
        rank.unwrap_or(LONGEST.len())
    });
    // The layer's own tests configure the layer themselves.
    programs.retain(|program| queues.is_none() || program.package() != "quadrille_layer");
    let checks =
        programs
            .into_iter()
            .flat_map(|program| match gpu_test::Part::of(&bench.stack, program) {
                Ok(parts) => parts
                    .into_iter()
                    .map(|part| {
                        let name = format!("{}{}", part.name(), on(queues));
                        Check::new(name, move || part.run(&bench.stack, queues))
                    })
                    .collect(),
                Err(error) => {
                    let name = format!("{} {}", program.package(), program.name);
                    vec![Check::new(name, move || bail!("{error:#}"))]
                }
            });
    checks.collect()
}

fn run_faults(steps: &mut Steps, bench: &Bench, depth: Depth) {
    let Some(layer) = &bench.layer else {
        steps.skip("faults", "the test layer did not build");
        return;
    };
    steps.check("faults: random passes without a feature", || {
        gpu_test::spare(&bench.stack, &bench.built, layer, TOPOLOGIES[0])
    });
    let program = steps.run("faults", || {
        let program = Program::of(&bench.built, &bench.stack, layer)?;
        Ok((program, String::new()))
    });
    if let Some(program) = program {
        steps.check("faults: traps", || program.traps());
        steps.check("faults: combinations", || program.combinations());
        steps.check("faults: situations", || program.situations());
        steps.check("faults: memory that is not coherent", || {
            program.incoherent_memory()
        });
        steps.check("faults: reports", || program.reports());
        steps.check("faults: paced by the display", || {
            program.paced_by_display()
        });
        steps.check("faults: what a device lacks", || program.missing());
        steps.check("faults: counters that are wrong", || {
            program.wrong_counters()
        });
        steps.check("faults: calls that fail", || program.sweep(depth));
    }
}

fn run_windows(steps: &mut Steps, bench: &Bench, depth: Depth) {
    match bench.built.program("quadrille_ecs", "own_device") {
        Some(program) => steps.check("a window on a device of the program's own", || {
            window::own_device(&bench.stack, &program)
        }),
        None => steps.skip(
            "a window on a device of the program's own",
            "no `own_device`",
        ),
    };
    match (bench.built.example("windows"), &bench.layer) {
        (Some(program), Some(layer)) => {
            steps.check("devices that are lost", || {
                recover::check(&bench.stack, &program, layer)
            });
            steps.check("devices that are lost while they are made", || {
                recover::during(&bench.stack, &program, layer, depth)
            });
            steps.check("every example after its device is lost", || {
                recover::pictures(&bench.stack, &bench.built.examples(), layer)
            });
            steps.check("a window that is stuck", || {
                stuck::check(&bench.stack, &program, layer)
            });
            steps.check("windows without area", || {
                minimised::check(&bench.stack, &program, layer)
            });
            steps.check("windows that are destroyed from outside", || {
                window::killed(&bench.stack, &program)
            });
            steps.check("three windows, resized and closed", || {
                window::storm(&bench.stack, &program)
            });
        }
        _ => steps.skip("devices that are lost", "no `windows`, or no test layer"),
    }
}

fn run_soak(steps: &mut Steps, bench: &Bench, dose: soaked::Dose) {
    let Some(program) = bench.built.example("soak") else {
        steps.skip("soak", "the examples have no `soak`");
        return;
    };
    let stack = Some(&bench.stack);
    steps.check("soak", || soaked::headless(stack, &program, dose));
    steps.check("soak in windows", || {
        soaked::in_windows(stack, &program, dose)
    });
    if soaked::is_weighed(dose) {
        steps.check("memory of a soak", || {
            soaked::headless(None, &program, dose)
        });
        steps.check("memory of a soak in windows", || {
            soaked::in_windows(None, &program, dose)
        });
    }
}

/// Returns the check of a program that has both Quadrille and the `bevy` crate.
fn on_bevy(bench: &Bench) -> Check<'_> {
    Check::new("a program on the bevy crate".to_owned(), || {
        with_bevy::check(&bench.stack, &bench.target)
    })
}

/// Returns a check for each example on a topology, and for each fact about `life`.
fn example_runs<'a>(bench: &'a Bench, queues: Queues<'a>) -> Vec<Check<'a>> {
    let examples = bench.built.examples().into_iter();
    let runs = examples.map(|(name, program)| {
        Check::new(format!("{name} headless{}", on(queues)), move || {
            example::run(&bench.stack, &name, &program, queues)
        })
    });
    let mut checks: Vec<_> = runs.collect();
    if let Some(program) = bench.built.example("life") {
        checks.extend(life_runs(bench, &program, queues));
    }
    checks
}

/// Returns the checks of the facts about patterns of `life`.
fn life_runs<'a>(bench: &'a Bench, program: &Path, queues: Queues<'a>) -> Vec<Check<'a>> {
    let mut runs = Vec::new();
    for fact in &life::FACTS {
        let step = format!("life {}{}", fact.pattern, on(queues));
        for (step, arguments) in [
            (format!("{step}, by a worker thread"), &["--worker"][..]),
            (step, &[]),
        ] {
            let program = program.to_owned();
            runs.push(Check::new(step, move || {
                life::check(&bench.stack, &program, fact, arguments, queues)
            }));
        }
    }
    runs
}

/// Runs what opens windows, and what runs alone because it counts or times calls.
fn run_on_displays(steps: &mut Steps, bench: &Bench) {
    if let Some(program) = bench.built.example("triangle") {
        steps.check("a system without Vulkan", || absent::check(&program));
    }
    match bench.built.example("life") {
        Some(program) => run_life(steps, bench, &program),
        None => steps.skip("life", "the examples have no `life`"),
    }
    run_windows(steps, bench, Depth::Sample);
    run_soak(steps, bench, SHORT_SOAK);
}

fn run_life(steps: &mut Steps, bench: &Bench, program: &Path) {
    let schedules = format!("life on {} schedules", schedules::SEEDS);
    match &bench.layer {
        Some(layer) => {
            steps.check(&schedules, || {
                schedules::check(&bench.stack, program, layer)
            });
            steps.check("calls that are not made", || {
                counts::check(&bench.stack, program, layer)
            });
        }
        None => steps.skip(&schedules, "the test layer did not build"),
    }
    steps.check("life in a window", || {
        window::some_frames(&bench.stack, program)
    });
    steps.check("life in a window, resized and closed", || {
        window::resize_and_close(&bench.stack, program)
    });
}

/// Suffix of a step's name.
fn on(queues: Queues<'_>) -> String {
    queues.map_or_else(String::new, |(_, families)| format!(" on {families}"))
}

/// Number of tests that cargo counted, summed over all programs.
fn counted(output: &str) -> String {
    gpu_test::passed(output).map_or_else(String::new, |count| format!("{count} tests"))
}
