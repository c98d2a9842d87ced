//! The command line, and its help.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::bevy_examples;
use crate::plan;
use crate::scenarios::soak;
use crate::scenarios::{bench, beside_bevy};
use crate::suites::{device, sanitize, timings};

/// Quadrille's commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = SHORT)]
pub(crate) struct Arguments {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const SHORT: &str = "\
`cargo demo` and `cargo verify` are short for the first two. `cargo xtask COMMAND --help` says more.";

/// A command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up what is missing, build the games and open their launcher, or draw three pictures and a ride
    Demo,
    /// Set up and run everything that shows whether the project is right
    ///
    /// Format, lints, tidy, all tests, all examples, each GPU program under the validation layer.
    Verify,
    /// Install what demo and verify need (Debian, Ubuntu), or say what is missing
    Setup,
    /// Check the rules of the house that no compiler checks
    Tidy,
    /// Run the GPU tests under the validation layer, on every topology of queues
    Gpu,
    /// Let every Vulkan call of a short program fail once, under the validation layer
    ///
    /// Also the traps: exact answers of swapchains and devices, one fault each, by both proofs.
    Faults,
    /// Several windows: a storm of sizes, devices that are lost
    Windows,
    /// Run tests under Miri, AddressSanitizer and ThreadSanitizer; needs a nightly toolchain
    ///
    /// Miri: quadrille_sync, and of quadrille_ecs what needs no device, with the unsafe code of its
    /// system parameters; twenty minutes of a busy core. The others: the GPU tests of
    /// quadrille_vulkan. AddressSanitizer also watches the short program of `cargo xtask faults`, in
    /// which the first and the last call of each Vulkan command fail, one in each run.
    #[command(
        after_help = "Examples:\n  cargo xtask sanitize thread\n  cargo xtask sanitize address --whole"
    )]
    Sanitize {
        /// Sanitizers to run; all if none is named
        #[arg(value_enum)]
        which: Vec<sanitize::Sanitizer>,
        /// Under AddressSanitizer, let every call fail once, not only the first and the last
        #[arg(long)]
        whole: bool,
    },
    /// Run a program that never comes to rest, and judge what it holds in the end
    #[command(
        after_help = "Examples:\n  cargo xtask soak\n  cargo xtask soak --frames 2000 --seed 7"
    )]
    Soak(soak::Dose),
    /// Run the examples, headless and in a window, under the validation layer, on every topology of queues
    Examples,
    /// Plan the frames of a text file: reasons, counts, a graph
    #[command(after_help = PLAN)]
    Plan(plan::Options),
    /// Let the oracle judge the plans of a text file, or the solver's if it has frames only
    #[command(
        after_help = "Example:\n  cargo xtask check crates/quadrille_sync/cases/three_queues.txt"
    )]
    Check {
        /// Frames, in the form of crates/quadrille_sync/cases
        file: PathBuf,
    },
    /// Pack the GPU test suites for a machine with a GPU and without cargo
    ///
    /// A script beside the archive unpacks and runs them there, each test in a process of its own, under the
    /// validation layer that comes with them.
    SuitesForDevice(device::Request),
    /// Pack bevy's stress tests on both renderers for a machine with a GPU and without cargo
    ///
    /// A script beside the archive runs both in turns there, and writes the table of record.
    TimingsForDevice(timings::Request),
    /// Measure courier's ride beside the same city on bevy's own renderer, in turns
    ///
    /// Both are compiled from the files of examples/courier. bevy is built once, which takes half an hour on two cores.
    #[command(after_help = COURIER)]
    CourierBesideBevy(beside_bevy::Request),
    /// Draw the moving pictures of the launcher's tiles into assets/launcher
    Thumbnails {
        /// Program of the only tile to draw
        program: Option<String>,
    },
    /// Measure what a frame of many passes costs, beside the same frame written by hand
    ///
    /// Without a mode: what planning costs and how that grows, then a table of all modes and sizes,
    /// then the Vulkan calls of a frame as a layer counts them.
    #[command(after_help = BENCH)]
    Bench(bench::Options),
    /// Measure how long planning takes, and how that grows
    BenchPlan,
    /// Build and run bevy's own example programs on Quadrille
    #[command(after_help = BEVY)]
    BevyExamples(bevy_examples::Request),
    /// Run any program under the validation layer
    #[command(
        after_help = "Example:\n  cargo xtask validated target/debug/life --headless --frames 60"
    )]
    Validated {
        /// The program
        program: String,
        /// Arguments of the program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

pub(crate) const PLAN: &str = "\
Examples:
  cargo xtask plan crates/quadrille_sync/cases/three_queues.txt
  cargo xtask plan frame.txt --topology gct:1,ct:1,t:1 --dot frame.dot
  cargo xtask plan frame.txt --advise

A file:
  topology gct:1,ct:1

  === frame
  buffer cells 0 bytes 1024
  image screen 1 aspects COLOR mips 1 layers 1 swapchain
  pass simulate requires COMPUTE async
    StorageWriteCompute cells
  pass draw requires GRAPHICS
    VertexRead cells
    ColorAttachmentWrite screen discard

  === same

All words of it are in crates/quadrille_sync/src/text.rs. A frame that a program has captured (--case of the
examples, Renderer::case_text) has a section === states, what it began with, and its plan behind
=== plan.";

const BENCH: &str = "\
Options are those of frame_bench: --mode reuse|replan|order|systems|threads, --n, --frames,
--warmup, --null, --verify, --seed, --alone, --pass-us.

Examples:
  cargo xtask bench --null
  cargo xtask bench --null --mode systems --n 1000 --frames 400
  cargo xtask bench --mode reuse --verify";

const COURIER: &str = "\
Examples:
  cargo xtask courier-beside-bevy --quality low --size 320x180 --frames 60
  cargo xtask courier-beside-bevy --pack courier-pack
  cargo xtask courier-beside-bevy --read courier-out";

const BEVY: &str = "\
Examples:
  cargo xtask bevy-examples bevy-0.20.1 --assets bevy-0.20.1/assets
  cargo xtask bevy-examples bevy-0.20.1 sprite breakout --frames 120
  cargo xtask bevy-examples bevy-0.20.1 --tier1 --assets bevy/assets
  cargo xtask bevy-examples bevy-0.20.1 --time 'bevymark 100 100'";

#[cfg(test)]
mod tests;
