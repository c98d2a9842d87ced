//! Order of a frame's passes: that of their systems, and the steps of passes that have one
//! ([`Recorder::pass_in_step`](crate::Recorder::pass_in_step)).
//!
//! Systems whose passes have steps interleave: all passes of a step come before those of the next
//! step, and within a step the systems are in their order. A pass without a step that is ordered
//! between two such systems keeps them apart, so the order never has a cycle: passes are sorted by
//! *level* first, the number of such separations that lie before them, then by step, then by system.

use quadrille_sync::PassIndex;

use super::Collector;
use crate::collect::mirror::PassGraph;
use crate::record::recording::Recorded;

/// Steps of the frame's passes, and memory for walks through the graph.
#[derive(Default)]
pub(super) struct Order {
    /// By pass of the frame; empty if none has a step.
    steps: Vec<Option<u32>>,
    /// By pass of the graph: odd for a system with steps, even for others, and rising along each
    /// edge but those between systems with steps.
    levels: Vec<u32>,
    /// All passes with steps, by level and step.
    sequence: Vec<(u32, u32, PassIndex)>,
    /// Passes of the graph that were seen on the way back through order.
    visited: bevy_platform::collections::HashSet<u32>,
    /// Passes of the graph still to be visited on that way.
    open: Vec<u32>,
}

impl Order {
    /// The step of a pass of the frame.
    pub(super) fn step(&self, pass: u32) -> Option<u32> {
        self.steps.get(pass as usize).copied().flatten()
    }
}

impl Collector {
    /// Notes the steps of all passes, once the place of each in the frame is known.
    pub(super) fn find_steps(&mut self, graph: &PassGraph, recordings: Recorded<'_>) {
        let order = &mut self.order;
        order.steps.clear();
        for (node, span) in graph.passes.iter().zip(&self.span_of) {
            let Some(recording) = recordings.get(node.slot).filter(|_| !span.is_empty()) else {
                continue;
            };
            let mut last = None;
            for (pass, recorded) in span.clone().zip(recording.passes()) {
                // One system's passes are in the order of its calls, whatever their steps.
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

    /// Adds what comes before one pass of a system: by the order of systems, by steps, and by the
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

    /// Adds the passes that come before a system's first one of a step. A predecessor without
    /// passes hands its own predecessors on, as one with steps may: each is visited once, however
    /// many paths lead to it.
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
            // Systems with steps are ordered step by step: those before this one may have passes
            // of steps that it has none of.
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
