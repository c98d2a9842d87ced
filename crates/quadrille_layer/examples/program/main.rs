//! Small valid and invalid Vulkan programs, which `tests/gpu.rs` runs on the layer.
//!
//! ```sh
//! cargo run -p quadrille_layer --example program -- transfer
//! ```
//! Each prints its results as lines `key value`, which the tests compare.
#![expect(unsafe_code, reason = "calls Vulkan")]
#![expect(clippy::print_stdout, reason = "the output is the result")]

mod gpu;
mod hold_back;
mod inject;
mod poison;
mod transfer;
mod windows;

use std::error::Error;

/// Result of a program; any error ends it.
type Outcome = Result<(), Box<dyn Error>>;

/// A program: name, description and function.
type Program = (&'static str, &'static str, fn() -> Outcome);

const PROGRAMS: [Program; 24] = [
    ("families", "prints the queue families", gpu::families),
    (
        "transfer",
        "hands a buffer and an image over and back",
        transfer::right,
    ),
    (
        "transfer1",
        "the same with vkQueueSubmit and vkCmdPipelineBarrier",
        transfer::right1,
    ),
    (
        "concurrent",
        "shares a concurrent buffer",
        transfer::concurrent,
    ),
    (
        "no-release",
        "acquires what nobody released",
        transfer::no_release,
    ),
    (
        "no-acquire",
        "uses without acquire what was released",
        transfer::no_acquire,
    ),
    (
        "other-layout",
        "acquires with another layout than released",
        transfer::other_layout,
    ),
    ("race", "writes on two queues without order", transfer::race),
    (
        "wait-first",
        "submits waits before their signals",
        hold_back::wait_first,
    ),
    (
        "wait-first-idle",
        "the same, then waits for the device",
        hold_back::wait_first_idle,
    ),
    (
        "host-signal",
        "the host signals what a queue waits for",
        hold_back::host_signal,
    ),
    (
        "binary",
        "hands a binary semaphore from queue to queue",
        hold_back::binary,
    ),
    (
        "order",
        "prints the order in which queues were served",
        hold_back::order,
    ),
    (
        "threads",
        "submits from a thread per queue",
        hold_back::threads,
    ),
    (
        "sparse",
        "binds sparse memory between submissions",
        hold_back::sparse,
    ),
    (
        "deadlock-queue",
        "waits for a queue that can never finish",
        hold_back::deadlock_queue,
    ),
    (
        "deadlock-device",
        "waits for a cycle of two queues",
        hold_back::deadlock_device,
    ),
    (
        "deadlock-fence",
        "waits for a fence behind a cycle",
        hold_back::deadlock_fence,
    ),
    (
        "deadlock-host",
        "waits for a value that nobody signals",
        hold_back::deadlock_host,
    ),
    (
        "left-over",
        "destroys a device that has work left",
        hold_back::left_over,
    ),
    ("exit", "ends while work is held", hold_back::exit),
    ("poison", "reads what is undefined", poison::undefined),
    (
        "inject",
        "prints the results of a few calls",
        inject::results,
    ),
    ("window", "presents to a headless surface", windows::present),
];

fn main() -> Outcome {
    let name = std::env::args().nth(1).unwrap_or_default();
    let program = PROGRAMS.iter().find(|(known, ..)| *known == name);
    let Some((_, _, run)) = program else {
        for (name, text, _) in PROGRAMS {
            println!("{name:16} {text}");
        }
        return Err(format!("`{name}` is not a program").into());
    };
    run()
}
