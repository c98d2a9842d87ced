//! Plans written by hand that carry what nobody needs: no excuse covers it. And plans in which
//! chance does what an element is there for: that is told apart, and how.

use std::sync::Arc;

use quadrille_sync::{parse_frame, parse_plan, parse_topology};

use super::*;
use crate::judge::Judge;

mod lucky;
mod wasteful;

/// The survivors of frames with these plans, which have to be right, as text: what survives, and
/// its excuse.
fn survivors_of(topology: &str, frames: &[(&str, &str)]) -> Vec<String> {
    let topology = parse_topology(topology).unwrap();
    let mut judge = Judge::new(&topology);
    let mut steps: Vec<Taken> = Vec::new();
    for (frame, plan) in frames {
        let frame = parse_frame(frame).unwrap();
        let plan = parse_plan(plan, &frame).unwrap();
        let before = judge.clone();
        assert_eq!(judge.frame(&frame, &plan), [], "the plan is right");
        steps.push((before, frame, Arc::new(plan)));
    }
    let (_, survivors) = unnoticed(&topology, &steps, 0);
    let named = survivors.iter().map(|it| {
        let excuse = it
            .mutant
            .excuse
            .map_or("none".into(), |it| format!("{it:?}"));
        format!("{} {}: {excuse}", it.frame, it.mutant)
    });
    named.collect()
}

/// Exactly these elements of a plan survive without an excuse.
#[track_caller]
fn are_waste(topology: &str, frames: &[(&str, &str)], waste: &[&str]) {
    let survivors = survivors_of(topology, frames);
    let found = survivors.iter().filter_map(|it| it.strip_suffix(": none"));
    assert_eq!(found.collect::<Vec<_>>(), waste, "of {survivors:#?}");
}

/// An element survives with this excuse, and nothing without one.
#[track_caller]
fn is_excused(topology: &str, frames: &[(&str, &str)], expected: &str) {
    let survivors = survivors_of(topology, frames);
    let none = survivors.iter().filter(|it| it.ends_with(": none"));
    assert_eq!(none.collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(
        survivors.iter().any(|it| it == expected),
        "{expected} is not among {survivors:#?}",
    );
}
