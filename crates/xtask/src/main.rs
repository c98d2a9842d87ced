//! Quadrille's commands: `cargo demo`, `cargo verify` and what they are made of.
//!
//! Everything a fresh machine needs is done here, so that the two commands of the
//! README are all anybody has to know. The tool is a program among programs: it
//! starts others, gives each a deadline and a log file, and judges what they leave.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks through its terminal"
)]

mod allowed;
mod apt;
mod bench;
mod bench_plan;
mod bevy_examples;
mod canary;
mod cargo;
mod counts;
mod demo;
mod examples;
mod faults;
mod gpu;
mod layer;
mod life;
mod packages;
mod picture;
mod place;
mod plan;
mod process;
mod recover;
mod report;
mod sanitize;
mod schedules;
mod setup;
mod soak;
mod steps;
mod stuck;
mod tidy;
mod validation;
mod verify;
mod window;
mod xvfb;

use std::process::ExitCode;

use anyhow::Result;

use crate::packages::Purpose;

const USAGE: &str = "\
Quadrille's commands.

usage: cargo xtask COMMAND

  demo                      set up what is missing, build and play `life`
  verify                    set up and run everything: format, lints, tidy, all tests,
                            all examples, each GPU program under the validation layer
  setup                     install what demo and verify need (Debian, Ubuntu), or say what is missing
  tidy                      check the rules of the house that no compiler checks
  gpu                       the GPU tests under the validation layer
  faults                    every Vulkan call of a short program fails once, under the
                            validation layer
  windows                   several windows: a storm of sizes, devices that are lost
  sanitize                  tests under Miri and AddressSanitizer; needs a nightly toolchain
  soak [--frames N] [--seed S]
                            windows, buffers and shaders that change at random, 100000 frames
                            without windows and as many in windows; memory is judged from 50000 on
  examples                  the examples, headless and in a window, under the validation layer
  plan FILE [--topology T] [--dot FILE] [--svg FILE]
                            plan the frames of a text file: reasons, counts, pictures
  plan FILE --advise        and what moving passes to other queues could save, by their costs
  plan --compare [PATH..]   a table of files or folders: the order that the solver chooses beside
                            the declared one and a naive plan (without PATH: the solver's cases)
  check FILE                let the oracle judge the plans of a text file
  bench [--null] [--mode M] what a frame of many passes costs on the CPU, beside the same frame
                            written by hand; --null: on a driver that costs nothing; with a mode,
                            one line of JSON (examples/frame_bench.rs has more options)
  bench-plan                how long planning takes, and how that grows
  bevy-examples DIR [NAME..] [--assets DIR] [--frames N]
                            build and run bevy's own example programs on Quadrille; DIR is
                            bevy's unpacked package of version 0.20
  bevy-examples DIR --time [NAME|'NAME ARGS'..] [--assets DIR]
                            time programs that log their frame times on Quadrille and on
                            bevy_render, on the same driver in one run
  validated PROGRAM [ARGS]  run any program under the validation layer

`cargo demo` and `cargo verify` are short for the first two.";

/// Bad input of the user, as opposed to work that failed.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["demo"] => demo::demo(),
        ["verify"] => verify::verify(),
        ["setup"] => setup(),
        ["tidy"] => tidy::report(),
        ["gpu"] => verify::gpu(),
        ["examples"] => verify::examples(),
        ["faults"] => verify::faults(),
        ["windows"] => verify::windows(),
        ["sanitize"] => verify::sanitize(),
        ["soak", rest @ ..] => match soak::Dose::parse(rest) {
            Ok(dose) => verify::soak(dose),
            Err(error) => return refuse(&format!("{error:#}")),
        },
        ["plan", rest @ ..] => plan::plan(rest),
        ["check", path] => Ok(plan::check(path)),
        ["bench", rest @ ..] => bench::run(rest),
        ["bevy-examples", rest @ ..] => bevy_examples::run(rest),
        ["bench-plan"] => bench_plan::run(),
        ["validated", program, rest @ ..] => validated(program, rest),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        [] => return refuse("no command given"),
        [word, ..] => {
            return refuse(&format!(
                "`{}` is not a command, or not with these arguments",
                word
            ));
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn refuse(what: &str) -> ExitCode {
    eprintln!("error: {what}\n\n{USAGE}");
    ExitCode::from(EXIT_USAGE)
}

fn setup() -> Result<ExitCode> {
    setup::install(Purpose::Verify)?;
    println!("{}", validation::prepare()?);
    Ok(ExitCode::SUCCESS)
}

fn validated(program: &str, arguments: &[&str]) -> Result<ExitCode> {
    let stack = validation::prepare()?;
    let status = stack.command(program).args(arguments).status()?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}
