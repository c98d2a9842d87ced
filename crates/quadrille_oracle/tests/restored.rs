//! Frames in the middle of a sequence, carried as text: planned from what the text says, each gets the plan that it
//! had, and a judge who begins there has no objection, but one to plans that missing their barriers.
//!
//! `QUADRILLE_ORACLE_FRAMES` says how many, `QUADRILLE_ORACLE_SEED` where to begin.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use quadrille_oracle::generate::sequence;
use quadrille_oracle::{Judge, Random, Sequence, Shape};
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::{Plan, Step};
use quadrille_sync::solve::plan;
use quadrille_sync::states::{Snapshot, States};
use quadrille_sync::text::parse_snapshot;
use quadrille_sync::topology::Topology;

mod common;

const SHAPE: Shape = Shape {
    passes: 6,
    resources: 5,
    uses: 3,
    frames: 4,
};

/// Counts of frames and of weakened plans.
#[derive(Debug, Default)]
struct Outcome {
    frames: u64,
    /// Weakened plans that a judge of all frames objects to, and those that the restored judge does too.
    wrong: u64,
    noticed: u64,
}

/// The plan without its barriers, and without its waits for earlier frames.
fn weakened(plan: &Plan) -> Plan {
    let mut weak = plan.clone();
    for submission in &mut weak.submissions {
        submission
            .steps
            .retain(|step| matches!(step, Step::Pass(_)));
        submission.waits.retain(|wait| wait.point.offset > 0);
    }
    weak
}

/// Carries what a frame begins with as text.
fn carried(states: &States, frame: &Frame) -> (States, Snapshot) {
    let text = Snapshot::of(states, frame).display(frame).to_string();
    let snapshot = parse_snapshot(&text, frame).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(snapshot, Snapshot::of(states, frame), "{text}");
    let restored = snapshot.restore(frame);
    assert_eq!(snapshot, Snapshot::of(&restored, frame), "{text}");
    (restored, snapshot)
}

fn replay(sequence: &Sequence, outcome: &mut Outcome) {
    let topology: &Topology = &sequence.topology;
    let (mut states, mut judge) = sequence.start();
    for frame in sequence.frames.iter().chain(&sequence.frames) {
        let Ok(planned) = plan(frame, topology, &states) else {
            return;
        };
        let (restored, snapshot) = carried(&states, frame);
        let explain = || {
            format!(
                "{}\n=== states\n{}",
                sequence.explain(),
                snapshot.display(frame)
            )
        };
        assert_eq!(
            plan(frame, topology, &restored).unwrap(),
            planned,
            "{}",
            explain()
        );
        let from_here = Judge::restore(topology, frame, &snapshot);
        let violations = from_here.clone().frame(frame, &planned);
        assert_eq!(violations, [], "{}", explain());
        let weak = weakened(&planned);
        if !judge.clone().frame(frame, &weak).is_empty() {
            outcome.wrong += 1;
            let objects = !from_here.clone().frame(frame, &weak).is_empty();
            outcome.noticed += u64::from(objects);
        }
        outcome.frames += 1;
        judge.frame(frame, &planned);
        states.commit(frame, topology, &planned);
    }
}

#[test]
fn frames_carried_as_text_get_the_same_plans() {
    let frames = common::setting("FRAMES", 3_000);
    let mut seed = common::setting("SEED", 37);
    let mut outcome = Outcome::default();
    while outcome.frames < frames {
        replay(&sequence(&mut Random::new(seed), &SHAPE), &mut outcome);
        seed += 1;
    }
    println!("{outcome:?}");
    // Accesses of one submission count as one instant, so a little goes unnoticed.
    assert!(outcome.wrong > frames / 4, "{outcome:?}");
    assert!(outcome.noticed * 100 >= outcome.wrong * 98, "{outcome:?}");
}
