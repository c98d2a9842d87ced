//! Small random frames in every order in which they can be declared: for hardly any of them another
//! order than that of the plan is better.
//!
//! `QUADRILLE_ORACLE_FRAMES` says how many frames are drawn, `QUADRILLE_ORACLE_SEED` where to begin;
//! with `QUADRILLE_ORACLE_ALL=1` each frame that has a better order is printed beside it.

use std::sync::Arc;

use quadrille_oracle::{Random, Sequence, Shape, generate, orders};
use quadrille_sync::{Frame, OrderPolicy, Plan, Planner, States, Step, Topology};

mod common;

const SHAPE: Shape = Shape {
    passes: 4,
    resources: 4,
    uses: 3,
    frames: 1,
};

/// The plan of a frame that has come often enough for its repetition to be foreseen.
fn steady(frame: &Frame, topology: &Topology) -> Option<Arc<Plan>> {
    let (mut planner, mut states) = (Planner::default(), States::default());
    let mut last = None;
    for _ in 0..4 {
        let planned = planner.plan(frame, topology, &states).ok()?;
        states.commit(frame, topology, &planned.plan);
        last = Some(planned.plan);
    }
    last
}

/// After how many passes each queue has ended, if all last as long.
fn ends(plan: &Plan, topology: &Topology) -> Vec<usize> {
    let mut ends: Vec<Vec<usize>> = vec![Vec::new(); topology.queues.len()];
    for submission in &plan.submissions {
        let waits = submission.waits.iter().filter_map(|wait| {
            let value = usize::try_from(wait.point.offset).ok()?;
            let of_queue = &ends[usize::from(wait.point.queue.0)];
            of_queue.get(value.checked_sub(1)?).copied()
        });
        let queue = usize::from(submission.queue.0);
        let start = waits.chain(ends[queue].last().copied()).max();
        let is_pass = |step: &&Step| matches!(step, Step::Pass(_));
        let passes = submission.steps.iter().filter(is_pass).count();
        ends[queue].push(start.unwrap_or(0) + passes);
    }
    ends.iter()
        .map(|ends| ends.last().copied().unwrap_or(0))
        .collect()
}

/// Whether one plan is better: fewer submissions and waits, or as many and fewer barrier calls, with
/// no more transfers and no queue that ends later.
fn is_better(new: &Plan, old: &Plan, topology: &Topology) -> bool {
    let (a, b) = (new.counts(), old.counts());
    let cost = |plan: &Plan| {
        let counts = plan.counts();
        (
            counts.submissions + counts.semaphore_waits,
            counts.barrier_calls,
        )
    };
    let (new_ends, old_ends) = (ends(new, topology), ends(old, topology));
    let is_late = new_ends.iter().zip(&old_ends).any(|(new, old)| new > old);
    let is_worse = a.submissions > b.submissions || a.ownership_transfers > b.ownership_transfers;
    !is_late && !is_worse && cost(new) < cost(old)
}

#[test]
fn hardly_any_order_is_better_than_that_of_the_plan() {
    let frames = common::setting("FRAMES", 10_000);
    let first_seed = common::setting("SEED", 1);
    let explain = common::setting("ALL", 0) != 0;
    let (mut looked, mut beaten) = (0, Vec::new());
    for seed in first_seed..first_seed + frames {
        let mut sequence = generate::sequence(&mut Random::new(seed), &SHAPE);
        let mut frame = sequence.frames.remove(0);
        (frame.cull, frame.gives) = (false, Vec::new());
        // Times are counted in passes.
        frame.passes.iter_mut().for_each(|pass| pass.cost_us = 0);
        let topology = sequence.topology;
        let declared = Topology {
            order: OrderPolicy::Declared,
            ..topology.clone()
        };
        let Some(plan) = steady(&frame, &topology) else {
            continue;
        };
        let orders = orders(&frame, &plan);
        looked += usize::from(!orders.is_empty());
        let better = orders.into_iter().find(|other| {
            let other = steady(other, &declared);
            other.is_some_and(|other| is_better(&other, &plan, &topology))
        });
        let Some(better) = better else { continue };
        beaten.push(seed);
        for (frame, topology) in [(frame, topology), (better, declared)] {
            let frames = vec![frame; 4];
            let imports = Vec::new();
            let sequence = Sequence {
                topology,
                imports,
                frames,
            };
            if explain {
                println!("seed {seed}:\n{}", sequence.explain());
            }
        }
    }
    println!("{} of {looked} frames have a better order", beaten.len());
    assert!(looked > 0 || frames == 0, "no frame could be looked at");
    assert!(
        beaten.len() * 200 <= looked,
        "more than one in 200: seeds {beaten:?}"
    );
}
