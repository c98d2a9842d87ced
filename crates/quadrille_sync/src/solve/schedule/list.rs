//! List scheduling by critical path: each queue takes the pass that can begin first, and of several
//! the one with the longest chain of dependent passes, so that work on other queues begins early.
//! Declaration order decides among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::frame::{Frame, PassIndex};
use crate::solve::graph::{Graph, ranks};
use crate::solve::schedule::objective::Costs;
use crate::topology::{QueueIndex, Topology};

/// Simulated queue. Times are in microseconds.
#[derive(Default)]
struct Worker {
    /// The end of its last pass.
    free: u64,
    /// Urgency and rank of passes that can begin now.
    ready: BinaryHeap<(u64, Reverse<u32>)>,
    /// Earliest start and rank of the other passes.
    later: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Worker {
    /// The start of its next pass, if there is one.
    fn next_start(&self) -> Option<u64> {
        if !self.ready.is_empty() {
            return Some(self.free);
        }
        let Reverse((time, _)) = self.later.peek()?;
        Some(self.free.max(*time))
    }

    /// Takes the most urgent pass among those that can begin at a time.
    fn take(&mut self, now: u64, urgency: impl Fn(u32) -> u64) -> Option<u32> {
        while let Some(Reverse((time, rank))) = self.later.peek().copied() {
            if time > now {
                break;
            }
            self.later.pop();
            self.ready.push((urgency(rank), Reverse(rank)));
        }
        self.ready.pop().map(|(_, Reverse(rank))| rank)
    }
}

/// By pass: the estimated time of the pass and the longest chain of passes that depend on it, in
/// microseconds.
pub(crate) fn tails(
    frame: &Frame,
    graph: &Graph,
    order: &[u32],
    queues: &[Option<QueueIndex>],
) -> Vec<u64> {
    let costs = Costs::new(frame);
    let mut tails = vec![0_u64; order.len()];
    for pass in order.iter().rev() {
        let after = graph.after(*pass).iter().map(|next| tails[*next as usize]);
        let own = match queues[*pass as usize] {
            Some(_) => costs.of(frame, PassIndex(*pass)),
            None => 0,
        };
        tails[*pass as usize] = own + after.max().unwrap_or(0);
    }
    tails
}

/// Returns the passes in the order in which they would begin if each were a submission of its own. Of
/// several that can begin on a queue, the one with the greatest `urgency` begins.
pub(crate) fn list_schedule(
    frame: &Frame,
    topology: &Topology,
    graph: &Graph,
    order: &[u32],
    queues: &[Option<QueueIndex>],
    urgency: &[u64],
) -> Vec<u32> {
    let (costs, rank) = (Costs::new(frame), ranks(order));
    let mut missing: Vec<u32> = (0..order.len() as u32)
        .map(|pass| graph.before(pass).len() as u32)
        .collect();
    let mut start = vec![0_u64; order.len()];
    let mut workers: Vec<Worker> = Vec::new();
    workers.resize_with(topology.queues.len(), Worker::default);
    let mut listed = Vec::with_capacity(order.len());
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
                    listed.push(pass);
                    finish(graph, pass, begin, &mut start, &mut missing, &mut open);
                }
            }
        }
        let next = workers
            .iter_mut()
            .filter_map(|it| Some((it.next_start()?, it)));
        let Some((now, worker)) = next.min_by_key(|(time, _)| *time) else {
            return listed;
        };
        let Some(rank) = worker.take(now, |rank| urgency[order[rank as usize] as usize]) else {
            unreachable!("a queue that can begin something has something to begin");
        };
        let pass = order[rank as usize];
        worker.free = now + costs.of(frame, PassIndex(pass));
        listed.push(pass);
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

/// Ends a pass: successors without another missing predecessor become ready.
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
