//! The accesses that a write to a range depends on, and their scopes.

use crate::plan::Scope;
use crate::solve::state::{State, TrackedAccess};
use crate::states::EndPass;

/// Calls `each` with the accesses that a write depends on: the reads since the last write, or that
/// write if there are none; a read by another stream that borrowed the resource; and for the first
/// write to aliased memory, the accesses of its earlier occupants. The flag is true for a memory
/// dependency, false for an execution dependency.
pub(crate) fn for_each_predecessor(state: &State, mut each: impl FnMut(&TrackedAccess, bool)) {
    let aliased = state.rare.aliased().iter();
    aliased.for_each(|tracked| each(tracked, !tracked.scope.access.is_empty()));
    state
        .rare
        .promised()
        .into_iter()
        .for_each(|read| each(read, false));
    if let Some(pending) = state.rare.pending() {
        // After a release, the release stands for all accesses before it. Without access flags it is
        // only an execution dependency.
        each(&pending.tracked, !pending.tracked.scope.access.is_empty());
    } else if state.reads.is_empty() {
        state.write.iter().for_each(|write| each(write, true));
    } else {
        state.reads.iter().for_each(|read| each(read, false));
    }
}

/// Calls [`for_each_predecessor`] for a run, or for all runs of a mip level.
pub(crate) fn for_each_predecessor_of(
    states: &[&State],
    mut each: impl FnMut(&TrackedAccess, bool),
) {
    for state in states {
        for_each_predecessor(state, &mut each);
    }
}

/// The first synchronization scope for a dependency on an access.
pub(crate) fn source(tracked: &TrackedAccess, memory: bool) -> Scope {
    if memory {
        tracked.scope
    } else {
        tracked.scope.stages_only()
    }
}

/// The pass of the last access that a write to the ranges depends on.
pub(crate) fn last_pass(states: &[&State]) -> Option<EndPass> {
    let mut last = None;
    for_each_predecessor_of(states, |tracked, _| last = Some(tracked.pass));
    last
}
