//! Phase `split`: groups passes into submissions.
//!
//! A pass joins the last submission of its queue if that delays no pass; otherwise it opens a new
//! submission. Joining delays
//!
//! - no earlier pass of the submission, if the pass waits for nothing on another queue that the
//!   submission does not already wait for;
//! - no pass on another queue, if every pass that waits for the submission also waits for the new
//!   pass.
//!
//! The first condition also ensures that all passes a pass depends on were submitted before its
//! submission, so a wait always follows its signal in submission order. Both are decided by vector
//! clocks over positions in the order: one for earlier and one for later passes. The host counts as
//! one more queue, as far as device passes depend on its passes (see
//! [`gate`](crate::solve::schedule::gate)).

use crate::frame::{Frame, PassIndex, PassKind};
use crate::solve::graph::{Graph, ranks};
use crate::solve::schedule::gate::{Gates, gate};
use crate::topology::{QueueIndex, Topology};

/// The passes of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) queue: QueueIndex,
    pub(crate) passes: Vec<PassIndex>,
}

/// Submissions and host passes, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) host: Vec<HostDraft>,
}

/// A host pass among submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostDraft {
    pub(crate) pass: PassIndex,
    /// The first submission that depends on it; none if no submission does.
    pub(crate) before: Option<usize>,
}

/// Groups passes into submissions. `links` are dependencies, as pairs of an earlier and a later pass.
pub(crate) fn split(
    frame: &Frame,
    topology: &Topology,
    links: &[(u32, u32)],
    order: &[u32],
    queues: &[Option<QueueIndex>],
) -> Split {
    let mut split = Split::default();
    let is_host = |pass: u32| frame.passes[pass as usize].kind == PassKind::Host;
    let alone = topology.queues.len() < 2 && !order.iter().any(|pass| is_host(*pass));
    if alone {
        split.drafts.extend(together(order, queues));
        return split;
    }
    let graph = Graph::of(order.len(), links.iter().copied());
    let gates = gate(frame, &graph, order, queues);
    let clocks = Clocks::new(topology.queues.len(), &graph, &gates, queues);
    // The last submission of each queue.
    let mut open: Vec<Option<Open>> = vec![None; topology.queues.len()];
    for pass in &gates.order {
        if is_host(*pass) {
            split.host.push(HostDraft {
                pass: PassIndex(*pass),
                before: gates.is_gate(*pass).then_some(split.drafts.len()),
            });
        }
        let Some(queue) = queues[*pass as usize] else {
            continue;
        };
        let clock = clocks.of(*pass);
        let open = &mut open[usize::from(queue.0)];
        match open.as_mut().filter(|open| open.admits(queue, &clock)) {
            Some(open) => {
                open.ahead
                    .iter_mut()
                    .zip(clock.ahead)
                    .for_each(|(a, b)| *a = (*a).min(*b));
                split.drafts[open.draft].passes.push(PassIndex(*pass));
            }
            None => {
                let (behind, ahead) = (clock.behind.to_vec(), clock.ahead.to_vec());
                *open = Some(Open {
                    draft: split.drafts.len(),
                    behind,
                    ahead,
                });
                split.drafts.push(Draft {
                    queue,
                    passes: vec![PassIndex(*pass)],
                });
            }
        }
    }
    split
}

/// The only submission of a frame with one queue and no host passes; `None` if all passes are culled.
fn together(order: &[u32], queues: &[Option<QueueIndex>]) -> Option<Draft> {
    let queue = |pass: &u32| queues[*pass as usize];
    let passes = order.iter().filter(|pass| queue(pass).is_some());
    Some(Draft {
        queue: order.iter().find_map(queue)?,
        passes: passes.map(|pass| PassIndex(*pass)).collect(),
    })
}

/// A submission that may still grow.
#[derive(Clone, Debug)]
struct Open {
    draft: usize,
    /// By queue: the last position that the draft waits for. Equal to that of its first pass, since
    /// later passes may not wait for more.
    behind: Vec<u32>,
    /// By queue: the position of the first pass that waits for the draft.
    ahead: Vec<u32>,
}

impl Open {
    /// Whether a pass of the same queue can join without a delay for any pass.
    fn admits(&self, queue: QueueIndex, clock: &Clock<'_>) -> bool {
        let others = (0..clock.behind.len()).filter(|other| *other != usize::from(queue.0));
        let mut others = others.into_iter();
        others.all(|at| clock.behind[at] <= self.behind[at] && clock.ahead[at] <= self.ahead[at])
    }
}

/// Vector clocks, by pass and queue: the last position that the pass depends on, and the first that
/// depends on the pass.
struct Clocks {
    /// The number of queues, plus one if there are gates. 0 instead of 1, since one column has nothing
    /// to compare.
    columns: usize,
    /// One more than the last rank on a queue that the pass depends on; 0 for none.
    behind: Vec<u32>,
    /// The first rank on a queue that depends on the pass.
    ahead: Vec<u32>,
}

/// The clocks of one pass, by queue.
struct Clock<'a> {
    behind: &'a [u32],
    ahead: &'a [u32],
}

impl Clocks {
    fn new(queues: usize, graph: &Graph, gates: &Gates, queue_of: &[Option<QueueIndex>]) -> Self {
        let columns = queues + usize::from(gates.any());
        if columns < 2 {
            return Self {
                columns: 0,
                behind: Vec::new(),
                ahead: Vec::new(),
            };
        }
        let order = &gates.order;
        let column = |pass: u32| match queue_of[pass as usize] {
            Some(queue) => Some(usize::from(queue.0)),
            None => gates.is_gate(pass).then_some(queues),
        };
        let rank = ranks(order);
        let mut clocks = Self {
            columns,
            behind: vec![0; order.len() * columns],
            ahead: vec![u32::MAX; order.len() * columns],
        };
        for to in order {
            for from in graph.before(*to) {
                clocks.look_back(*from as usize, *to as usize);
                if let Some(column) = column(*from) {
                    let behind = &mut clocks.behind[*to as usize * columns + column];
                    *behind = (*behind).max(rank[*from as usize] + 1);
                }
            }
        }
        for from in order.iter().rev() {
            for to in graph.after(*from) {
                clocks.look_ahead(*from as usize, *to as usize);
                if let Some(column) = column(*to) {
                    let ahead = &mut clocks.ahead[*from as usize * columns + column];
                    *ahead = (*ahead).min(rank[*to as usize]);
                }
            }
        }
        clocks
    }

    /// The clocks of a pass.
    fn of(&self, pass: u32) -> Clock<'_> {
        let row = pass as usize * self.columns..(pass as usize + 1) * self.columns;
        Clock {
            behind: &self.behind[row.clone()],
            ahead: &self.ahead[row],
        }
    }

    /// Raises the clock of `to` to that of its predecessor `from`.
    fn look_back(&mut self, from: usize, to: usize) {
        for column in 0..self.columns {
            let other = self.behind[from * self.columns + column];
            let behind = &mut self.behind[to * self.columns + column];
            *behind = (*behind).max(other);
        }
    }

    /// Lowers the clock of `from` to that of its successor `to`.
    fn look_ahead(&mut self, from: usize, to: usize) {
        for column in 0..self.columns {
            let other = self.ahead[to * self.columns + column];
            let ahead = &mut self.ahead[from * self.columns + column];
            *ahead = (*ahead).min(other);
        }
    }
}
