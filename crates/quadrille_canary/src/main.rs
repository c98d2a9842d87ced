//! The canary of every validated run: provokes known errors and watches them being reported.
//!
//! A run with no message proves something only if the layer that would send one is there,
//! new enough and switched on. This program is wrong on purpose, once per class of error;
//! it succeeds only if the layer says so each time.
//!
//! ```text
//! target/validation/run canary              # all classes; takes two queue families
//! target/validation/run canary same-queue   # one class
//! target/validation/run canary round-trip   # no error, and reported all the same; `host-link`, `same-value` likewise
//! ```

#![expect(
    unsafe_code,
    reason = "a test tool that calls Vulkan directly, to get it wrong on purpose"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks through its terminal"
)]

mod gpu;
mod messages;
mod provoke;
mod round_trip;

use std::process::ExitCode;

use anyhow::Result;

use crate::gpu::Gpu;

/// A class of error, how to commit it, and the message it must draw.
struct Class {
    name: &'static str,
    provoke: fn(&Gpu) -> Result<()>,
    message: &'static str,
}

const CLASSES: [Class; 3] = [
    Class {
        name: "same-queue",
        provoke: provoke::same_queue,
        message: "SYNC-HAZARD-WRITE-AFTER-WRITE",
    },
    Class {
        name: "cross-queue",
        provoke: provoke::cross_queue,
        message: "SYNC-HAZARD-WRITE-RACING-WRITE",
    },
    Class {
        name: "acquire",
        provoke: provoke::acquire,
        message: "VUID-vkQueueSubmit2-commandBuffer-03879",
    },
];

/// Programs that are right and draw a message all the same: only on demand, since a later layer may be silent.
const FALSE_ALARMS: [Class; 3] = [
    Class {
        name: "round-trip",
        provoke: round_trip::host_waits_for_one_queue,
        message: "SYNC-HAZARD-WRITE-AFTER-WRITE",
    },
    Class {
        name: "host-link",
        provoke: round_trip::host_links_two_queues,
        message: "SYNC-HAZARD-WRITE-AFTER-WRITE",
    },
    Class {
        name: "same-value",
        provoke: round_trip::host_waits_twice,
        message: "SYNC-HAZARD-WRITE-AFTER-WRITE",
    },
];

/// Bad input of the user, as opposed to a silent layer.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let all = || CLASSES.iter().chain(&FALSE_ALARMS);
    let names: Vec<&str> = all().map(|class| class.name).collect();
    if let Some(unknown) = asked.iter().find(|word| !names.contains(&word.as_str())) {
        eprintln!(
            "error: `{unknown}` is not a class of error; they are {}",
            names.join(", ")
        );
        return ExitCode::from(EXIT_USAGE);
    }
    let is_asked = |class: &&Class| asked.iter().any(|word| word == class.name);
    let classes: Vec<&Class> = match asked.as_slice() {
        [] => CLASSES.iter().collect(),
        _ => all().filter(is_asked).collect(),
    };
    match run(classes) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Commits each error and tells whether all were reported.
fn run(classes: Vec<&Class>) -> Result<bool> {
    let gpu = Gpu::open()?;
    println!("{}", gpu.description());
    let mut all_reported = true;
    for class in classes {
        gpu.messages().clear();
        (class.provoke)(&gpu)?;
        let seen = gpu.messages().take();
        let reported = seen.iter().any(|name| name == class.message);
        if reported {
            println!("{}: {} reported", class.name, class.message);
        } else {
            println!(
                "{}: {} NOT reported; seen: {seen:?}",
                class.name, class.message
            );
        }
        all_reported &= reported;
    }
    Ok(all_reported)
}
