//! Phase `depend`: which pass comes after which?
//!
//! Declared order is the truth. Where it is silent, one kind of order is inferred: if exactly one
//! pass writes a range, it comes before all that read the range and are not declared to come
//! before it (those read what the last frame wrote). Passes of the prologue come before all others
//! that touch what they touch, and are not counted there. Everything else that needs an order and has
//! none is an error, found by [`race`](super::race).

use super::graph::{Edge, Graph};
use super::touch::Touches;
use crate::error::{CycleStep, PlanError};
use crate::frame::Frame;

/// Makes the graph. Reports a cycle of declared order, and then infers nothing.
pub(super) fn depend(frame: &Frame, touches: &Touches, errors: &mut Vec<PlanError>) -> Graph {
    let declared = Graph::new(frame.passes.len(), declared_edges(frame));
    let candidates = candidates(frame, touches);
    let mut edges = declared.edges.clone();
    if declared.edges.is_empty() {
        edges.extend(candidates);
        return Graph::new(frame.passes.len(), edges);
    }
    let order = declared.sort();
    if order.len() < frame.passes.len() {
        errors.push(cycle_error(frame, &declared, &order));
        return declared;
    }
    let against: Vec<(u32, u32)> = candidates.iter().map(|edge| (edge.to, edge.from)).collect();
    let reversed = declared.reaches(&order, &against);
    edges.extend(
        candidates
            .iter()
            .zip(reversed)
            .filter(|(_, no)| !no)
            .map(|(edge, _)| *edge),
    );
    Graph::new(frame.passes.len(), edges)
}

/// Explicit order.
fn declared_edges(frame: &Frame) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(frame.after.len());
    for pass in frame.pass_indices() {
        let before = frame.after_of(pass).iter();
        edges.extend(before.map(|from| Edge {
            from: from.0,
            to: pass.0,
            resource: None,
        }));
    }
    edges
}

/// From the one writer of each span to each of its readers, and from each pass of the prologue to
/// all others that it shares more than a read with.
fn candidates(frame: &Frame, touches: &Touches) -> Vec<Edge> {
    let mut edges = Vec::new();
    let prologue = |one: u32| frame.passes[touches.pass_of(one) as usize].prologue;
    let writes = |one: u32| frame.uses[one as usize].access.is_write();
    for (span, members) in touches.spans() {
        let resource = Some(span.resource.0);
        for first in members.iter().copied().filter(|one| prologue(*one)) {
            let from = touches.pass_of(first);
            let others = members.iter().copied().filter(|one| !prologue(*one));
            let others = others.filter(|one| writes(first) || writes(*one));
            edges.extend(others.map(|to| Edge {
                from,
                to: touches.pass_of(to),
                resource,
            }));
        }
        let mut writers = members
            .iter()
            .filter(|one| writes(**one) && !prologue(**one))
            .map(|one| touches.pass_of(*one));
        let Some(writer) = writers.next() else {
            continue;
        };
        if writers.any(|other| other != writer) {
            continue;
        }
        let readers = members.iter().filter(|one| !prologue(**one));
        let readers = readers
            .map(|one| touches.pass_of(*one))
            .filter(|to| *to != writer);
        edges.extend(readers.map(|to| Edge {
            from: writer,
            to,
            resource,
        }));
    }
    edges
}

/// The error for a cycle that is left after `sorted`.
pub(super) fn cycle_error(frame: &Frame, graph: &Graph, sorted: &[u32]) -> PlanError {
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
