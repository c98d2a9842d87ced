//! Costs of the realistic frames of `frames/`: counts of their plans, estimated time per frame, and
//! time to plan.
//!
//! `cargo xtask bench --frames` builds this in release mode, runs it, and names the machine.

#![expect(
    clippy::print_stdout,
    reason = "a program that measures speaks through its terminal"
)]
#![expect(
    clippy::expect_used,
    reason = "what it measures lies beside it and is right"
)]

use std::time::Duration;

use clock::timed;
use realistic::{each_steady, frames, reordered, steady};

use quadrille_sync::PlanErrors;
use quadrille_sync::frame::Frame;
use quadrille_sync::solve::plan;
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::Topology;

#[path = "scale/clock.rs"]
mod clock;
#[path = "../tests/realistic/mod.rs"]
mod realistic;

/// In so many other orders each frame is declared.
const ORDERS: u64 = 100;

const DEFERRED: [&str; 5] = [
    "gct:1",
    "gct:2",
    "gct:1,ct:1,t:1",
    "gct:1,ct:4,t:2",
    "gct:1 precise",
];

/// The shortest estimated time of the deferred frame that a search over its orders has found.
const BEST_KNOWN: u64 = 4024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| frame | topology | submissions | calls | barriers | waits | transfers | time | best known | in {ORDERS} orders | cold, us | reused, us |"
    );
    println!("| --- | --- |{}", " ---: |".repeat(10));
    for topology in DEFERRED {
        row("deferred.txt", true, topology)?;
    }
    for topology in DEFERRED {
        row("deferred.txt", false, topology)?;
    }
    for topology in ["gct:1", "gct:1,ct:1,t:1"] {
        row("game2d.txt", false, topology)?;
    }
    Ok(())
}

/// One row of the table.
fn row(file: &str, with_costs: bool, named: &str) -> Result<(), Box<dyn std::error::Error>> {
    let (frames, topology) = (frames(file, with_costs), parse_topology(named)?);
    let cost = steady(&frames, &topology);
    let orders = (0..ORDERS).map(|seed| steady(&reordered(&frames, seed), &topology)[5]);
    let mut orders: Vec<u64> = orders.collect();
    orders.sort_unstable();
    let (first, last) = (orders[0], orders[orders.len() - 1]);
    let best = match (file, with_costs, topology.queues.len()) {
        ("deferred.txt", true, 2..) => BEST_KNOWN.to_string(),
        _ => String::new(),
    };
    let (cold, reused) = times(&frames, &topology)?;
    let name = file.trim_end_matches(".txt");
    let costs = if with_costs { ", costs" } else { "" };
    let counts = cost.map(|it| it.to_string()).join(" | ");
    let us = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e6);
    println!(
        "| {name}{costs} | `{named}` | {counts} | {best} | {first} to {last} | {} | {} |",
        us(cold),
        us(reused)
    );
    Ok(())
}

/// How long planning the first frame that repeats takes, cold and reused.
fn times(frames: &[Frame], topology: &Topology) -> Result<(Duration, Duration), PlanErrors> {
    let mut times = None;
    each_steady(frames, topology, |frame, planner, states| {
        if times.is_some() {
            return;
        }
        let cold = timed(|| plan(frame, topology, states).map(drop));
        let reused = timed(|| planner.plan(frame, topology, states).map(drop));
        times = Some((cold, reused));
    });
    let (cold, reused) = times.expect("frames repeat");
    Ok((cold?, reused?))
}
