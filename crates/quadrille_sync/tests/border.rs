//! The border of two frames: a frame that repeats needs as few barrier calls as it can.
//!
//! What it cannot do without is found here by other means, over several frames in a row. In a fixed
//! order, a dependency needs a call between its two passes, and the fewest calls that serve all
//! of them are found by putting each as late as it may stand. In a free order, passes that depend
//! on each other one after the other need a call between each two.

use quadrille_sync::{Frame, Layout, OrderPolicy, Planner, States, Topology, parse_topology};

#[path = "../examples/scale/synthetic.rs"]
mod synthetic;

use synthetic::synthetic;

/// So many frames are looked at, and half of them come before things have settled.
const FRAMES: usize = 12;

/// A frame is planned so often: by then its plan is used again.
const TIMES: usize = 6;

/// What is known of a resource on the way through the frames.
#[derive(Clone, Default)]
struct Past {
    /// Its last users: one that wrote, or all that have read since in one layout.
    users: Vec<usize>,
    write: bool,
    layout: Layout,
    /// The users before them.
    before: Vec<usize>,
}

/// For each pass of [`FRAMES`] frames like this one, those right before it.
fn dependencies(frame: &Frame) -> Vec<Vec<usize>> {
    let mut past = vec![Past::default(); frame.resources.len()];
    let mut all = Vec::new();
    for at in 0..FRAMES * frame.passes.len() {
        let pass = &frame.passes[at % frame.passes.len()];
        let mut before = Vec::new();
        for one in &frame.uses[pass.uses.start as usize..pass.uses.end as usize] {
            let past = &mut past[one.resource.0 as usize];
            let (write, layout) = (one.access.is_write(), one.access.layout());
            let changes = frame.resource(one.resource).is_image() && layout != past.layout;
            if write || past.write || changes {
                past.before = std::mem::take(&mut past.users);
            }
            (past.write, past.layout) = (write, layout);
            past.users.push(at);
            before.extend(&past.before);
        }
        all.push(before);
    }
    all
}

/// The calls of a frame in declared order, if there are as few as can be in all frames together.
fn fewest_declared(frame: &Frame) -> u32 {
    let (mut last, mut calls) = (0, [0; FRAMES]);
    for (at, before) in dependencies(frame).iter().enumerate() {
        if before.iter().any(|from| *from >= last) {
            last = at;
            calls[at / frame.passes.len()] += 1;
        }
    }
    average(calls[FRAMES / 2..].iter().sum())
}

/// A frame has no fewer calls than this in any order: as many as the longest chain in it, and as many
/// as each adds to the longest chain through all frames.
fn fewest(frame: &Frame) -> u32 {
    let mut levels: Vec<u32> = Vec::new();
    let mut longest = [0; FRAMES];
    for (at, before) in dependencies(frame).iter().enumerate() {
        let level = before.iter().map(|from| levels[*from] + 1).max();
        levels.push(level.unwrap_or(0));
        let longest = &mut longest[at / frame.passes.len()];
        *longest = (*longest).max(levels[at]);
    }
    let added = longest[FRAMES - 1] - longest[FRAMES / 2 - 1];
    longest[0].max(average(added))
}

/// What each of the later frames has at least, if they have so many together.
fn average(sum: u32) -> u32 {
    sum.div_ceil((FRAMES / 2) as u32)
}

/// How many calls a frame has once it repeats.
fn steady(frame: &Frame, states: &States, topology: &Topology) -> u32 {
    let (mut planner, mut states) = (Planner::default(), states.clone());
    let mut calls = 0;
    for time in 1..=TIMES {
        let planned = planner.plan(frame, topology, &states);
        let planned = planned.unwrap_or_else(|errors| panic!("{errors}"));
        states.commit(frame, topology, &planned.plan);
        assert!(
            time < TIMES || planned.reused,
            "planned anew the {time}th time"
        );
        calls = planned.plan.counts().barrier_calls;
    }
    calls
}

fn topology(text: &str, order: OrderPolicy) -> Topology {
    let topology = parse_topology(text).unwrap_or_else(|error| panic!("{error}"));
    Topology { order, ..topology }
}

/// Topologies that differ in how barriers are written down, and in nothing else.
const STYLES: [&str; 2] = ["gct:1", "gct:1 precise"];

#[test]
fn the_usual_frame_needs_as_few_calls_as_it_can() {
    for (passes, free, declared) in [(10, 6, 6), (100, 15, 22), (300, 13, 38), (1000, 20, 74)] {
        let (frame, states) = synthetic(passes);
        let expected = (fewest(&frame), fewest_declared(&frame));
        assert_eq!(expected, (free, declared), "the least for {passes} passes");
        for style in STYLES {
            let calls = |order| steady(&frame, &states, &topology(style, order));
            let found = (calls(OrderPolicy::Free), calls(OrderPolicy::Declared));
            assert_eq!(found, expected, "{passes} passes, {style}");
        }
    }
}

#[test]
fn declared_order_never_needs_more_and_free_order_seldom() {
    let (mut exact, mut all) = (0, 0);
    for passes in 5..300 {
        let (frame, states) = synthetic(passes);
        let calls = |order| steady(&frame, &states, &topology(STYLES[passes % 2], order));
        let declared = calls(OrderPolicy::Declared);
        assert_eq!(declared, fewest_declared(&frame), "{passes} passes");
        let (free, least) = (calls(OrderPolicy::Free), fewest(&frame));
        assert!(
            free <= least + 2,
            "{passes} passes: {free} calls, {least} at least"
        );
        (exact, all) = (exact + u32::from(free == least), all + 1);
    }
    assert!(exact * 10 >= all * 9, "{exact} of {all} have the least");
}
