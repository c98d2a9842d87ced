//! Random sequences of frames: every plan passes the judge.
//!
//! `QUADRILLE_ORACLE_FRAMES` and `QUADRILLE_ORACLE_SECONDS` say how much, whichever is reached
//! first; `QUADRILLE_ORACLE_SEED` says where to begin (a number, as a failure prints it).

use std::time::{Duration, Instant};

use quadrille_oracle::{Random, Shape, generate, shrink};

mod common;

/// Shapes from small, where faults are easy to see, to large, where they are easy to find.
const SHAPES: [Shape; 6] = [
    Shape {
        passes: 3,
        resources: 2,
        uses: 2,
        frames: 4,
    },
    Shape {
        passes: 5,
        resources: 3,
        uses: 3,
        frames: 6,
    },
    Shape {
        passes: 10,
        resources: 6,
        uses: 4,
        frames: 6,
    },
    Shape {
        passes: 30,
        resources: 12,
        uses: 4,
        frames: 4,
    },
    Shape {
        passes: 4,
        resources: 3,
        uses: 2,
        frames: 12,
    },
    Shape {
        passes: 60,
        resources: 30,
        uses: 6,
        frames: 3,
    },
];

#[test]
fn every_plan_passes_the_judge() {
    let wanted = common::setting("FRAMES", 100_000);
    let time = Duration::from_secs(common::setting("SECONDS", 15));
    let first_seed = common::setting("SEED", 1);
    let (start, mut frames, mut seed) = (Instant::now(), 0, first_seed);
    while frames < wanted && start.elapsed() < time {
        let mut random = Random::new(seed);
        let shape = SHAPES[random.below(SHAPES.len())];
        let sequence = generate::sequence(&mut random, &shape);
        frames += sequence.frames.len() as u64;
        if sequence.run().is_err() {
            let small = shrink(&sequence);
            panic!(
                "QUADRILLE_ORACLE_SEED={seed} fails; at its smallest:\n\n{}",
                small.explain()
            );
        }
        seed += 1;
    }
    println!(
        "{frames} frames of {} sequences in {:?}",
        seed - first_seed,
        start.elapsed()
    );
}
