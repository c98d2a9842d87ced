//! Costs of the plans of realistic frames once they repeat, on several topologies, within budgets.
//! The frames are in `frames/`.
//!
//! A budget is what the solver needed when it was written down, and 3 % more. A plan that needs much
//! less is worth a lower budget: `cargo test -p quadrille_sync --test budgets -- --nocapture` prints
//! the current costs.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]
#![expect(clippy::print_stdout, reason = "the counts are the point of the test")]

use quadrille_sync::text::parse_topology;
use realistic::{Cost, frames, reordered, steady};

mod realistic;

/// The parts of a [`Cost`].
const NAMES: [&str; 6] = [
    "submissions",
    "calls",
    "barriers",
    "waits",
    "transfers",
    "time",
];

/// In so many other orders frames are declared.
const ORDERS: u64 = 100;

/// The shortest estimated time of the deferred frame that a search over its orders has found, in
/// microseconds.
const BEST_KNOWN: u64 = 4024;

/// Plans without costs, unless `with_costs`.
#[track_caller]
fn check(file: &str, with_costs: bool, topology: &str, written: Cost) {
    let frames = frames(file, with_costs);
    let found = steady(&frames, &parse_topology(topology).unwrap());
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
    check(file, false, "gct:1", [1, 27, 84, 0, 0, 4600]);
    check(file, false, "gct:1 precise", [1, 27, 104, 0, 0, 4600]);
    check(file, false, "gct:2", [9, 36, 83, 6, 0, 3500]);
    check(file, false, "gct:1,ct:1,t:1", [10, 45, 118, 8, 21, 3500]);
    check(
        file,
        false,
        "gct:1,ct:1,t:1 maintenance8",
        [10, 45, 119, 8, 21, 3500],
    );
    check(file, false, "gct:1,ct:4,t:2", [14, 51, 118, 13, 21, 3500]);
}

#[test]
fn a_deferred_frame_with_costs_stays_within_its_budgets() {
    let file = "deferred.txt";
    check(file, true, "gct:1", [1, 27, 84, 0, 0, 5069]);
    check(file, true, "gct:2", [10, 38, 83, 6, 0, 4109]);
    check(file, true, "gct:1,ct:1,t:1", [10, 47, 118, 8, 21, 4109]);
    check(file, true, "gct:1,ct:4,t:2", [13, 51, 118, 13, 21, 4109]);
}

#[test]
fn a_deferred_frame_takes_as_long_as_the_best_known_order() {
    for topology in ["gct:2", "gct:1,ct:1,t:1", "gct:1,ct:4,t:2"] {
        let topology = parse_topology(topology).unwrap();
        let [.., time] = steady(&frames("deferred.txt", true), &topology);
        assert!(
            time * 100 <= BEST_KNOWN * 103,
            "{time} us, and {BEST_KNOWN} are known"
        );
    }
}

#[test]
fn declaration_order_hardly_matters() {
    for topology in ["gct:2", "gct:1,ct:1,t:1", "gct:1,ct:4,t:2"] {
        let topology = parse_topology(topology).unwrap();
        let frames = frames("deferred.txt", true);
        let [.., written] = steady(&frames, &topology);
        for seed in 0..ORDERS {
            let [.., time] = steady(&reordered(&frames, seed), &topology);
            assert!(
                time * 100 <= written * 105,
                "order {seed}: {time} us, and {written} in the order that is written"
            );
        }
    }
}

#[test]
fn a_2d_frame_stays_within_its_budgets() {
    for topology in ["gct:1", "gct:1,ct:1,t:1"] {
        check("game2d.txt", false, topology, [1, 8, 20, 0, 0, 1200]);
    }
}
