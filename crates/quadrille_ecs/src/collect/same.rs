//! Comparison with the last collected frame, which is kept if nothing has changed.

use bevy_ecs::prelude::*;
use quadrille_sync::frame::PassKind;

use super::{Collector, part_access};
use crate::collect::mirror::PassGraph;
use crate::record::outcome::Outcome;
use crate::record::recording::{Recorded, SubRecording};

/// Outcome of a pass system at the time the frame was built.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    slot: u32,
    /// `None` if the pass is disabled: the outcome of its system does not matter.
    outcome: Option<Outcome>,
}

impl Collector {
    /// Notes the outcomes of all pass systems of the frame that is being built.
    pub(super) fn expect(&mut self, graph: &PassGraph, recordings: Recorded<'_>) {
        let nodes = graph.passes.iter().zip(&self.passes);
        self.outcomes.clear();
        self.outcomes.extend(nodes.map(|(node, cached)| Expected {
            slot: node.slot,
            outcome: (!cached.disabled).then(|| recordings.outcome(node.slot)),
        }));
    }

    /// Whether the systems recorded passes with the same declarations as when the frame was built.
    pub(super) fn is_same(&self, world: &World, recordings: Recorded<'_>) -> bool {
        let Some(graph) = world.get_resource::<PassGraph>() else {
            return false;
        };
        // Timeline values differ in each frame.
        if !self.timelines.is_empty() {
            return false;
        }
        let is_same = |(at, expected): (usize, &Expected)| match expected.outcome {
            None => true,
            Some(outcome) if outcome != recordings.outcome(expected.slot) => false,
            Some(Outcome::LOOK) => {
                let recording = recordings.get(expected.slot);
                recording.is_some_and(|recording| {
                    !recording.has_errors() && self.are_same_parts(at, recording.passes())
                })
            }
            Some(_) => true,
        };
        graph.passes.len() == self.outcomes.len() && self.outcomes.iter().enumerate().all(is_same)
    }

    /// Whether the passes that one system recorded equal those of the frame.
    fn are_same_parts(&self, at: usize, parts: &[SubRecording]) -> bool {
        let span = self.span_of[at].clone();
        let passes = &self.frame.passes[span.start as usize..span.end as usize];
        passes.len() == parts.len()
            && passes
                .iter()
                .zip(parts)
                .zip(span)
                .all(|((pass, recorded), index)| {
                    let Some(part) = recorded.part() else {
                        return false;
                    };
                    if !recorded.timelines().is_empty() {
                        return false;
                    }
                    let uses = &self.frame.uses[pass.uses.start as usize..pass.uses.end as usize];
                    pass.name == part.name
                        && self.order.step(index) == part.step
                        && (pass.kind == PassKind::Host) == recorded.is_on_host()
                        && pass.queue.required == recorded.needs
                        && uses.len() == part.uses.len()
                        && uses.iter().zip(&part.uses).all(|(declared, used)| {
                            let handle = &self.handles[declared.resource.0 as usize];
                            handle.id() == used.handle.id()
                                && declared.range == used.range
                                && (declared.access, declared.discard)
                                    == part_access(used, recorded)
                        })
                })
    }
}
