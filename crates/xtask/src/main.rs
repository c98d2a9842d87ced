//! Quadrille's commands: `cargo demo`, `cargo verify` and their parts.
//!
//! The tool sets up everything that a fresh machine needs, so that the two commands of the README suffice. It starts
//! other programs, each with a timeout and a log file, and checks their results.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks through its terminal"
)]

mod bevy_examples;
mod commands;
mod faults;
mod host;
mod plan;
mod scenarios;
mod setup;
mod suites;
mod tidy;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::commands::{Arguments, Command};
use crate::scenarios::{bench, beside_bevy, demo, planning, thumbnails};
use crate::setup::packages::Purpose;
use crate::setup::{machine, validation};
use crate::suites::{device, timings};

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
        Command::SuitesForDevice(request) => device::pack(&request),
        Command::TimingsForDevice(request) => timings::pack(&request),
        Command::CourierBesideBevy(request) => beside_bevy::run(&request),
        Command::Thumbnails { program } => thumbnails::run(program.as_deref()),
        Command::Bench(options) => bench::run(&options),
        Command::BenchPlan => planning::run(),
        Command::BevyExamples(request) => bevy_examples::run(&request),
        Command::Validated { program, arguments } => validated(&program, &arguments),
    }
}

fn setup() -> Result<ExitCode> {
    machine::install(Purpose::Verify)?;
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
