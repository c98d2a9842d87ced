//! bevy's own example programs, rendered by Quadrille, to verify compatibility with bevy.
//!
//! The programs come from bevy's published package (or its repository) and are compiled in place,
//! unchanged. Their `bevy` is a small generated crate (`project`):
//! bevy's crates without those that need a renderer, with Quadrille's plugins in `DefaultPlugins`.
//!
//! With `--tier1` it includes Quadrille's 3D. `tier1.txt` lists the 3D programs and those with shaders of their own
//! with the reasons why some of them are excluded.
//!
//! With `--beside` bevy's own renderer renders them too, at the same frame and time, and the table
//! has the difference of the images: the fraction of covered pixels that differ (`compared`), since small
//! objects hardly change the mean of an image.
//!
//! With `--gltf` glTF files are rendered instead, each by a program that frames it (`view_gltf.rs.in`).
//!
//! With `--optimised` they are built with optimizations: `QUADRILLE_TIMED=N PROGRAM` then times frames
//! without a display.
//!
//! With `--time` they are timed on Quadrille and on bevy_render instead (`timing`).
//!
//! Not part of `verify`: it needs that package, bevy's data files and a build of most of bevy.

mod compared;
mod inspection;
mod programs;
mod project;
mod timing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::host::process;
use crate::scenarios::examples;
use crate::scenarios::picture;
use crate::setup::machine;
use crate::setup::packages::Purpose;
use crate::setup::validation::{self, Stack};

use inspection::Inspection;
use programs::Program;
use project::{Bevy, Build, Project};

/// Timeout of a program's run, on a busy machine without a GPU.
const LIMIT: Duration = Duration::from_secs(300);

/// Seconds for which time is paused in 3D programs, while assets load.
const HOLD: u32 = 5;

/// Name of an excluded program, and the reason.
type LeftOut = (&'static str, &'static str);

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    /// bevy's unpacked package of version 0.20.1: the folder that has `examples`
    #[arg(value_name = "DIR")]
    package: PathBuf,
    /// Programs by name, path or folder [default: all 2D examples, breakout too]; with --time
    /// 'NAME ARGS' too
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The data files that the programs load [default: DIR/assets]
    #[arg(long, value_name = "DIR")]
    assets: Option<PathBuf>,
    /// How long each runs [default: 60; with --tier1 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Seconds for which time stands still before, while assets load [default: 0; with --tier1 5]
    #[arg(long, value_name = "N")]
    hold: Option<u32>,
    /// Build with 3D; without names run all 3D programs, and those with shaders of their own
    #[arg(long, conflicts_with = "time")]
    tier1: bool,
    /// Draw with bevy's own renderer as well, and compare the pictures
    #[arg(long, requires = "tier1")]
    beside: bool,
    /// Draw the glTF files below a folder, each by itself; may be given several times
    #[arg(long, value_name = "DIR", requires = "tier1")]
    gltf: Vec<PathBuf>,
    /// Build with optimisation: 'QUADRILLE_TIMED=N PROGRAM' then says what N frames take
    #[arg(long, conflicts_with = "time")]
    optimised: bool,
    /// Time programs that log their frame times on Quadrille and on bevy_render, on the same
    /// driver in one run
    #[arg(long)]
    time: bool,
}

impl Request {
    fn build(&self) -> Build {
        Build {
            scenes: self.tier1,
            optimised: self.optimised,
        }
    }

    /// Returns the programs to run, and the excluded ones with the reason.
    fn programs(&self, package: &Path) -> Result<(Vec<Program>, Vec<LeftOut>)> {
        let mut found = Vec::new();
        if !self.gltf.is_empty() {
            let viewer = project::save_view_gltf()?;
            for folder in &self.gltf {
                found.extend(programs::gltf_files(&absolute(folder)?, &viewer)?);
            }
            if self.names.is_empty() {
                return Ok((found, Vec::new()));
            }
        }
        let (names, left_out) = if self.tier1 && self.names.is_empty() {
            programs::tier1()
        } else {
            (self.names.clone(), Vec::new())
        };
        found.extend(programs::find(package, &names)?);
        Ok((found, left_out))
    }

    fn dose(&self) -> Run {
        Run {
            hold: self.hold.unwrap_or(if self.tier1 { HOLD } else { 0 }),
            frames: self.frames.unwrap_or(if self.tier1 { 5 } else { 60 }),
        }
    }
}

/// Builds and runs programs, and prints a table.
///
/// # Errors
/// When the arguments are wrong, the machine lacks what the build needs, or a program does not run.
pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    let package = absolute(&request.package)?;
    let assets = match &request.assets {
        Some(assets) => absolute(assets)?,
        None => absolute(&package.join("assets"))?,
    };
    if request.time {
        machine::install(Purpose::Verify)?;
        timing::run(&package, &request.names, &assets)?;
        return Ok(ExitCode::SUCCESS);
    }
    machine::install(Purpose::BevyExamples)?;
    let (programs, left_out) = request.programs(&package)?;
    let stack = validation::prepare()?;
    let build = request.build();
    let project = Project::write(&package, &programs, &assets, build, Bevy::Ours)?;
    println!(
        "==> building {} programs; the first time most of bevy, which takes minutes",
        programs.len()
    );
    let not_built = project.build_all(&package, &programs)?;
    let beside = if request.beside {
        Some(Reference::build(&package, &programs, &assets, build)?)
    } else {
        None
    };
    let run = request.dose();
    let mut failed = Vec::new();
    let mut table = String::new();
    for program in &programs {
        if process::interrupted() {
            bail!("interrupted");
        }
        println!("==> {}", program.name);
        let own_run = || match not_built.get(&program.name) {
            Some(error) => Err(anyhow!("does not compile: {error}")),
            None => judge(&project, &stack, program, run),
        };
        // Both renderers run concurrently, because most of a run is spent waiting for assets.
        let (judged, theirs) = std::thread::scope(|scope| {
            let theirs = beside
                .as_ref()
                .map(|it| scope.spawn(|| it.draw(program, run)));
            (own_run(), theirs.map(std::thread::ScopedJoinHandle::join))
        });
        let compared = match (&beside, &judged, theirs) {
            (Some(beside), Ok((_, output)), Some(theirs)) => theirs
                .unwrap_or_else(|_| Err(anyhow!("the run on bevy_render cannot be started")))
                .and_then(|theirs| beside.compare(&project, program, output, &theirs))
                .unwrap_or_else(|error| format!("not compared: {}", first_line(&error))),
            _ => String::new(),
        };
        let line = match judged {
            Ok((remark, _)) => format!("runs          {compared} {remark}"),
            Err(error) => {
                failed.push(program.name.as_str());
                format!("does not run  {}", first_line(&error))
            }
        };
        println!("    {line}");
        table.push_str(&format!("{:32}  {line}\n", program.name));
    }
    for (name, why) in left_out {
        table.push_str(&format!("{name:32}  left out      {why}\n"));
    }
    println!("\n{table}");
    println!("pictures: {}", project.pictures().display());
    check_failed(programs.len(), &failed)?;
    println!("all {} run", programs.len());
    Ok(ExitCode::SUCCESS)
}

fn first_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.lines().next().unwrap_or_default().to_owned()
}

/// Parameters of a program's run.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Seconds for which time is paused, while assets load.
    hold: u32,
    /// Number of frames after that, before the screenshot.
    frames: u32,
}

/// Fails if any of `count` programs failed, with their names.
fn check_failed(count: usize, failed: &[&str]) -> Result<()> {
    match failed {
        [] => Ok(()),
        names => bail!(
            "{} of {count} do not run: {}",
            names.len(),
            names.join(", ")
        ),
    }
}

/// Runs one program; returns a description of its screenshot, and the program's output.
fn judge(
    project: &Project,
    stack: &Stack,
    program: &Program,
    run: Run,
) -> Result<(String, String)> {
    let mut command = stack.command(project.program_of_all(&program.name));
    let shot = prepare(project, program, run, &mut command)?;
    let output = validation::run(&format!("bevy-{}", program.name), &mut command, LIMIT)?;
    let size = picture::check(&shot)?;
    let inspection = Inspection::of(&program.name, &shot)?;
    Ok((format!("{size}, {inspection}"), output))
}

/// Configures a program's run; returns the path of its screenshot.
fn prepare(
    project: &Project,
    program: &Program,
    run: Run,
    command: &mut Command,
) -> Result<PathBuf> {
    let shot = project.pictures().join(format!("{}.png", program.name));
    examples::forget(&shot)?;
    command
        .args(&program.arguments)
        // The folder into which some programs write files.
        .current_dir(project.asset_root())
        .env("BEVY_ASSET_ROOT", project.asset_root())
        .env("NO_COLOR", "1")
        // With this variable, programs with random numbers use a fixed seed.
        .env("GITHUB_ACTIONS", "true")
        .env("QUADRILLE_HOLD", run.hold.to_string())
        .env("QUADRILLE_FRAMES", run.frames.to_string())
        .env("QUADRILLE_PICTURE", &shot);
    Ok(shot)
}

/// Programs built with bevy's own renderer.
struct Reference {
    project: Project,
    not_built: BTreeMap<String, String>,
    flip: PathBuf,
}

impl Reference {
    fn build(package: &Path, programs: &[Program], assets: &Path, build: Build) -> Result<Self> {
        println!("==> building the same on bevy's own renderer");
        let project = Project::write(package, programs, assets, build, Bevy::Theirs)?;
        Ok(Self {
            not_built: project.build_all(package, programs)?,
            project,
            flip: Project::build_flip()?,
        })
    }

    /// Runs one program on bevy's renderer; returns its screenshot and its output.
    fn draw(&self, program: &Program, run: Run) -> Result<(PathBuf, String)> {
        let name = &program.name;
        if let Some(error) = self.not_built.get(name) {
            bail!("does not compile on bevy_render: {error}");
        }
        let mut command = Command::new(self.project.program_of_all(name));
        let shot = prepare(&self.project, program, run, &mut command)?;
        command.env("WGPU_BACKEND", "vulkan").env_remove("DISPLAY");
        // Both sides draw on the same driver; rasterization of edges differs between drivers.
        if std::env::var_os("VK_DRIVER_FILES").is_none()
            && let Some(lavapipe) = validation::lavapipe()
        {
            command.env("VK_DRIVER_FILES", lavapipe);
        }
        let output = process::run(&format!("beside-{name}"), &mut command, LIMIT)?;
        Ok((shot, output))
    }

    /// Describes the difference of the screenshots of both renderers' runs, given the output of each.
    fn compare(
        &self,
        ours: &Project,
        program: &Program,
        output: &str,
        (theirs, their_output): &(PathBuf, String),
    ) -> Result<String> {
        if let Some(reason) = compared::unfit(output) {
            bail!("{reason}");
        }
        if let Some(reason) = compared::unfit(their_output) {
            bail!("on bevy_render {reason}");
        }
        let name = &program.name;
        let own = ours.pictures().join(format!("{name}.png"));
        let difference = compared::difference(theirs, &own)?;
        let error = self.project.pictures().join(format!("{name}.flip.png"));
        let mut flip = Command::new(&self.flip);
        flip.arg(theirs).arg(&own).arg(&error);
        let flip = process::run("flip", &mut flip, LIMIT)?;
        Ok(format!("{difference}, FLIP {}", flip.trim()))
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize()
        .with_context(|| format!("cannot find {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::check_failed;

    #[test]
    fn programs_that_do_not_run_are_an_error_that_names_them() {
        assert!(check_failed(2, &[]).is_ok());
        let error = check_failed(3, &["sprite", "text2d"]).unwrap_err();
        assert_eq!(error.to_string(), "2 of 3 do not run: sprite, text2d");
    }
}
