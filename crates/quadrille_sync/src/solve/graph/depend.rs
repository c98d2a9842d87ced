//! Phase `depend`: the dependency graph of the passes.
//!
//! Declared order is binding, and so is that of values of user timelines. One kind of order is inferred: if exactly one
//! pass writes a range, it precedes all passes that read the range, except those that are declared to precede it (they read
//! the contents of the previous frame). Passes of the prologue precede all other passes that touch
//! the same ranges, and do not count as writers there. A hazard without an order is an error,
//! reported by `validate/race`.

use crate::error::{CycleStep, PlanError};
use crate::frame::{Frame, PassIndex};
use crate::solve::graph::range_uses::{Member, RangeUses};
use crate::solve::graph::timelines::order_by_timelines;
use crate::solve::graph::{Edge, Graph};

/// Builds the graph. If the declared order has a cycle, reports it and infers no further edges.
pub(crate) fn depend(frame: &Frame, uses: &RangeUses, errors: &mut Vec<PlanError>) -> Graph {
    let after = |to: PassIndex| frame.after_of(to).iter().map(move |from| (from.0, to.0));
    let mut graph = Graph::of(frame.passes.len(), frame.pass_indices().flat_map(after));
    let mut order = None;
    if !graph.edges.is_empty() {
        let declared = graph.sort();
        if declared.len() < frame.passes.len() {
            errors.push(cycle_error(frame, &graph, &declared));
            return graph;
        }
        order = Some(declared);
    }
    if !frame.timeline_uses.is_empty() {
        order_by_timelines(frame, &mut graph, errors);
        order = Some(graph.sort());
    }
    let mut candidates = candidates(frame, uses);
    let Some(order) = order.filter(|_| !graph.edges.is_empty()) else {
        graph.extend(candidates.into_iter());
        return graph;
    };
    candidates.retain(|edge| !is_declared(frame, edge.to, edge.from));
    let against: Vec<(u32, u32)> = candidates.iter().map(|edge| (edge.to, edge.from)).collect();
    let reversed = graph.reaches(&order, &against);
    let candidates = candidates.into_iter().zip(reversed);
    // Against other order, a pass of the prologue makes a cycle, which is an error: its contents would come too late.
    let is_kept = |edge: &Edge, no: bool| !no || frame.passes[edge.from as usize].prologue;
    let kept = candidates.filter(|(edge, no)| is_kept(edge, *no));
    graph.extend(kept.map(|(edge, _)| edge));
    graph
}

/// The most predecessors of a pass that are searched linearly.
const FEW: usize = 64;

/// Whether a pass is declared to follow another directly. False for a pass with more than `FEW`
/// predecessors, for which the caller asks the graph.
pub(crate) fn is_declared(frame: &Frame, from: u32, to: u32) -> bool {
    let before = frame.after_of(PassIndex(to));
    before.len() <= FEW && before.contains(&PassIndex(from))
}

/// Edges that may be inferred: from the only writer of each span to each of its readers, and from each
/// pass of the prologue to all others with which it shares a span that either writes.
fn candidates(frame: &Frame, uses: &RangeUses) -> Vec<Edge> {
    let mut edges = Vec::new();
    let has_prologue = frame.passes.iter().any(|pass| pass.prologue);
    let prologue = |member: &Member| has_prologue && frame.passes[member.pass as usize].prologue;
    for (span, members) in uses.spans() {
        let resource = Some(span.resource.0);
        let edge = |from: &Member, to: &Member| Edge {
            from: from.pass,
            to: to.pass,
            resource,
        };
        if has_prologue {
            for first in members.iter().filter(|member| prologue(member)) {
                let others = members.iter().filter(|member| !prologue(member));
                let others = others.filter(|member| first.writes || member.writes);
                edges.extend(others.map(|member| edge(first, member)));
            }
        }
        let mut writers = members.iter().filter(|it| it.writes && !prologue(it));
        let Some(writer) = writers.next() else {
            continue;
        };
        if writers.any(|other| other.pass != writer.pass) {
            continue;
        }
        let readers = members.iter().filter(|member| !prologue(member));
        let readers = readers.filter(|member| member.pass != writer.pass);
        edges.extend(readers.map(|member| edge(writer, member)));
    }
    edges
}

/// The error for a cycle among the passes that `sorted` lacks.
pub(crate) fn cycle_error(frame: &Frame, graph: &Graph, sorted: &[u32]) -> PlanError {
    let step = |edge: &Edge| CycleStep {
        pass: frame.passes[edge.to as usize].name.clone(),
        resource: edge
            .resource
            .map(|at| frame.resources[at as usize].name.clone()),
    };
    PlanError::Cycle {
        steps: graph.cycle(sorted).iter().map(step).collect(),
    }
}
