//! Random frames that repeat: a planner that uses its plans again, and states that only note how
//! often, give the same plans as planning from scratch and writing everything down, and pass the judge.
//!
//! `QUADRILLE_ORACLE_FRAMES` and `QUADRILLE_ORACLE_SECONDS` say how much, whichever is reached
//! first; `QUADRILLE_ORACLE_SEED` says where to begin.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use quadrille_oracle::{Random, Sequence, Shape, generate};
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::solve::plan;
use quadrille_sync::states::{States, TimelinePoint};

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

/// Counts over the frames of a sequence.
#[derive(Default)]
struct Outcome {
    frames: u64,
    /// How many plans were used again.
    reused: u64,
    /// How many sequences ended with a reused plan that covers more than one from scratch:
    /// queues have observed each other since.
    wider: u64,
}

/// Plans the frames of a sequence, each a few times in a row and all of them twice, both ways, and
/// has the plans judged.
fn compare(sequence: &Sequence, random: &mut Random, outcome: &mut Outcome) {
    let topology = &sequence.topology;
    let mut planner = Planner::default();
    let ((mut noted, mut judge), (mut written, _)) = (sequence.start(), sequence.start());
    for frame in sequence.frames.iter().chain(&sequence.frames) {
        for round in 0..=random.below(TIMES) {
            let Ok(fresh) = plan(frame, topology, &written) else {
                // Frames after one that can come only once need not come twice.
                return;
            };
            // The renderer does not compare unchanged declarations again, and neither does this test.
            let again = || planner.plan_again(topology, &noted);
            let again = (round > 0).then(again).flatten();
            let planned = match again {
                Some(again) => again,
                None => planner.plan(frame, topology, &noted).expect("a plan"),
            };
            assert_eq!(
                judge.frame(frame, &planned.plan),
                [],
                "{}",
                sequence.explain()
            );
            outcome.frames += 1;
            outcome.reused += u64::from(planned.reused);
            if *planned.plan != fresh {
                assert!(planned.reused, "{}", sequence.explain());
                outcome.wider += 1;
                return;
            }
            noted.commit(frame, topology, &planned.plan);
            written.commit(frame, topology, &fresh);
            let uses = |states: &States, id: ResourceId| -> Vec<TimelinePoint> {
                states.last_uses(id).collect()
            };
            for id in frame.resources.iter().map(|resource| resource.id) {
                assert_eq!(uses(&noted, id), uses(&written, id));
            }
        }
    }
}

#[test]
fn repeated_frames_plan_as_from_scratch() {
    let wanted = common::setting("FRAMES", 60_000);
    let time = Duration::from_secs(common::setting("SECONDS", 10));
    let first_seed = common::setting("SEED", 1);
    let (start, mut outcome, mut seed) = (Instant::now(), Outcome::default(), first_seed);
    while outcome.frames < wanted && start.elapsed() < time {
        let mut random = Random::new(seed);
        let sequence = generate::sequence(&mut random, &SHAPE);
        let known = catch_unwind(AssertUnwindSafe(|| {
            compare(&sequence, &mut random, &mut outcome)
        }));
        assert!(known.is_ok(), "QUADRILLE_ORACLE_SEED={seed} fails");
        seed += 1;
    }
    let Outcome {
        frames,
        reused,
        wider,
    } = outcome;
    println!(
        "{frames} frames of {} sequences, {reused} plans used again, {wider} of them wider",
        seed - first_seed
    );
    assert!(3 * reused > frames, "frames repeat");
    assert!(
        100_000 * wider <= frames + 100_000,
        "plans used again are new ones"
    );
}
