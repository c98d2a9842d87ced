//! Phase `split`: which passes share a submission?
//!
//! A change of queue ends a submission, and coming back to a queue opens a new one, unless the
//! pass can join the queue's last submission without delaying anybody:
//!
//! - its own start: it waits for nothing on another queue that the submission does not wait for;
//! - others' start: nobody on another queue who waits for the submission would have to wait for
//!   the pass without need.
//!
//! The first also means that all a pass depends on was submitted before its submission, so a wait
//! always follows its signal in submission order. Both are questions to vector clocks over
//! positions in the order, one looking back and one looking ahead.

use super::graph::{Edge, Graph, ranks};
use super::touch::Touches;
use crate::error::PlanError;
use crate::flags::Layout;
use crate::frame::{Frame, PassIndex, PassKind, Use};
use crate::resource::Sharing;
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// The passes of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) queue: QueueIndex,
    pub(super) passes: Vec<PassIndex>,
}

/// What runs where, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) drafts: Vec<Draft>,
    pub(super) host: Vec<PassIndex>,
}

/// Makes submissions. `touches` is sorted by `order`.
pub(super) fn split(
    frame: &Frame,
    topology: &Topology,
    touches: &Touches,
    graph: &Graph,
    order: &[u32],
    queues: &[Option<QueueIndex>],
    errors: &mut Vec<PlanError>,
) -> Split {
    let mut split = Split::default();
    let is_host = |pass: &u32| frame.passes[*pass as usize].kind == PassKind::Host;
    let edges = hazards(frame, topology, touches, queues);
    if frame.passes.iter().any(|pass| pass.kind == PassKind::Host) {
        check_host(frame, graph, &edges, errors);
        split.host = order
            .iter()
            .copied()
            .filter(is_host)
            .map(PassIndex)
            .collect();
    }
    let clocks = Clocks::new(topology.queues.len(), graph, &edges, order, queues);
    // The last submission of each queue.
    let mut open: Vec<Option<Open>> = vec![None; topology.queues.len()];
    for pass in order {
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

/// A submission that may still grow.
#[derive(Clone, Debug)]
struct Open {
    draft: usize,
    /// What it waits for: that of its first pass, since later ones wait for no more.
    behind: Vec<u32>,
    /// Who waits for it first, on each queue.
    ahead: Vec<u32>,
}

impl Open {
    /// Whether a pass of the same queue can join without delaying anybody.
    fn admits(&self, queue: QueueIndex, clock: &Clock<'_>) -> bool {
        let others = (0..clock.behind.len()).filter(|other| *other != usize::from(queue.0));
        let mut others = others.into_iter();
        others.all(|at| clock.behind[at] <= self.behind[at] && clock.ahead[at] <= self.ahead[at])
    }
}

/// A hazard between two passes, and the resource it is about.
struct Hazard {
    from: u32,
    to: u32,
    resource: u32,
}

/// All neighbours that must not overlap in time: one writes, or the layout or the owner changes
/// between two reads.
fn hazards(
    frame: &Frame,
    topology: &Topology,
    touches: &Touches,
    queues: &[Option<QueueIndex>],
) -> Vec<Hazard> {
    let mut edges = Vec::new();
    let mut readers: Vec<u32> = Vec::new();
    for (span, members) in touches.spans() {
        let resource = frame.resource(span.resource);
        let exclusive = resource.sharing == Sharing::Exclusive;
        // What has to be the same for two reads to overlap. The host owns nothing, and takes
        // nothing from its owner.
        let setting = |one: &Use, pass: u32| {
            let layout = resource.is_image().then(|| one.access.layout());
            let queue = queues[pass as usize].filter(|_| exclusive);
            (layout, queue.map(|queue| topology.family(queue)))
        };
        readers.clear();
        let mut change: Option<u32> = None;
        let mut present: Option<(Option<Layout>, Option<FamilyIndex>)> = None;
        for at in members {
            let (one, pass) = (&frame.uses[*at as usize], touches.pass_of(*at));
            let (layout, family) = setting(one, pass);
            let changes = one.access.is_write() || present.is_some_and(|(now, _)| now != layout);
            let before = present.and_then(|(_, owner)| owner);
            let moves = before.zip(family).is_some_and(|(now, new)| now != new);
            let mut push = |from: u32| {
                if from != pass {
                    edges.push(Hazard {
                        from,
                        to: pass,
                        resource: span.resource.0,
                    });
                }
            };
            change.into_iter().for_each(&mut push);
            if changes || moves {
                // The host reads on while the owner changes.
                let stays =
                    |reader: u32| !changes && frame.passes[reader as usize].kind == PassKind::Host;
                readers
                    .iter()
                    .copied()
                    .filter(|reader| !stays(*reader))
                    .for_each(push);
                readers.retain(|reader| stays(*reader));
                change = Some(pass);
            } else {
                readers.push(pass);
            }
            let owner = family.or(before);
            present = Some((layout, owner));
        }
    }
    edges
}

/// Reports device passes that come after host passes.
fn check_host(frame: &Frame, graph: &Graph, edges: &[Hazard], errors: &mut Vec<PlanError>) {
    let kind = |pass: u32| frame.passes[pass as usize].kind;
    let name = |pass: u32| frame.passes[pass as usize].name.clone();
    let hazards = edges
        .iter()
        .map(|edge| (edge.from, edge.to, Some(edge.resource)));
    let declared = graph.edges.iter().filter(|edge| edge.resource.is_none());
    for (from, to, resource) in hazards.chain(declared.map(|edge| (edge.from, edge.to, None))) {
        if kind(from) == PassKind::Host && kind(to) == PassKind::Device {
            let resource = resource.map(|at| frame.resources[at as usize].name.clone());
            let error = PlanError::AfterHost {
                device: name(to),
                host: name(from),
                resource,
            };
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
}

/// For each pass and queue: how far it looks back, and how far ahead.
struct Clocks {
    /// How many queues; none if there is only one and nothing to compare.
    queues: usize,
    /// One more than the last rank on a queue that the pass comes after; 0 if there is none.
    behind: Vec<u32>,
    /// The first rank on a queue that comes after the pass.
    ahead: Vec<u32>,
}

/// The clocks of one pass, by queue.
struct Clock<'a> {
    behind: &'a [u32],
    ahead: &'a [u32],
}

impl Clocks {
    fn new(
        queues: usize,
        graph: &Graph,
        hazards: &[Hazard],
        order: &[u32],
        queue_of: &[Option<QueueIndex>],
    ) -> Self {
        if queues < 2 {
            return Self {
                queues: 0,
                behind: Vec::new(),
                ahead: Vec::new(),
            };
        }
        let edge = |from: u32, to: u32| Edge {
            from,
            to,
            resource: None,
        };
        let edges = (graph.edges.iter().map(|other| edge(other.from, other.to)))
            .chain(hazards.iter().map(|hazard| edge(hazard.from, hazard.to)));
        let graph = Graph::new(order.len(), edges.collect());
        let rank = ranks(order);
        let mut clocks = Self {
            queues,
            behind: vec![0; order.len() * queues],
            ahead: vec![u32::MAX; order.len() * queues],
        };
        for to in order {
            for from in graph.before(*to) {
                clocks.look_back(*from as usize, *to as usize);
                if let Some(queue) = queue_of[*from as usize] {
                    let behind = &mut clocks.behind[*to as usize * queues + usize::from(queue.0)];
                    *behind = (*behind).max(rank[*from as usize] + 1);
                }
            }
        }
        for from in order.iter().rev() {
            for to in graph.after(*from) {
                clocks.look_ahead(*from as usize, *to as usize);
                if let Some(queue) = queue_of[*to as usize] {
                    let ahead = &mut clocks.ahead[*from as usize * queues + usize::from(queue.0)];
                    *ahead = (*ahead).min(rank[*to as usize]);
                }
            }
        }
        clocks
    }

    /// The clocks of a pass.
    fn of(&self, pass: u32) -> Clock<'_> {
        let row = pass as usize * self.queues..(pass as usize + 1) * self.queues;
        Clock {
            behind: &self.behind[row.clone()],
            ahead: &self.ahead[row],
        }
    }

    /// What comes before `from` comes before `to`.
    fn look_back(&mut self, from: usize, to: usize) {
        for queue in 0..self.queues {
            let other = self.behind[from * self.queues + queue];
            let behind = &mut self.behind[to * self.queues + queue];
            *behind = (*behind).max(other);
        }
    }

    /// What comes after `to` comes after `from`.
    fn look_ahead(&mut self, from: usize, to: usize) {
        for queue in 0..self.queues {
            let other = self.ahead[to * self.queues + queue];
            let ahead = &mut self.ahead[from * self.queues + queue];
            *ahead = (*ahead).min(other);
        }
    }
}
