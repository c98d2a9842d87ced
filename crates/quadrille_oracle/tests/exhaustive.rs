//! All small frames: every plan passes the judge.
//!
//! By default up to three passes on two queues with a small alphabet, and a part of what
//! `QUADRILLE_ORACLE_EXHAUSTIVE=1` runs: three passes on three queues with a large one, and four
//! passes on three queues with the small one (ten minutes of one core).

use quadrille_oracle::generate::exhaustive::{Alphabet, Space};
use quadrille_oracle::shrink;
use quadrille_sync::resource::Sharing;
use quadrille_sync::text::parse_topology;

mod common;

/// Judges the sequences of a space, one in `stride`, and says how many frames there were.
fn judge(
    topology: &str,
    passes: usize,
    sharing: Sharing,
    alphabet: Alphabet,
    stride: usize,
) -> usize {
    let topology = parse_topology(topology).expect("the tests name topologies");
    judge_space(&Space::new(&topology, passes, sharing, alphabet), stride)
}

fn judge_space(space: &Space, stride: usize) -> usize {
    let mut frames = 0;
    let numbers = (0..space.len()).step_by(stride);
    for sequence in numbers.filter_map(|number| space.sequence(number)) {
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
            frames += judge(topology, passes, Sharing::Exclusive, Alphabet::Small, 1);
        }
        frames += judge(topology, 2, Sharing::Concurrent, Alphabet::Large, 1);
    }
    println!("{frames} frames");
}

/// Resources in the same memory: every frame of three passes on up to three queues, and of four on
/// one; with `QUADRILLE_ORACLE_EXHAUSTIVE=1` of four on up to three.
#[test]
fn small_frames_of_shared_memory_pass_the_judge() {
    let all = common::setting("EXHAUSTIVE", 0) != 0;
    let mut frames = 0;
    for (text, passes) in [
        ("gct:1", 4),
        ("gct:1 precise", 4),
        ("gct:2", 3),
        ("gct:1,ct:1 precise", 3),
        ("gct:1,ct:2 maintenance8", 3),
    ] {
        let topology = parse_topology(text).expect("the tests name topologies");
        for passes in 1..=if all { 4 } else { passes } {
            frames += judge_space(&Space::of_shared_memory(&topology, passes), 1);
        }
    }
    println!("{frames} frames");
}

/// Slices of a 3D image: every frame of three passes on up to two queues; with
/// `QUADRILLE_ORACLE_EXHAUSTIVE=1` also of four, on up to three.
#[test]
fn small_frames_of_slices_pass_the_judge() {
    let all = common::setting("EXHAUSTIVE", 0) != 0;
    let mut frames = 0;
    for (text, passes) in [
        ("gct:1", 3),
        ("gct:2", 3),
        ("gct:1,ct:1 precise", 3),
        ("gct:1,ct:2 maintenance8", 2),
    ] {
        let topology = parse_topology(text).expect("the tests name topologies");
        for passes in 1..=if all { 4 } else { passes } {
            for sharing in [Sharing::Exclusive, Sharing::Concurrent] {
                frames += judge_space(&Space::of_slices(&topology, passes, sharing), 1);
            }
        }
    }
    println!("{frames} frames");
}

/// One in 499 of the frames of three passes with the large alphabet and of four passes with the
/// small one, on three queues; with `QUADRILLE_ORACLE_EXHAUSTIVE=1` all 3,234,816 sequences.
#[test]
fn larger_frames_pass_the_judge() {
    let all = common::setting("EXHAUSTIVE", 0) != 0;
    // A prime, so that all letters of an alphabet are combined.
    let stride = if all { 1 } else { 499 };
    let mut frames = 0;
    for topology in [
        "gct:3",
        "gct:1,ct:2",
        "gct:1,ct:1,ct:1 precise maintenance8",
    ] {
        for sharing in [Sharing::Exclusive, Sharing::Concurrent] {
            frames += judge(topology, 3, sharing, Alphabet::Large, stride);
        }
        frames += judge(topology, 4, Sharing::Exclusive, Alphabet::Small, stride);
    }
    println!("{frames} frames");
}
