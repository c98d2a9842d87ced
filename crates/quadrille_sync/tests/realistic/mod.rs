//! The realistic frames of `frames/`, and what their plans cost once the frames repeat.

use std::fs;
use std::path::Path;

use quadrille_sync::frame::{Frame, PassIndex};
use quadrille_sync::planner::Planner;
use quadrille_sync::states::States;
use quadrille_sync::topology::Topology;

/// So often all frames of a file but the first come in turn.
const ROUNDS: usize = 4;

/// Costs of a frame: submissions, barrier calls, barriers, waits, transfers, and its estimated
/// time in microseconds.
pub(crate) type Cost = [u64; 6];

/// The frames of a file, without their costs unless `with_costs`.
pub(crate) fn frames(file: &str, with_costs: bool) -> Vec<Frame> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("frames");
    let text = fs::read_to_string(folder.join(file)).expect("the file is there");
    let sections = text.split("=== frame\n").skip(1);
    let parse =
        |text: &str| quadrille_sync::text::parse_frame(text).expect("the file holds frames");
    let mut frames: Vec<Frame> = sections.map(parse).collect();
    if !with_costs {
        let passes = frames.iter_mut().flat_map(|frame| &mut frame.passes);
        passes.for_each(|pass| pass.cost_us = 0);
    }
    frames
}

/// Calls `each` with the frames that have reached a steady state, and the planner and the states
/// that they meet.
pub(crate) fn each_steady(
    frames: &[Frame],
    topology: &Topology,
    mut each: impl FnMut(&Frame, &mut Planner, &States),
) {
    let (mut planner, mut states) = (Planner::default(), States::default());
    let (first, rest) = frames.split_first().expect("a file has frames");
    let all = std::iter::once(first).chain(std::iter::repeat_n(rest, ROUNDS).flatten());
    for (at, frame) in all.enumerate() {
        // All before the last round are on the way there.
        if at > (ROUNDS - 1) * rest.len() {
            each(frame, &mut planner, &states);
        }
        let planned = planner.plan(frame, topology, &states).expect("it is right");
        states.commit(frame, topology, &planned.plan);
    }
}

/// The most that any of the frames costs that repeat.
pub(crate) fn steady(frames: &[Frame], topology: &Topology) -> Cost {
    let mut most = Cost::default();
    each_steady(frames, topology, |frame, planner, states| {
        let planned = planner.plan(frame, topology, states).expect("it is right");
        let counts = planned.plan.counts();
        let cost = [
            counts.submissions.into(),
            counts.barrier_calls.into(),
            counts.barriers.into(),
            counts.semaphore_waits.into(),
            counts.ownership_transfers.into(),
            planned.plan.critical_path_us(frame),
        ];
        most.iter_mut()
            .zip(cost)
            .for_each(|(most, cost)| *most = (*most).max(cost));
    });
    most
}

/// The same frames with their passes declared in another order, which keeps declared order between
/// passes that conflict. Frames of equally many passes are reordered alike.
pub(crate) fn reordered(frames: &[Frame], seed: u64) -> Vec<Frame> {
    let frames = frames.iter();
    frames.map(|frame| reorder(frame, seed)).collect()
}

fn reorder(frame: &Frame, seed: u64) -> Frame {
    let mut seed = seed.wrapping_mul(2).wrapping_add(1);
    let mut below = |limit: usize| {
        // The high bits of a linear congruential generator.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % limit
    };
    let mut open: Vec<PassIndex> = frame.pass_indices().collect();
    let mut order: Vec<PassIndex> = Vec::new();
    while !open.is_empty() {
        let is_free = |pass: &&PassIndex| {
            let mut others = open.iter().filter(|other| other != pass);
            !others.any(|other| follows(frame, *other, **pass))
        };
        let free: Vec<PassIndex> = open.iter().filter(is_free).copied().collect();
        let next = free[below(free.len())];
        open.retain(|pass| *pass != next);
        order.push(next);
    }
    let place = |pass: &PassIndex| {
        let at = order.iter().position(|other| other == pass);
        PassIndex(at.expect("all passes are ordered") as u32)
    };
    let mut new = Frame {
        resources: frame.resources.clone(),
        cull: frame.cull,
        ..Frame::default()
    };
    for pass in &order {
        let old = frame.pass(*pass);
        let after: Vec<PassIndex> = frame.after_of(*pass).iter().map(place).collect();
        let at = new.add_pass(old.name.clone(), old.queue, frame.uses_of(*pass), &after);
        let pass = &mut new.passes[at.0 as usize];
        (pass.cost_us, pass.side_effect) = (old.cost_us, old.side_effect);
        (pass.kind, pass.prologue) = (old.kind, old.prologue);
    }
    new
}

/// Whether a pass has to be declared after another one.
fn follows(frame: &Frame, first: PassIndex, second: PassIndex) -> bool {
    if frame.after_of(second).contains(&first) {
        return true;
    }
    let conflict = frame.uses_of(first).iter().any(|a| {
        let mut others = frame.uses_of(second).iter();
        others.any(|b| {
            let writes = a.access.is_write() || b.access.is_write();
            a.resource == b.resource && writes && a.range.overlaps(&b.range)
        })
    });
    first < second && conflict
}
