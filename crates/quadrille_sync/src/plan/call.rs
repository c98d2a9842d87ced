//! Grouping of a plan's submissions into `vkQueueSubmit2` calls.

use std::ops::Range;

use super::{HostStep, Plan};
use crate::topology::{QueueIndex, SubmitPolicy, Topology};

/// One `vkQueueSubmit2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubmitCall {
    /// The queue.
    pub queue: QueueIndex,
    /// Indices of [`Plan::submissions`], ascending: the `VkSubmitInfo2`s of the call.
    pub submissions: Vec<usize>,
}

/// Host passes, and the submissions after them up to the next host passes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Indices of [`Plan::host`]: the host passes, which run first.
    pub host: Range<usize>,
    /// Indices of [`Plan::submissions`]: the submissions after them.
    pub submissions: Range<usize>,
}

impl Plan {
    /// The calls that submit the plan, in order.
    ///
    /// [`SubmitPolicy::InOrder`]: a call for each run of submissions to one queue. Signals are
    /// submitted before the waits for them, so this is free of deadlock however queues are mapped
    /// to hardware.
    ///
    /// [`SubmitPolicy::Coalesced`]: one call for each queue, at the position of its first submission. A
    /// wait may then be submitted before its signal, which is on another queue. Each queue's submissions
    /// stay in plan order, so they can still execute in the order of the plan. Queues that share one
    /// `VkQueue` (equal family and index) could wait for later submissions to the same `VkQueue`, which
    /// is a deadlock, so their calls stay in order.
    ///
    /// A submission that depends on a host pass is submitted after it, so no call spans two
    /// [`Segment`]s.
    ///
    /// ```
    /// use quadrille_sync::solve::plan;
    /// use quadrille_sync::states::States;
    /// use quadrille_sync::text::{parse_frame, parse_topology};
    /// let frame = parse_frame("
    /// buffer a 0 bytes 4
    /// pass one fixed 0
    ///   CopyWrite a
    /// pass two fixed 1
    ///   StorageReadWriteCompute a
    ///   after one
    /// pass three fixed 0
    ///   CopyRead a
    ///   after two
    /// ").unwrap();
    /// let calls = |text| {
    ///     let topology = parse_topology(text).unwrap();
    ///     let plan = plan(&frame, &topology, &States::default()).unwrap();
    ///     plan.submit_calls(&topology).len()
    /// };
    /// assert_eq!((calls("gct:2"), calls("gct:2 coalesced")), (3, 2));
    /// ```
    pub fn submit_calls(&self, topology: &Topology) -> Vec<SubmitCall> {
        let mut calls: Vec<SubmitCall> = Vec::new();
        for Segment { submissions, .. } in self.segments() {
            self.add_calls(topology, submissions, &mut calls);
        }
        calls
    }

    /// Adds the calls of some submissions.
    fn add_calls(
        &self,
        topology: &Topology,
        submissions: Range<usize>,
        calls: &mut Vec<SubmitCall>,
    ) {
        let first = calls.len();
        for at in submissions {
            let queue = self.submissions[at].queue;
            let is_same = |call: &&mut SubmitCall| call.queue == queue;
            let calls_now = &mut calls[first..];
            let open = match topology.submit {
                SubmitPolicy::Coalesced if !is_shared(topology, queue) => {
                    calls_now.iter_mut().find(is_same)
                }
                _ => calls_now.last_mut().filter(is_same),
            };
            match open {
                Some(call) => call.submissions.push(at),
                None => calls.push(SubmitCall {
                    queue,
                    submissions: vec![at],
                }),
            }
        }
    }

    /// The plan, split at host passes between submissions. Never empty. Host passes that no submission
    /// depends on are in no segment.
    pub fn segments(&self) -> Vec<Segment> {
        let count = self.submissions.len();
        let before = |step: &HostStep| step.before.map(|before| before as usize);
        let mut open = Segment {
            host: 0..0,
            submissions: 0..count,
        };
        let mut segments = Vec::new();
        for (at, step) in self.host.iter().enumerate() {
            let Some(first) = before(step).filter(|first| *first < count) else {
                break;
            };
            if first <= open.submissions.start {
                open.host.end = at + 1;
            } else {
                let next = Segment {
                    host: at..at + 1,
                    submissions: first..count,
                };
                open.submissions.end = first;
                segments.push(std::mem::replace(&mut open, next));
            }
        }
        segments.push(open);
        segments
    }
}

/// Whether another queue of the topology is the same `VkQueue`.
fn is_shared(topology: &Topology, queue: QueueIndex) -> bool {
    let same = |at: usize| {
        let (one, other) = (
            topology.queues.get(usize::from(queue.0)),
            &topology.queues[at],
        );
        one.is_some_and(|one| (one.family, one.index) == (other.family, other.index))
    };
    (0..topology.queues.len()).any(|at| at != usize::from(queue.0) && same(at))
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
