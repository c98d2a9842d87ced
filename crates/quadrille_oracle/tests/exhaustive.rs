//! All small frames: every plan passes the judge.
//!
//! By default up to three passes on two queues with a small alphabet. With
//! `QUADRILLE_ORACLE_EXHAUSTIVE=1` up to three passes on three queues with a large one, and four
//! passes with the small one (minutes, better with `--release`).

use quadrille_oracle::generate::exhaustive::{Alphabet, Space};
use quadrille_oracle::shrink;
use quadrille_sync::{Sharing, parse_topology};

mod common;

/// Judges every sequence of a space, and says how many frames there were.
fn judge(topology: &str, passes: usize, sharing: Sharing, alphabet: Alphabet) -> usize {
    let topology = parse_topology(topology).expect("the tests name topologies");
    let space = Space::new(&topology, passes, sharing, alphabet);
    let mut frames = 0;
    for sequence in (0..space.len()).filter_map(|number| space.sequence(number)) {
        frames += sequence.frames.len();
        if sequence.run().is_err() {
            panic!("fails; at its smallest:\n\n{}", shrink(&sequence).explain());
        }
    }
    frames
}

#[test]
fn every_small_frame_passes_the_judge() {
    let mut frames = 0;
    for topology in ["gct:1", "gct:2", "gct:1,ct:1 precise"] {
        for passes in 1..=3 {
            frames += judge(topology, passes, Sharing::Exclusive, Alphabet::Small);
        }
        frames += judge(topology, 2, Sharing::Concurrent, Alphabet::Large);
    }
    println!("{frames} frames");
}

#[test]
fn every_larger_frame_passes_the_judge() {
    if common::setting("EXHAUSTIVE", 0) == 0 {
        return println!("skipped; QUADRILLE_ORACLE_EXHAUSTIVE=1 runs it");
    }
    let mut frames = 0;
    for topology in [
        "gct:3",
        "gct:1,ct:2",
        "gct:1,ct:1,ct:1 precise maintenance8",
    ] {
        frames += judge(topology, 3, Sharing::Exclusive, Alphabet::Large);
        frames += judge(topology, 3, Sharing::Concurrent, Alphabet::Large);
        frames += judge(topology, 4, Sharing::Exclusive, Alphabet::Small);
    }
    println!("{frames} frames");
}
