//! Random plans with an element taken out or weakened: the judge objects to every one, except
//! where an excuse applies (`mutate::Excuse` explains them one by one).
//!
//! `QUADRILLE_ORACLE_MUTANTS` and `QUADRILLE_ORACLE_SECONDS` say how much, whichever is reached
//! first; `QUADRILLE_ORACLE_SEED` says where to begin. With `QUADRILLE_ORACLE_ALL=1` the first that
//! has no excuse does not end the hunt: all are named, and none is made small.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use quadrille_oracle::mutate::{Mutation, Survivor, survivors};
use quadrille_oracle::{Random, Sequence, Shape, generate, shrink_while};

mod common;

/// Small frames: whatever survives should be easy to read.
const SHAPES: [Shape; 2] = [
    Shape {
        passes: 3,
        resources: 2,
        uses: 2,
        frames: 3,
    },
    Shape {
        passes: 5,
        resources: 3,
        uses: 3,
        frames: 3,
    },
];

/// How often the last frame is repeated, so that later frames miss what earlier ones left out.
const ECHO: usize = 2;

#[test]
fn the_judge_misses_every_element_of_a_plan() {
    let wanted = common::setting("MUTANTS", 60_000) as usize;
    let time = Duration::from_secs(common::setting("SECONDS", 20));
    let first_seed = common::setting("SEED", 1);
    let all = common::setting("ALL", 0) != 0;
    let mut unexcused = Vec::new();
    let (start, mut mutants, mut seed) = (Instant::now(), 0, first_seed);
    let mut excused: BTreeMap<String, usize> = BTreeMap::new();
    while mutants < wanted && start.elapsed() < time {
        let mut random = Random::new(seed);
        let shape = SHAPES[random.below(SHAPES.len())];
        let sequence = echoed(generate::sequence(&mut random, &shape));
        seed += 1;
        // What fails as it is, is for the other test.
        let Ok((count, survivors)) = survivors(&sequence, ECHO) else {
            continue;
        };
        mutants += count;
        for survivor in survivors {
            let Some(excuse) = survivor.mutant.excuse else {
                if all {
                    unexcused.push(format!("seed {}: {}", seed - 1, survivor.mutant));
                    continue;
                }
                panic!(
                    "seed {}: {}",
                    seed - 1,
                    explained(&sequence, survivor.mutant.mutation)
                );
            };
            *excused
                .entry(format!("{:?}: {excuse:?}", survivor.mutant.mutation))
                .or_default() += 1;
        }
    }
    let survived: usize = excused.values().sum();
    println!(
        "{mutants} mutants in {:?}; {survived} excused: {excused:#?}",
        start.elapsed()
    );
    assert!(unexcused.is_empty(), "{}", unexcused.join("\n"));
}

/// The sequence with its last frame repeated.
fn echoed(mut sequence: Sequence) -> Sequence {
    let last = sequence.frames.last().cloned().unwrap_or_default();
    sequence.frames.extend(std::iter::repeat_n(last, ECHO));
    sequence
}

/// The unexcused survivors of one kind of a sequence.
fn inexcusable(sequence: &Sequence, mutation: Mutation) -> Vec<Survivor> {
    let Ok((_, mut found)) = survivors(sequence, ECHO) else {
        return Vec::new();
    };
    found.retain(|found| found.mutant.mutation == mutation && found.mutant.excuse.is_none());
    found
}

/// The smallest sequence with such a survivor, its plans, and where it is.
fn explained(sequence: &Sequence, mutation: Mutation) -> String {
    let small = shrink_while(sequence, |candidate| {
        let frames = &candidate.frames;
        let ends_alike = frames.len() > ECHO
            && frames[frames.len() - ECHO - 1..]
                .windows(2)
                .all(|pair| pair[0] == pair[1]);
        ends_alike && !inexcusable(candidate, mutation).is_empty()
    });
    let found: Vec<String> = inexcusable(&small, mutation)
        .iter()
        .map(|survivor| format!("frame {}: {} survives", survivor.frame, survivor.mutant))
        .collect();
    format!("{}\n\n{}", found.join("\n"), small.explain())
}
