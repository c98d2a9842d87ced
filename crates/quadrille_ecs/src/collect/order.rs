//! Order of a frame's passes, by their systems and by steps
//! ([`Recorder::pass_in_step`](crate::Recorder::pass_in_step)).
//!
//! Systems whose passes have steps interleave: all passes of a step come before those of the next
//! step, and within a step the order of systems holds. If a pass without a step is ordered between two
//! such systems, these cannot interleave, or the order would have a cycle. So passes are sorted first by
//! *level*, the number of such separations before them, then by step, then by system.

use quadrille_sync::frame::PassIndex;

use super::Collector;
use crate::collect::mirror::PassGraph;
use crate::record::recording::Recorded;

/// Steps of the frame's passes, and reused allocations for graph traversal.
#[derive(Default)]
pub(super) struct Order {
    /// By pass of the frame; empty if none has a step.
    steps: Vec<Option<u32>>,
    /// By pass of the graph: odd for a system with steps, even for others. Increases along each edge,
    /// except between systems with steps.
    levels: Vec<u32>,
    /// All passes with steps, by level and step.
    sequence: Vec<(u32, u32, PassIndex)>,
    /// Passes of the graph that were visited while following predecessors.
    visited: bevy_platform::collections::HashSet<u32>,
    /// Passes of the graph that are still to be visited.
    open: Vec<u32>,
}

impl Order {
    /// The step of a pass of the frame.
    pub(super) fn step(&self, pass: u32) -> Option<u32> {
        self.steps.get(pass as usize).copied().flatten()
    }
}

impl Collector {
    /// Notes the steps of all passes, whose indices in the frame must be known.
    pub(super) fn find_steps(&mut self, graph: &PassGraph, recordings: Recorded<'_>) {
        let order = &mut self.order;
        order.steps.clear();
        for (node, span) in graph.passes.iter().zip(&self.span_of) {
            let Some(recording) = recordings.get(node.slot).filter(|_| !span.is_empty()) else {
                continue;
            };
            let mut last = None;
            for (pass, recorded) in span.clone().zip(recording.passes()) {
                // The passes of one system keep the order of its calls, so a step never decreases.
                last = recorded.part().and_then(|part| part.step).max(last);
                if last.is_none() {
                    break;
                }
                let at = pass as usize;
                order.steps.resize(order.steps.len().max(at + 1), None);
                order.steps[at] = last;
            }
        }
        if !self.order.steps.is_empty() {
            self.find_levels(graph);
        }
    }

    fn find_levels(&mut self, graph: &PassGraph) {
        let order = &mut self.order;
        order.levels.clear();
        order.levels.resize(graph.passes.len(), 0);
        loop {
            let mut is_done = true;
            for (at, node) in graph.passes.iter().enumerate() {
                let span = &self.span_of[at];
                let before = node.after.iter().map(|&it| order.levels[it as usize]);
                let least = before.max().unwrap_or(0);
                let has_steps = order.step(span.start).is_some();
                let level = match (span.is_empty(), has_steps) {
                    (true, _) => least,
                    (false, true) => least | 1,
                    (false, false) => least.next_multiple_of(2),
                };
                is_done &= order.levels[at] == level;
                order.levels[at] = level;
            }
            if is_done {
                break;
            }
        }
        order.sequence.clear();
        for (span, &level) in self.span_of.iter().zip(&order.levels) {
            for pass in span.clone() {
                let step = order.steps.get(pass as usize).copied().flatten();
                let place = step.map(|step| (level, step, PassIndex(pass)));
                order.sequence.extend(place);
            }
        }
        order.sequence.sort_unstable();
    }

    /// Adds the predecessors of one pass of a system: by the order of systems, by steps, and by the
    /// order of the system's own passes.
    pub(super) fn add_order(&mut self, at: usize, part: usize, graph: &PassGraph) {
        let pass = self.frame.passes.len() as u32;
        let step = self.order.step(pass);
        if part > 0 {
            self.frame.after.push(PassIndex(pass - 1));
            if step == self.order.step(pass - 1) {
                return;
            }
        }
        self.add_systems_before(at, step, graph);
        if let Some(step) = step {
            self.add_earlier_step((self.order.levels[at], step));
        }
    }

    /// Adds the predecessors of a system's first pass of a step. The search continues through
    /// predecessors without passes, and through some with steps. Each is visited once, whatever the
    /// number of paths to it.
    fn add_systems_before(&mut self, at: usize, step: Option<u32>, graph: &PassGraph) {
        let order = &mut self.order;
        let level = |at: u32| order.levels.get(at as usize).copied().unwrap_or(0);
        let own_level = level(at as u32);
        order.visited.clear();
        order.open.clear();
        order.open.extend_from_slice(&graph.passes[at].after);
        while let Some(before) = order.open.pop() {
            if !order.visited.insert(before) {
                continue;
            }
            let span = self.span_of[before as usize].clone();
            let steps_of = |pass: u32| order.steps.get(pass as usize).copied().flatten();
            let has_steps = steps_of(span.start).is_some();
            let is_beside = has_steps && step.is_some() && level(before) == own_level;
            let last = match is_beside {
                true => span.rev().find(|pass| steps_of(*pass) == step),
                false => span.last(),
            };
            self.frame.after.extend(last.map(PassIndex));
            // Systems with steps are ordered step by step, and one further back may have passes of
            // a step in which this one has none.
            if last.is_none() || (has_steps && !is_beside) {
                order
                    .open
                    .extend_from_slice(&graph.passes[before as usize].after);
            }
        }
    }

    /// Adds all passes of the nearest earlier step of the same level.
    fn add_earlier_step(&mut self, (level, step): (u32, u32)) {
        let sequence = &self.order.sequence;
        let end = sequence.partition_point(|it| (it.0, it.1) < (level, step));
        let earlier = &sequence[..end];
        let Some(nearest) = earlier.last().filter(|it| it.0 == level) else {
            return;
        };
        let same = earlier
            .iter()
            .rev()
            .take_while(|it| it.1 == nearest.1 && it.0 == level);
        self.frame.after.extend(same.map(|it| it.2));
    }
}
