//! Random frames that repeat: a planner that uses its plans again, and states that only note how
//! often, come to the same as planning anew and writing everything down.
//!
//! `QUADRILLE_ORACLE_FRAMES` and `QUADRILLE_ORACLE_SECONDS` say how much, whichever is reached
//! first; `QUADRILLE_ORACLE_SEED` says where to begin.

use std::time::{Duration, Instant};

use quadrille_oracle::{Random, Sequence, Shape, generate};
use quadrille_sync::{Planner, ResourceId, States, TimelinePoint, plan};

mod common;

const SHAPE: Shape = Shape {
    passes: 6,
    resources: 5,
    uses: 3,
    frames: 3,
};

/// How often frames come in a row: plans are used again from the third time on, and states only noted
/// from the fourth on.
const TIMES: usize = 7;

/// Plans the frames of a sequence, each a few times in a row and all of them twice, both ways.
/// Says how many there were and how many plans were used again.
fn compare(sequence: &Sequence, random: &mut Random) -> (u64, u64) {
    let topology = &sequence.topology;
    let mut planner = Planner::default();
    let ((mut noted, _), (mut written, _)) = (sequence.start(), sequence.start());
    let (mut frames, mut reused) = (0, 0);
    for frame in sequence.frames.iter().chain(&sequence.frames) {
        for round in 0..=random.below(TIMES) {
            let Ok(anew) = plan(frame, topology, &written) else {
                // What comes behind a frame that can come once need not come twice.
                return (frames, reused);
            };
            // As the renderer does: what is declared as before is not compared again.
            let again = || planner.plan_again(topology, &noted);
            let again = (round > 0).then(again).flatten();
            let planned = match again {
                Some(again) => again,
                None => planner.plan(frame, topology, &noted).expect("a plan"),
            };
            assert_eq!(*planned.plan, anew, "{}", sequence.explain());
            noted.commit(frame, topology, &planned.plan);
            written.commit(frame, topology, &anew);
            frames += 1;
            reused += u64::from(planned.reused);
            let ids = frame.resources.iter().map(|resource| resource.id);
            let uses = |states: &States, id: ResourceId| -> Vec<TimelinePoint> {
                states.last_uses(id).collect()
            };
            for id in ids {
                assert_eq!(uses(&noted, id), uses(&written, id));
            }
        }
    }
    (frames, reused)
}

#[test]
fn what_repeats_is_as_if_planned_anew() {
    let wanted = common::setting("FRAMES", 60_000);
    let time = Duration::from_secs(common::setting("SECONDS", 30));
    let first_seed = common::setting("SEED", 1);
    let (start, mut frames, mut reused, mut seed) = (Instant::now(), 0, 0, first_seed);
    while frames < wanted && start.elapsed() < time {
        let mut random = Random::new(seed);
        let sequence = generate::sequence(&mut random, &SHAPE);
        let (planned, again) = compare(&sequence, &mut random);
        frames += planned;
        reused += again;
        seed += 1;
    }
    println!(
        "{frames} frames of {} sequences, {reused} plans used again",
        seed - first_seed
    );
    assert!(3 * reused > frames, "frames repeat");
}
