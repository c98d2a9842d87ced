//! What is left to do for a scope when some of its stages need nothing.

use super::custom::stages_of;
use super::track::State;
use crate::flags::{AccessMask, Stages};
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
    let seen = state.visible.iter();
    let seen = seen.filter(|seen| seen.queue == queue && seen.scope.access.covers(scope.access));
    let stages = seen.fold(Stages::empty(), |all, seen| all | seen.scope.stages);
    scope.without(stages)
}

#[cfg(test)]
mod tests;
