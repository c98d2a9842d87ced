//! Phase `arrange`: a better order than the declared one, if there is any.
//!
//! Only hazards have to be kept, and the order of passes with side effects. Frames in which device
//! passes come after host passes stay as declared. Three steps:
//!
//! 1. List scheduling: each queue takes the pass that can begin first, and of several the one
//!    declared first, so that no queue idles for the sake of declaration order ([`early`]).
//! 2. Submissions are joined with the next ones of their queue, as long as no queue is estimated
//!    to finish later than it would in declared order ([`merge`](crate::solve::schedule::merge)). What is joined
//!    was a needless switch of queue.
//! 3. Within a submission, passes are sorted by how many passes they depend on one after another.
//!    Passes of one level need only one barrier call before them ([`sort_by_level`]).
//!
//! Declaration order decides among equals. Whether other submissions are better than those of the
//! declared order is up to [`choose`](crate::solve::schedule::choose): this phase knows neither states nor barriers.
//! If there is one submission in either order, barrier calls are estimated from hazards alone ([`calls`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::frame::{Frame, PassIndex, PassKind};
use crate::solve::graph::hazard::Hazard;
use crate::solve::graph::{Edge, Graph, ranks};
use crate::solve::schedule::Costs;
use crate::solve::schedule::levels::Levels;
use crate::solve::schedule::merge::merge;
use crate::solve::schedule::split::{Draft, Split, split};
use crate::topology::{OrderPolicy, QueueIndex, Topology};

/// A frame in another order.
pub(in crate::solve) struct Arranged {
    pub(in crate::solve) split: Split,
    /// It is known to be better than the declared order, and there is nothing to choose.
    pub(in crate::solve) is_better: bool,
}

/// Arranges a frame with these `hazards`, which agree with `order`, that
/// is split into the submissions of `declared`. None if the order is not free, or what was declared
/// cannot be improved.
pub(in crate::solve) fn arrange(
    frame: &Frame,
    topology: &Topology,
    hazards: &[Hazard],
    order: &[u32],
    queues: &[Option<QueueIndex>],
    declared: &Split,
) -> Option<Arranged> {
    // Gates have their own idea of order.
    let has_gates = declared.host.iter().any(|host| host.before.is_some());
    if topology.order == OrderPolicy::Declared || has_gates {
        return None;
    }
    let side_effects = side_effects(frame, order, queues);
    let hazards = hazards.iter().map(|hazard| (hazard.from, hazard.to));
    let needs = hazards.chain(side_effects.iter().copied());
    let edge = |(from, to)| Edge {
        from,
        to,
        resource: None,
    };
    let graph = Graph::new(order.len(), needs.clone().map(edge).collect());
    let mut drafts = declared.drafts.clone();
    if topology.queues.len() > 1 && drafts.len() > 1 {
        let early = early(frame, topology, &graph, order, queues);
        let needs: Vec<_> = needs.collect();
        let early = split(frame, topology, &needs, &early, queues);
        drafts = merge(frame, topology, &graph, &declared.drafts, early.drafts);
    }
    let levels = Levels::new(order.len(), &graph, &drafts);
    let is_better = match (&declared.drafts[..], drafts.len()) {
        // Before each level but the first stands a call.
        ([only], 1) if levels.highest(0) >= calls(&graph, only) => return None,
        ([_], 1) => true,
        _ => false,
    };
    sort_by_level(&levels, order, &mut drafts);
    let host = declared.host.clone();
    Some(Arranged {
        split: Split { drafts, host },
        is_better,
    })
}

/// How many barrier calls the passes of a submission need in this order for hazards among them, each
/// call as late as it may stand.
fn calls(graph: &Graph, draft: &Draft) -> u32 {
    // By pass: how many come before the end of it, once it has come.
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

/// The order of device passes with side effects among themselves. Host passes come after all of
/// them, where there are no gates.
///
/// Passes of one queue are tied directly, too: their order must not get lost where the pass between
/// them is submitted to another queue, for which nobody waits.
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

/// A queue that is given passes one by one.
#[derive(Default)]
struct Worker {
    /// When it has ended all that it was given.
    free: u64,
    /// The ranks of passes that can begin now.
    ready: BinaryHeap<Reverse<u32>>,
    /// When other passes can begin, and their ranks.
    later: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Worker {
    /// When its next pass begins, if there is one.
    fn next_start(&self) -> Option<u64> {
        if !self.ready.is_empty() {
            return Some(self.free);
        }
        let Reverse((time, _)) = self.later.peek()?;
        Some(self.free.max(*time))
    }

    /// Takes the pass that is declared first among those that can begin at a time.
    fn take(&mut self, now: u64) -> Option<u32> {
        while let Some(Reverse((time, rank))) = self.later.peek().copied() {
            if time > now {
                break;
            }
            self.later.pop();
            self.ready.push(Reverse(rank));
        }
        self.ready.pop().map(|Reverse(rank)| rank)
    }
}

/// The passes in the order in which they would begin if each were a submission of its own.
fn early(
    frame: &Frame,
    topology: &Topology,
    graph: &Graph,
    order: &[u32],
    queues: &[Option<QueueIndex>],
) -> Vec<u32> {
    let (costs, rank) = (Costs::new(frame), ranks(order));
    let mut missing: Vec<u32> = (0..order.len() as u32)
        .map(|pass| graph.before(pass).len() as u32)
        .collect();
    let mut start = vec![0_u64; order.len()];
    let mut workers: Vec<Worker> = Vec::new();
    workers.resize_with(topology.queues.len(), Worker::default);
    let mut early = Vec::with_capacity(order.len());
    // Passes of no queue (culled ones, host passes) take no time.
    let mut open: Vec<u32> = order.to_vec();
    open.retain(|pass| missing[*pass as usize] == 0);
    open.reverse();
    loop {
        while let Some(pass) = open.pop() {
            let begin = start[pass as usize];
            match queues[pass as usize] {
                Some(queue) => {
                    let entry = Reverse((begin, rank[pass as usize]));
                    workers[usize::from(queue.0)].later.push(entry);
                }
                None => {
                    early.push(pass);
                    finish(graph, pass, begin, &mut start, &mut missing, &mut open);
                }
            }
        }
        let next = workers
            .iter_mut()
            .filter_map(|it| Some((it.next_start()?, it)));
        let Some((now, worker)) = next.min_by_key(|(time, _)| *time) else {
            return early;
        };
        let Some(rank) = worker.take(now) else {
            unreachable!("a queue that can begin something has something to begin");
        };
        let pass = order[rank as usize];
        worker.free = now + costs.of(frame, PassIndex(pass));
        early.push(pass);
        finish(
            graph,
            pass,
            worker.free,
            &mut start,
            &mut missing,
            &mut open,
        );
    }
}

/// A pass has ended: whoever waited only for it can begin.
fn finish(
    graph: &Graph,
    pass: u32,
    end: u64,
    start: &mut [u64],
    missing: &mut [u32],
    open: &mut Vec<u32>,
) {
    for next in graph.after(pass) {
        let next = *next as usize;
        start[next] = start[next].max(end);
        missing[next] -= 1;
        if missing[next] == 0 {
            open.push(next as u32);
        }
    }
}

/// Sorts the passes of each submission by level.
fn sort_by_level(levels: &Levels, order: &[u32], drafts: &mut [Draft]) {
    let rank = ranks(order);
    for (at, draft) in drafts.iter_mut().enumerate() {
        if !draft.passes.is_sorted_by_key(|pass| rank[pass.0 as usize]) {
            draft.passes.sort_by_key(|pass| rank[pass.0 as usize]);
        }
        draft.passes = by_level(&draft.passes, |pass| levels.of(pass), levels.highest(at));
    }
}

/// Passes in order of their levels, of which one is the highest; those of one level stay in order.
fn by_level(
    passes: &[PassIndex],
    level: impl Fn(PassIndex) -> u32,
    highest: u32,
) -> Vec<PassIndex> {
    // How many passes each level has, then where its next one goes.
    let mut next = vec![0_u32; highest as usize + 1];
    for pass in passes {
        next[level(*pass) as usize] += 1;
    }
    let mut sum = 0;
    for next in &mut next {
        (*next, sum) = (sum, sum + *next);
    }
    let mut sorted = passes.to_vec();
    for pass in passes {
        let place = &mut next[level(*pass) as usize];
        sorted[*place as usize] = *pass;
        *place += 1;
    }
    sorted
}
