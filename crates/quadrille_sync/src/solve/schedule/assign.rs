//! Phase `assign`: the queue of each pass.
//!
//! A queue suits a pass if it has the required capabilities and the stages of all its accesses. The
//! first queue that suits is the main queue. Among the queues that suit:
//!
//! - the fixed queue, if the pass names one;
//! - for [`Preference::Async`], a queue other than the main one: with the fewest capabilities that the
//!   pass does not require; then one whose last pass is a predecessor, so that a chain stays on one
//!   queue; then the one with the least estimated work;
//! - else the main queue.
//!
//! So every program also runs on a device with one queue.

use crate::access::Access;
use crate::error::{ConflictingAccess, PlanError};
use crate::flags::Stages;
use crate::frame::{Frame, PassDecl, PassIndex, PassKind, Preference};
use crate::solve::graph::Graph;
use crate::topology::{Capabilities, QueueIndex, Topology};

/// Returns the queue of each pass; `None` for culled passes and host passes.
pub(crate) fn assign(
    frame: &Frame,
    topology: &Topology,
    graph: &Graph,
    order: &[u32],
    kept: &[bool],
    errors: &mut Vec<PlanError>,
) -> Vec<Option<QueueIndex>> {
    let mut queues = vec![None; frame.passes.len()];
    let mut load = vec![Load::default(); topology.queues.len()];
    let mut suitable = Vec::new();
    let stages: Vec<Stages> = (topology.queues.iter())
        .map(|queue| Stages::supported_by(queue.capabilities))
        .collect();
    for pass in order.iter().copied().filter(|pass| kept[*pass as usize]) {
        let decl = &frame.passes[pass as usize];
        if decl.kind == PassKind::Host {
            continue;
        }
        let suits = |queue: &QueueIndex| suits(frame, topology, &stages, pass, *queue);
        suitable.clear();
        if decl.queue.fixed.is_none() && decl.queue.preference == Preference::Main {
            suitable.extend(topology.indices().find(suits));
        } else {
            suitable.extend(topology.indices().filter(suits));
        }
        if suitable.is_empty() {
            errors.push(unsuitable(frame, topology, pass));
            continue;
        }
        let queue = choose(decl, topology, &suitable, &load, || graph.before(pass));
        let load = &mut load[usize::from(queue.0)];
        load.cost += u64::from(decl.cost_us.max(1));
        load.last = Some(pass);
        queues[pass as usize] = Some(queue);
    }
    queues
}

/// Reports passes that no queue suits, in a frame that has no order.
pub(crate) fn assign_unordered(
    frame: &Frame,
    topology: &Topology,
    graph: &Graph,
    errors: &mut Vec<PlanError>,
) {
    let order: Vec<u32> = (0..frame.passes.len() as u32).collect();
    let kept = vec![true; order.len()];
    assign(frame, topology, graph, &order, &kept, errors);
}

/// Estimated work and last pass of a queue so far.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Estimated microseconds; passes of unknown cost count as one.
    cost: u64,
    last: Option<u32>,
}

/// Whether a queue can run a pass. `stages` are the supported stages by queue.
fn suits(
    frame: &Frame,
    topology: &Topology,
    stages: &[Stages],
    pass: u32,
    queue: QueueIndex,
) -> bool {
    let required = frame.passes[pass as usize].queue.required;
    let stages = stages[usize::from(queue.0)];
    let queue = topology.queue(queue);
    let mut uses = frame.uses_of(PassIndex(pass)).iter();
    !queue.is_foreign()
        && queue.capabilities.contains(required)
        && uses.all(|one| one.access.runs_in(stages))
}

/// Chooses among queues that suit; `suitable` is not empty.
fn choose<'a>(
    decl: &PassDecl,
    topology: &Topology,
    suitable: &[QueueIndex],
    load: &[Load],
    before: impl FnOnce() -> &'a [u32],
) -> QueueIndex {
    let main = suitable[0];
    if let Some(fixed) = decl.queue.fixed.filter(|fixed| suitable.contains(fixed)) {
        return fixed;
    }
    if decl.queue.preference == Preference::Main {
        return main;
    }
    let before = before();
    let needless = |queue: &QueueIndex| {
        let capabilities = topology.queue(*queue).capabilities;
        capabilities
            .difference(decl.queue.required | Capabilities::TRANSFER)
            .bits()
            .count_ones()
    };
    let rank = |queue: &&QueueIndex| {
        let load = load[usize::from(queue.0)];
        let breaks_chain = !load.last.is_some_and(|last| before.contains(&last));
        (needless(queue), breaks_chain, load.cost)
    };
    // `min_by_key` takes the first of equals.
    suitable[1..]
        .iter()
        .min_by_key(rank)
        .copied()
        .unwrap_or(main)
}

/// The error for a pass that no queue suits.
fn unsuitable(frame: &Frame, topology: &Topology, pass: u32) -> PlanError {
    let decl = &frame.passes[pass as usize];
    let required = decl.queue.required;
    let capable = |queue: &QueueIndex| topology.queue(*queue).capabilities.contains(required);
    let nowhere = |access: Access| {
        !topology
            .indices()
            .filter(capable)
            .any(|queue| access.runs_on(topology.queue(queue).capabilities))
    };
    let uses = frame.uses_of(PassIndex(pass));
    // If each access has a queue that supports it, but none supports all, the error names the last access.
    let culprit = uses.iter().find(|one| nowhere(one.access)).or(uses.last());
    match culprit {
        Some(one) if topology.indices().any(|queue| capable(&queue)) => {
            PlanError::UnsupportedStages {
                user: ConflictingAccess::new(decl, one.access),
                resource: frame.resource(one.resource).name.clone(),
                topology: topology.to_string(),
            }
        }
        _ => PlanError::NoCapableQueue {
            pass: decl.name.clone(),
            required,
            topology: topology.to_string(),
        },
    }
}
