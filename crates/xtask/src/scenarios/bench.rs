//! `bench`: cost of a frame of many small passes, compared with a hand-written frame.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::host::cargo::{self, Workspace};
use crate::host::paths;
use crate::scenarios::calls::{self, Calls};
use crate::scenarios::{examples, planning};
use crate::setup::layer::{Build, Layer};

const MODES: [&str; 5] = ["reuse", "replan", "order", "systems", "threads"];

/// Numbers of frames of two runs; their difference is from frames in the steady state.
const FRAMES: [u64; 2] = [20, 30];

/// Frame sizes. Building schedules takes minutes beyond 1000 systems.
const SIZES: [u32; 3] = [100, 1000, 10_000];
const MOST_SYSTEMS: u32 = 1000;

/// Options of the measurement.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Only what plans of realistic frames cost, and how long planning them takes
    #[arg(long)]
    pub(crate) frames: bool,
    /// Options of the program that measures, `frame_bench`, which checks and explains them
    #[arg(
        value_name = "OPTION",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<String>,
}

impl Options {
    /// Returns the arguments as given.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    /// Whether an argument is given.
    pub(crate) fn has(&self, option: &str) -> bool {
        let is_it = |word: &str| word.split('=').next() == Some(option);
        self.words.iter().any(|word| is_it(word))
    }
}

/// Runs one measurement, or all of the table.
///
/// # Errors
/// When it cannot be built or fails.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if options.frames {
        return planning::run_frames();
    }
    if options.has("--n") && !options.has("--mode") {
        bail!("the table has sizes of its own: --n goes with --mode");
    }
    let bench = Bench::build()?;
    let words = options.words();
    if options.has("--mode") {
        println!("{}", bench.line(&words)?);
        return Ok(ExitCode::SUCCESS);
    }
    planning::run()?;
    println!("\n{}\n", bench.tables()?);
    let mut lines = Vec::new();
    for size in SIZES {
        for mode in MODES {
            if size > MOST_SYSTEMS && is_systems(mode) {
                continue;
            }
            let size = size.to_string();
            let mut all = vec!["--mode", mode, "--n", &size];
            all.extend(&words);
            if !options.has("--null") && !options.has("--verify") {
                all.push("--verify");
            }
            lines.push(bench.line(&all)?);
        }
    }
    let lines: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).with_context(|| format!("not JSON: {line}")))
        .collect::<Result<_>>()?;
    println!("{}", table(&lines));
    for mode in ["reuse", "order", "systems"] {
        println!("{}", count(&bench, mode)?);
    }
    Ok(ExitCode::SUCCESS)
}

fn is_systems(mode: &str) -> bool {
    ["systems", "threads"].contains(&mode)
}

/// The measuring program, and the layer that can be put below it.
pub(crate) struct Bench {
    program: PathBuf,
    layer: Layer,
}

impl Bench {
    fn build() -> Result<Self> {
        let workspace = Workspace::read()?;
        let arguments = "build --release --package examples --bin frame_bench";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        cargo::run("bench-build", &arguments)?;
        let layer = Layer::build(&workspace, Build::Release)?;
        let name = format!("frame_bench{}", std::env::consts::EXE_SUFFIX);
        Ok(Self {
            program: workspace.target.join("release").join(name),
            layer,
        })
    }

    /// Returns a command of the program with access to the layer.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(paths::root())
            .args(arguments)
            .env("VK_LAYER_PATH", self.layer.folder())
            .stderr(Stdio::inherit());
        command
    }

    /// Runs the program; returns its line of JSON.
    fn line(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output()?;
        if !output.status.success() {
            bail!("frame_bench {}: {}", arguments.join(" "), output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Measures recording with tables of images on a topology with a transfer queue.
    fn tables(&self) -> Result<String> {
        let arguments = ["--tables", "--null"];
        let mut command = self.command(&arguments);
        self.layer.apply(&mut command, "gct:1,ct:1,t:1");
        let output = command.output()?;
        if !output.status.success() {
            bail!("frame_bench {}: {}", arguments.join(" "), output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Runs the program on the test layer; returns its line of JSON and the layer's log.
    fn log(&self, arguments: &[&str], to: &Path) -> Result<(String, String)> {
        let mut command = self.command(arguments);
        self.layer.apply(&mut command, "gct:1");
        let output = command.env("QUADRILLE_LAYER_LOG", to).output()?;
        if !output.status.success() {
            bail!("frame_bench {}: {}", arguments.join(" "), output.status);
        }
        let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let log = fs::read_to_string(to).with_context(|| format!("no log {}", to.display()))?;
        Ok((line, log))
    }
}

/// Formats the lines as a table: nanoseconds per pass until submission, and the ratio to the hand-written frames of the
/// same run.
fn table(lines: &[Value]) -> String {
    let mut table = String::from(
        "| passes | contestant | ns a pass | x no barriers | x known | x tracker | verified |\n\
         | ---: | --- | ---: | ---: | ---: | ---: | --- |\n",
    );
    let mut beside: Vec<&Value> = Vec::new();
    for line in lines {
        let ratio = |of: &str| {
            let others = line["beside"].as_array().into_iter().flatten();
            let mut named = others.filter(|other| other["contestant"].as_str() == Some(of));
            named
                .next()
                .map_or("-".to_owned(), |other| other["ratio"].to_string())
        };
        let (no, known, tracker) = (
            ratio("ash, no barriers"),
            ratio("ash, barriers known beforehand"),
            ratio("ash, hand-written tracker"),
        );
        table += &row(line, &[no, known, tracker]);
        let is_new = beside.iter().all(|known| known["n"] != line["n"]);
        if is_new {
            beside.extend(line["beside"].as_array().into_iter().flatten());
        }
    }
    let none = ["-", "-", "-"].map(str::to_owned);
    table.extend(beside.into_iter().map(|line| row(line, &none)));
    table
}

fn row(line: &Value, ratios: &[String; 3]) -> String {
    format!(
        "| {} | {} | {} | {} | {} |\n",
        line["n"],
        line["contestant"].as_str().unwrap_or_default(),
        line["pre_submit_ns_per_pass"],
        ratios.join(" | "),
        line["verified"],
    )
}

/// Counts the calls of a frame at n = 100, and compares them with the program's own numbers.
///
/// # Errors
/// When the program fails, its log cannot be read, or the numbers differ.
fn count(bench: &Bench, mode: &str) -> Result<String> {
    let run = |frames: u64| -> Result<(Value, Calls)> {
        let folder = paths::target("bench");
        let make = || format!("cannot make {}", folder.display());
        fs::create_dir_all(&folder).with_context(make)?;
        let log = folder.join("calls.json");
        examples::forget(&log)?;
        let frames = frames.to_string();
        let arguments = ["--n", "100", "--alone", "--mode", mode, "--frames", &frames];
        let (line, log) = bench.log(&arguments, &log)?;
        let line = serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
        Ok((line, calls::parse(&log)?))
    };
    let [short, long] = FRAMES;
    let ((_, fewer), (line, more)) = (run(short)?, run(long)?);
    let agreed = calls::agree(&line, &calls::difference(&more, &fewer), long - short)?;
    Ok(format!("{mode}, n = 100, {agreed}"))
}

#[cfg(test)]
mod tests;
