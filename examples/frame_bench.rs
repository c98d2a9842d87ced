//! CPU cost of a frame of many small passes, beside the same frame written by hand.
//!
//! One line of JSON goes to standard output: medians in nanoseconds a frame, with the hand-written
//! lines and bevy's systems that do nothing, measured in turns in the same process, in `beside`.
//! `cargo xtask bench` builds this in release mode and makes a table of it.

#![expect(
    clippy::print_stdout,
    reason = "a program that measures speaks through its terminal"
)]

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use examples::args;
use examples::frame_bench::{
    Contestant, Engine, Floor, Measured, Mode, Outcome, Systems, compete, hand_written, report,
    run_below_null, tables,
};
use quadrille_bench::{SEED, Workload};

/// Measures what a frame of many small passes costs before it is submitted.
#[derive(Parser)]
struct Args {
    /// Passes of a frame
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,

    /// Frames that are measured
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    frames: u64,

    /// Frames that run before
    #[arg(long, value_name = "N", default_value_t = 20)]
    warmup: u64,

    /// How Quadrille runs the frame
    #[arg(long, value_enum, default_value_t = Mode::Reuse)]
    mode: Mode,

    /// Compare the contents in the end with a simulation on the CPU
    #[arg(long)]
    verify: bool,

    /// Swallow recorded commands, so that the driver costs nothing (and computes nothing)
    #[arg(long, conflicts_with = "verify")]
    null: bool,

    /// Where the random numbers start
    #[arg(long, value_name = "SEED", default_value_t = SEED)]
    seed: u64,

    /// Run nothing beside: for profilers, and for the validation layer, which would find the line
    /// without barriers wanting
    #[arg(long)]
    alone: bool,

    /// Each pass system works so long, as if it recorded many commands (systems and threads only)
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    pass_us: u64,

    /// Measure what tables of images cost instead, and print a table
    #[arg(long, conflicts_with_all = ["n", "frames", "warmup", "mode", "verify", "seed", "alone", "pass_us"])]
    tables: bool,
}

fn main() -> ExitCode {
    let args: Args = args::parse();
    run(&args).unwrap_or_else(|error| args::exit_with(error))
}

fn run(args: &Args) -> Outcome<ExitCode> {
    if args.null
        && let Some(code) = run_below_null()?
    {
        return Ok(code);
    }
    if args.tables {
        print!("{}", tables()?);
        return Ok(ExitCode::SUCCESS);
    }
    let workload = Workload::new(args.n as usize, args.seed);
    let mut contestants = contestants(args, &workload)?;
    let medians = compete(&mut contestants, args.warmup, args.frames)?;
    let frames = args.warmup + args.frames;
    let mut all = Vec::new();
    for (contestant, medians) in contestants.iter_mut().zip(medians) {
        let counts = contestant.counts();
        let expected = || contestant.expected(&workload, frames);
        let expected = args.verify.then(expected);
        let verified = expected.is_some() && contestant.contents()? == expected;
        all.push(Measured {
            name: contestant.name(),
            medians,
            verified,
            counts,
        });
    }
    let line = report(
        args.mode.name(),
        &workload,
        (args.frames, args.warmup),
        &all,
    );
    println!("{line}");
    if args.verify && !all[0].verified {
        Err("the contents are not those of the simulation".into())
    } else {
        Ok(ExitCode::SUCCESS)
    }
}

/// The one that is measured, and those beside it.
fn contestants(args: &Args, workload: &Workload) -> Outcome<Vec<Box<dyn Contestant>>> {
    let work = Duration::from_micros(args.pass_us);
    let (ours, device): (Box<dyn Contestant>, String) = match args.mode {
        Mode::Reuse | Mode::Replan | Mode::Order => {
            let engine = Engine::new(args.mode, workload)?;
            let device = engine.device().to_owned();
            (Box::new(engine), device)
        }
        Mode::Systems | Mode::Threads => {
            let systems = Systems::new(args.mode, workload, work)?;
            let device = systems.device();
            (Box::new(systems), device)
        }
    };
    let mut all = vec![ours];
    if !args.alone {
        all.extend(hand_written(workload, &device)?);
        let passes = workload.passes.len();
        all.push(Box::new(Floor::empty(passes)));
        all.push(Box::new(Floor::with_parameters(passes)));
    }
    Ok(all)
}
