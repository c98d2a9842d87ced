//! What is left to do for a scope when some of its stages need nothing.

use super::custom::stages_of;
use super::track::State;
use crate::flags::{AccessMask, SHORTHANDS, Stages};
use crate::plan::Scope;
use crate::topology::QueueIndex;

impl Scope {
    /// The scope without these stages, and without what no other stage of it can do.
    pub(super) fn without(self, done: Stages) -> Self {
        if done.covers(self.stages) {
            return Self::default();
        }
        let stages = self.stages.difference(done.expanded());
        if stages == self.stages {
            return self;
        }
        let left = stages.expanded();
        let kinds = self.access.iter();
        Self {
            stages,
            access: kinds
                .filter(|kind| stages_of(*kind).intersects(left))
                .collect::<AccessMask>(),
        }
    }
}

/// What of a scope on a queue does not see the last write yet: none of the stages in which all of its
/// accesses do.
pub(super) fn unseen(state: &State, queue: QueueIndex, scope: Scope) -> Scope {
    let seen = state.visible.iter().filter(|seen| seen.queue == queue);
    let stages = seen.fold(Stages::empty(), |all, seen| {
        let kinds = scope.access.iter();
        let lacking = kinds.filter(|kind| !seen.scope.access.covers(*kind));
        let lacking = lacking.fold(Stages::empty(), |all, kind| all | stages_of(kind));
        let stages = seen.scope.stages.expanded();
        match stages.intersects(lacking) {
            // What stands for several stages no longer does.
            true => all | stages.difference(lacking.union(SHORTHANDS)),
            false => all | stages,
        }
    });
    scope.without(stages)
}

#[cfg(test)]
mod tests;
