//! Plans written by hand: valid ones that must pass, and for every rule an invalid one that breaks
//! only that rule.

use quadrille_sync::text::{parse_frame, parse_plan, parse_topology};

use super::Judge;

mod declared;
mod hazards;
mod host;
mod layouts;
mod memory;
mod quality;
mod slices;
mod swapchain;
mod timeline;
mod transfers;
mod user_timelines;

/// Judges frames with their plans, and returns all violations as text.
fn judged(topology: &str, frames: &[(&str, &str)]) -> Vec<String> {
    let mut judge = Judge::new(&parse_topology(topology).unwrap());
    let mut violations = Vec::new();
    for (frame, plan) in frames {
        let frame = parse_frame(frame).unwrap();
        let plan = parse_plan(plan, &frame).unwrap();
        violations.extend(judge.frame(&frame, &plan));
    }
    violations.iter().map(ToString::to_string).collect()
}

/// Asserts that the plans of these frames have no violations.
#[track_caller]
fn passes(topology: &str, frames: &[(&str, &str)]) {
    let violations = judged(topology, frames);
    assert!(violations.is_empty(), "{violations:#?}");
}

/// Asserts that the plans of these frames have exactly these violations.
#[track_caller]
fn fails(topology: &str, frames: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(judged(topology, frames), expected);
}
