//! Phase `arrange`: a better order than the declared one, if there is any.
//!
//! Only hazards have to be kept, and the order of passes with side effects. Frames in which device
//! passes come after host passes, or passes use timelines of users, stay as declared. Three steps:
//!
//! 1. List scheduling: each queue takes the pass that can begin first, and of several the one that
//!    the longest chain of passes follows ([`list_schedule`]).
//! 2. Submissions are joined with the next ones of their queue, as long as that delays the frame by
//!    less than a submission costs ([`merge`](crate::solve::schedule::merge)). What is joined was a
//!    needless switch of queue. The same is done with declared order, and the order of which the
//!    estimated time is less goes on.
//! 3. Within a submission, passes are sorted by how many passes they depend on one after another.
//!    Passes of one level need only one barrier call before them ([`sort_by_level`]).
//!
//! Declaration order decides among equals. Whether other submissions are better than those of the
//! declared order is up to [`choose`](crate::solve::schedule::choose): this phase knows neither
//! states nor barriers. If there is one submission in either order, barrier calls are estimated
//! from hazards alone ([`calls`]).

use crate::frame::{Frame, PassIndex, PassKind};
use crate::solve::graph::hazard::Hazard;
use crate::solve::graph::{Graph, ranks};
use crate::solve::schedule::levels::levels;
use crate::solve::schedule::list::{list_schedule, tails};
use crate::solve::schedule::merge::{merge, time_of};
use crate::solve::schedule::split::{Draft, Split, split};
use crate::topology::{OrderPolicy, QueueIndex, Topology};

/// A frame in another order.
pub(crate) struct Arranged {
    pub(crate) split: Split,
    /// Whether it is known to be better than the declared order, and there is nothing to choose.
    pub(crate) is_better: bool,
}

/// Arranges a frame with these `hazards`, which agree with `order`, that is split into the
/// submissions of `declared`. None if the order is not free, or what was declared cannot be
/// improved.
pub(crate) fn arrange(
    frame: &Frame,
    topology: &Topology,
    hazards: &[Hazard],
    order: &[u32],
    queues: &[Option<QueueIndex>],
    declared: &Split,
) -> Option<Arranged> {
    // Gates fix an order of their own.
    let has_gates = declared.host.iter().any(|host| host.before.is_some());
    // Work outside of the frame between two values of a timeline has no known length.
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
        // Hazards lead forwards through the submissions of declared order, but side effects that no
        // hazard ties may go to and fro between them. These stay as they are.
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
        // Before each level but the first stands a call.
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

/// How many barrier calls the passes of a submission need in this order for hazards among them,
/// each call as late as it may stand.
fn calls(graph: &Graph, draft: &Draft) -> u32 {
    // By pass: its end, as the number of passes up to and with it; 0 until it is placed.
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

/// The order of device passes with side effects among themselves. Host passes follow all of them,
/// where there are no gates.
///
/// Passes of one queue are tied directly, too: their order must not get lost where the pass
/// between them is submitted to another queue, for which no pass waits.
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
