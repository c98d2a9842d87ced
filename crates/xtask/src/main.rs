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

mod absent;
mod allowed;
mod apt;
mod bench;
mod bench_plan;
mod bevy_examples;
mod built;
mod canary;
mod cargo;
mod commands;
mod counts;
mod demo;
mod examples;
mod faults;
mod gpu;
mod layer;
mod life;
mod minimised;
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
mod suites;
mod tidy;
mod validation;
mod verify;
mod window;
mod with_bevy;
mod xvfb;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::commands::{Arguments, Command};
use crate::packages::Purpose;

/// Bad input of the user, as opposed to work that failed.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    run(Arguments::parse().command).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Demo => demo::demo(),
        Command::Verify => verify::verify(),
        Command::Setup => setup(),
        Command::Tidy => tidy::report(),
        Command::Gpu => verify::gpu(),
        Command::Faults => verify::faults(),
        Command::Windows => verify::windows(),
        Command::Sanitize { which, whole } => verify::sanitize(&which, whole),
        Command::Soak(dose) => verify::soak(dose),
        Command::Examples => verify::examples(),
        Command::Plan(options) => plan::plan(&options),
        Command::Check { file } => Ok(plan::check(&file)),
        Command::SuitesForDevice { folder } => suites::pack(&folder),
        Command::Bench(options) => bench::run(&options),
        Command::BenchPlan => bench_plan::run(),
        Command::BevyExamples(request) => bevy_examples::run(&request),
        Command::Validated { program, arguments } => validated(&program, &arguments),
    }
}

fn setup() -> Result<ExitCode> {
    setup::install(Purpose::Verify)?;
    println!("{}", validation::prepare()?);
    Ok(ExitCode::SUCCESS)
}

fn validated(program: &str, arguments: &[String]) -> Result<ExitCode> {
    let stack = validation::prepare()?;
    let status = stack.command(program).args(arguments).status()?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}
