//! Random frames against what can be said without knowing Vulkan: nothing panics, the same input
//! gives the same plan, reused plans are what would have been planned, steady frames settle, and
//! passes on different queues that touch the same memory are ordered by waits.
//!
//! `SEED=n` repeats one failure, `SEEDS=n` tries that many.
//!
//! Whether plans obey Vulkan's rules is for the oracle to judge.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

mod generate;

use std::ops::Range;

use generate::{Random, TOPOLOGIES, frame, place_at_random, resources};
use quadrille_sync::frame::{Frame, Use};
use quadrille_sync::plan::{Plan, Step};
use quadrille_sync::planner::Planner;
use quadrille_sync::range::SubRange;
use quadrille_sync::resource::{ResourceIndex, ResourceKind};
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::Topology;

/// Submissions that each pass's submission comes after, by waits and, on one queue, by order.
fn ancestors(plan: &Plan) -> Vec<Vec<bool>> {
    let mut ancestors: Vec<Vec<bool>> = Vec::new();
    for (at, submission) in plan.submissions.iter().enumerate() {
        let mut row = vec![false; plan.submissions.len()];
        for (before, other) in plan.submissions[..at].iter().enumerate() {
            let waited = submission
                .waits
                .iter()
                .any(|wait| wait.point.queue == other.queue && other.signal <= wait.point.offset);
            if waited || other.queue == submission.queue {
                row[before] = true;
                for (to, from) in row.iter_mut().zip(&ancestors[before]) {
                    *to |= from;
                }
            }
        }
        for wait in &submission.waits {
            assert_ne!(
                wait.point.queue, submission.queue,
                "a wait for one's own queue"
            );
            let signalled = plan.submissions[..at]
                .iter()
                .any(|other| other.queue == wait.point.queue && other.signal == wait.point.offset);
            assert!(
                signalled || wait.point.offset <= 0,
                "a wait before its signal"
            );
            assert!(!wait.stages.is_empty(), "a wait that holds nothing back");
            assert!(!wait.reasons.is_empty(), "a wait without reason");
        }
        ancestors.push(row);
    }
    ancestors
}

/// Asserts that conflicting passes on different queues are ordered.
fn check_order(frame: &Frame, plan: &Plan) {
    let ancestors = ancestors(plan);
    let mut placed = Vec::new();
    for (at, submission) in plan.submissions.iter().enumerate() {
        let passes = submission.steps.iter().filter_map(|step| match step {
            Step::Pass(pass) => Some(*pass),
            Step::Barriers(_) => None,
        });
        placed.extend(passes.map(|pass| (pass, at)));
    }
    for (later_at, (later, later_in)) in placed.iter().enumerate() {
        for (earlier, earlier_in) in &placed[..later_at] {
            let conflict = frame.uses_of(*later).iter().any(|a| {
                frame.uses_of(*earlier).iter().any(|b| {
                    let meet = a.resource == b.resource
                        && a.range.overlaps(&b.range)
                        && (a.access.is_write() || b.access.is_write());
                    meet || share_bytes(frame, a, b)
                })
            });
            if conflict && later_in != earlier_in {
                assert!(
                    ancestors[*later_in][*earlier_in],
                    "{earlier:?} then {later:?}"
                );
            }
        }
    }
}

/// Whether two uses of different resources touch the same memory.
fn share_bytes(frame: &Frame, a: &Use, b: &Use) -> bool {
    let (Some((a_block, a_bytes)), Some((b_block, b_bytes))) = (bytes(frame, a), bytes(frame, b))
    else {
        return false;
    };
    let meet = a_bytes.start < b_bytes.end && b_bytes.start < a_bytes.end;
    a.resource != b.resource && a_block == b_block && meet
}

/// The block and the bytes of it that a use touches: of an image, any.
fn bytes(frame: &Frame, one: &Use) -> Option<(u32, Range<u64>)> {
    let resource = frame.resource(one.resource);
    let place = resource.memory?;
    let range = match (one.range, resource.kind) {
        (SubRange::Bytes { offset, size }, _) => {
            place.offset + offset..place.offset + offset + size
        }
        (_, ResourceKind::Buffer { bytes }) => place.offset..place.offset + bytes,
        _ => place.range(),
    };
    Some((place.block.0, range))
}

fn run(seed: u64, planned: &mut usize) {
    let mut random = Random(seed);
    let topology = parse_topology(random.of(&TOPOLOGIES)).unwrap();
    let mut resources = resources(&mut random);
    place_at_random(&mut random, &mut resources);
    let (mut planner, mut states) = (Planner::default(), States::default());
    let mut one = frame(&mut random, &resources);
    for _ in 0..6 {
        if random.below(2) == 0 {
            one = frame(&mut random, &resources);
        }
        if let Some(plan) = step(&one, &topology, &mut planner, &mut states) {
            check_order(&one, &plan);
            *planned += 1;
        }
    }
    // Frames that differ in little are not taken for each other.
    for _ in 0..3 {
        edit(&mut random, &mut one);
        for _ in 0..2 {
            if let Some(plan) = step(&one, &topology, &mut planner, &mut states) {
                check_order(&one, &plan);
                *planned += 1;
            }
        }
    }
    // A frame that repeats settles, after any others.
    let mut reused = 0;
    for _ in 0..8 {
        let before = states.clone();
        if step(&one, &topology, &mut planner, &mut states).is_none() {
            return;
        }
        reused += usize::from(planner.plan(&one, &topology, &before).unwrap().reused);
    }
    assert_eq!(reused, 8, "what has just been planned is known");
    let steady = planner.plan(&one, &topology, &states).unwrap();
    assert!(steady.reused, "steady after eight frames");
    let passes: Vec<_> = steady.plan.passes().collect();
    let idle = steady.plan.submissions.iter().filter(|submission| {
        !submission
            .steps
            .iter()
            .any(|step| matches!(step, Step::Pass(_)))
            && submission.presents.is_empty()
    });
    assert_eq!(
        idle.count(),
        0,
        "submissions for ownership alone, beside {passes:?}"
    );
}

/// Changes one thing in a frame.
fn edit(random: &mut Random, frame: &mut Frame) {
    if frame.uses.is_empty() || random.below(3) == 0 {
        if !frame.passes.is_empty() {
            let pass = random.below(frame.passes.len());
            frame.passes[pass].cost_us += 1;
        }
        return;
    }
    let one = random.below(frame.uses.len());
    let other = frame.uses[random.below(frame.uses.len())];
    match random.below(3) {
        0 => frame.uses[one].discard ^= frame.uses[one].access.is_write(),
        1 => frame.uses[one].access = other.access,
        _ => {
            let resource = random.below(frame.resources.len()) as u32;
            frame.uses[one].resource = ResourceIndex(resource);
        }
    }
}

/// Plans and commits one frame; none if it is refused.
fn step(
    frame: &Frame,
    topology: &Topology,
    planner: &mut Planner,
    states: &mut States,
) -> Option<Plan> {
    let fresh = plan(frame, topology, states);
    let planned = planner.plan(frame, topology, states);
    let (Ok(fresh), Ok(planned)) = (&fresh, &planned) else {
        assert_eq!(fresh.err(), planned.err(), "errors are the same");
        return None;
    };
    assert_eq!(
        *planned.plan, *fresh,
        "a reused plan is what would be planned"
    );
    states.commit(frame, topology, fresh);
    Some(fresh.clone())
}

#[test]
fn random_frames() {
    let mut planned = 0;
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(1000),
    };
    for seed in seeds {
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(seed, &mut planned)));
        if let Err(panic) = result {
            eprintln!("SEED={seed} repeats this failure");
            std::panic::resume_unwind(panic);
        }
    }
    println!("{planned} frames planned");
}
