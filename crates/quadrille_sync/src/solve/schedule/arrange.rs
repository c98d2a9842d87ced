//! Phase `arrange`: searches for a better order of submission than the declared one.
//!
//! The new order must keep hazards, and the order of passes with side effects. Frames in which device
//! passes depend on host passes, or passes use timelines of users, keep their declared order. Three
//! steps:
//!
//! 1. List scheduling: each queue takes the pass that can begin first, and of several the one that
//!    the longest chain of passes follows ([`list_schedule`]).
//! 2. Successive submissions of a queue are joined, as long as that delays the frame by no more than
//!    a submission costs ([`merge`](crate::solve::schedule::merge)). The declared order is joined
//!    likewise, and the order with the shorter estimated time is kept.
//! 3. Within a submission, passes are sorted by level: the length of the longest dependency chain
//!    before them. Passes of one level need only one barrier call before them ([`sort_by_level`]).
//!
//! Declaration order decides among equals. This phase knows neither states nor barriers, so
//! [`choose`](crate::solve::schedule::choose) compares the complete plans of both orders. If there is
//! one submission in either order, barrier calls are estimated from hazards alone ([`calls`]).

use crate::frame::{Frame, PassIndex, PassKind};
use crate::solve::graph::hazard::Hazard;
use crate::solve::graph::{Graph, ranks};
use crate::solve::schedule::levels::levels;
use crate::solve::schedule::list::{list_schedule, tails};
use crate::solve::schedule::merge::{merge, time_of};
use crate::solve::schedule::split::{Draft, Split, split};
use crate::topology::{OrderPolicy, QueueIndex, Topology};

/// A frame in a rearranged order.
pub(crate) struct Arranged {
    pub(crate) split: Split,
    /// Whether it is already known to be better than the declared order, so that `choose` need not plan
    /// both.
    pub(crate) is_better: bool,
}

/// Rearranges the submissions of `declared`, the split of a frame in its declared `order`. `hazards`
/// agree with `order`. `None` if the order is fixed or cannot be improved.
pub(crate) fn arrange(
    frame: &Frame,
    topology: &Topology,
    hazards: &[Hazard],
    order: &[u32],
    queues: &[Option<QueueIndex>],
    declared: &Split,
) -> Option<Arranged> {
    // Host passes that device passes depend on (gates) fix the order around them.
    let has_gates = declared.host.iter().any(|host| host.before.is_some());
    // Work outside of the frame, between two values of a timeline, has unknown duration.
    let has_timelines = !frame.timeline_uses.is_empty();
    if topology.order == OrderPolicy::Declared || has_gates || has_timelines {
        return None;
    }
    let side_effects = side_effects(frame, order, queues);
    let needs = hazards.iter().chain(&side_effects).copied();
    let graph = Graph::of(order.len(), needs.clone());
    let mut drafts = declared.drafts.clone();
    let mut is_shorter = false;
    if topology.queues.len() > 1 && drafts.len() > 1 {
        let tails = tails(frame, &graph, order, queues);
        let early = list_schedule(frame, topology, &graph, order, queues, &tails);
        let needs: Vec<_> = needs.collect();
        let early = split(frame, topology, &needs, &early, queues);
        let merged = |drafts: Vec<Draft>| merge(frame, topology, &graph, drafts);
        // Hazards lead forwards through the submissions of declared order. But order among side
        // effects without a hazard may make two submissions depend on each other; `merge` then
        // returns `None`, and the declared submissions are kept.
        if let Some(late) = merged(drafts.clone()) {
            let best = match merged(early.drafts) {
                Some(early) if early.time_us <= late.time_us => early,
                _ => late,
            };
            let declared = time_of(frame, topology, &graph, &drafts);
            is_shorter = declared.is_some_and(|declared| best.time_us < declared);
            drafts = best.drafts;
        }
    }
    let levels = levels(order.len(), &graph, &drafts);
    let highest = levels.iter().max().copied().unwrap_or(0);
    let is_better = match (&declared.drafts[..], drafts.len()) {
        // One submission in both orders: each level but the first costs one barrier call.
        ([only], 1) if highest >= calls(&graph, only) => return None,
        ([_], 1) => true,
        _ => is_shorter,
    };
    sort_by_level(&levels, order, &mut drafts);
    let host = declared.host.clone();
    Some(Arranged {
        split: Split { drafts, host },
        is_better,
    })
}

/// The number of barrier calls for hazards among the passes of a submission in this order, with each
/// call as late as possible.
fn calls(graph: &Graph, draft: &Draft) -> u32 {
    // By pass: its 1-based position in the submission; 0 until it is placed.
    let mut ends = vec![0; graph.len()];
    let (mut count, mut last) = (0, 0);
    for (at, pass) in (0_u32..).zip(&draft.passes) {
        let before = graph.before(pass.0).iter();
        let behind = before.map(|from| ends[*from as usize]).max();
        if behind.unwrap_or(0) > last {
            (count, last) = (count + 1, at);
        }
        ends[pass.0 as usize] = at + 1;
    }
    count
}

/// Edges between successive device passes with side effects. Host passes follow all of them, since
/// frames with gates are not rearranged.
///
/// Successive passes of one queue get an edge of their own. Otherwise their order would be lost if a
/// pass of another queue is between them, because side effects add no waits between queues.
fn side_effects(frame: &Frame, order: &[u32], queues: &[Option<QueueIndex>]) -> Vec<(u32, u32)> {
    let has_effect = |pass: &u32| {
        let pass = &frame.passes[*pass as usize];
        pass.side_effect && pass.kind == PassKind::Device
    };
    let mut pairs = Vec::new();
    let mut last = None;
    // By queue: the last pass so far.
    let mut of_queue: Vec<(Option<QueueIndex>, u32)> = Vec::new();
    for pass in order.iter().copied().filter(has_effect) {
        pairs.extend(last.map(|last| (last, pass)));
        let queue = queues[pass as usize];
        match of_queue.iter_mut().find(|(known, _)| *known == queue) {
            Some((_, before)) => {
                let before = std::mem::replace(before, pass);
                pairs.extend((last != Some(before)).then_some((before, pass)));
            }
            None => of_queue.push((queue, pass)),
        }
        last = Some(pass);
    }
    pairs
}

/// Sorts the passes of each submission by level.
fn sort_by_level(levels: &[u32], order: &[u32], drafts: &mut [Draft]) {
    let rank = ranks(order);
    let key = |pass: &PassIndex| (levels[pass.0 as usize], rank[pass.0 as usize]);
    for draft in drafts {
        draft.passes.sort_unstable_by_key(key);
    }
}
