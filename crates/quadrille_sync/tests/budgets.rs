//! What plans of realistic frames cost once they repeat, on several topologies: no more than budgets
//! allow. The frames are in `frames/`.
//!
//! A budget is what the solver needed when it was written down, and 3 % more. A plan that needs much
//! less is worth a lower budget: `cargo test -p quadrille_sync --test budgets -- --nocapture` prints
//! what there is.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]
#![expect(clippy::print_stdout, reason = "the counts are the point of the test")]

use std::fs;
use std::path::Path;

use quadrille_sync::{Frame, Planner, States, parse_frame, parse_topology};

/// So often all frames of a file but the first come in turn.
const ROUNDS: usize = 4;

/// What a frame costs: submissions, barrier calls, barriers, waits and transfers, and its estimated
/// time (microseconds; passes, where costs are left out).
type Cost = [u64; 6];

const NAMES: [&str; 6] = [
    "submissions",
    "calls",
    "barriers",
    "waits",
    "transfers",
    "time",
];

/// The frames of a file.
fn frames(file: &str) -> Vec<Frame> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("frames");
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let sections = text.split("=== frame\n").skip(1);
    sections.map(|it| parse_frame(it).unwrap()).collect()
}

/// The most that any of the frames costs that repeat.
fn steady(frames: &[Frame], topology: &str) -> Cost {
    let topology = parse_topology(topology).unwrap();
    let (mut planner, mut states) = (Planner::default(), States::default());
    let (first, rest) = frames.split_first().unwrap();
    let mut most = Cost::default();
    let all = std::iter::once(first).chain(std::iter::repeat_n(rest, ROUNDS).flatten());
    for (at, frame) in all.enumerate() {
        let planned = planner.plan(frame, &topology, &states).unwrap();
        states.commit(frame, &topology, &planned.plan);
        // All before the last round are on the way there.
        if at <= (ROUNDS - 1) * rest.len() {
            continue;
        }
        let counts = planned.plan.counts();
        let cost = [
            counts.submissions.into(),
            counts.barrier_calls.into(),
            counts.barriers.into(),
            counts.semaphore_waits.into(),
            counts.ownership_transfers.into(),
            planned.plan.critical_path_us(frame),
        ];
        most.iter_mut()
            .zip(cost)
            .for_each(|(most, cost)| *most = (*most).max(cost));
    }
    most
}

/// Plans without costs, unless `with_costs`.
#[track_caller]
fn check(file: &str, with_costs: bool, topology: &str, written: Cost) {
    let mut frames = frames(file);
    if !with_costs {
        let passes = frames.iter_mut().flat_map(|frame| &mut frame.passes);
        passes.for_each(|pass| pass.cost_us = 0);
    }
    let found = steady(&frames, topology);
    println!("{file} on {topology}, costs {with_costs}: {found:?}, written {written:?}");
    for ((name, found), written) in NAMES.iter().zip(found).zip(written) {
        assert!(
            found * 100 <= written * 103,
            "{file} on {topology}: {found} {name}, and {written} are written down"
        );
    }
}

#[test]
fn a_deferred_frame_stays_within_its_budgets() {
    let file = "deferred.txt";
    check(file, false, "gct:1", [1, 27, 84, 0, 0, 46]);
    check(file, false, "gct:1 precise", [1, 27, 104, 0, 0, 46]);
    check(file, false, "gct:2", [7, 37, 82, 6, 0, 39]);
    check(file, false, "gct:1,ct:1,t:1", [7, 42, 117, 6, 21, 39]);
    check(
        file,
        false,
        "gct:1,ct:1,t:1 maintenance8",
        [7, 42, 119, 6, 21, 39],
    );
    check(file, false, "gct:1,ct:4,t:2", [11, 50, 118, 12, 21, 37]);
}

#[test]
fn a_deferred_frame_with_costs_stays_within_its_budgets() {
    let file = "deferred.txt";
    check(file, true, "gct:1", [1, 27, 84, 0, 0, 5069]);
    check(file, true, "gct:2", [7, 37, 82, 6, 0, 4329]);
    check(file, true, "gct:1,ct:1,t:1", [7, 43, 117, 6, 21, 4339]);
    check(file, true, "gct:1,ct:4,t:2", [12, 51, 118, 12, 21, 4324]);
}

#[test]
fn a_2d_frame_stays_within_its_budgets() {
    for topology in ["gct:1", "gct:1,ct:1,t:1"] {
        check("game2d.txt", false, topology, [1, 8, 20, 0, 0, 12]);
    }
}
