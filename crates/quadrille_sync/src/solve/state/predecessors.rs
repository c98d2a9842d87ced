//! The accesses that a write to a range depends on, and their scopes.

use crate::plan::Scope;
use crate::solve::state::{Mark, State};
use crate::states::EndPass;

/// The accesses that a write depends on: the reads since the last write, or that write, and a read
/// that another stream has promised to finish. The first write to aliased memory also depends on
/// the accesses of its earlier occupants. The flag says whether memory has to be made available.
pub(crate) fn for_each_predecessor(state: &State, mut each: impl FnMut(&Mark, bool)) {
    let aliased = state.rare.aliased().iter();
    aliased.for_each(|mark| each(mark, !mark.scope.access.is_empty()));
    state
        .rare
        .promised()
        .into_iter()
        .for_each(|read| each(read, false));
    if let Some(pending) = state.rare.pending() {
        // A range that was only read before the release is not written since.
        each(&pending.mark, !pending.mark.scope.access.is_empty());
    } else if state.reads.is_empty() {
        state.write.iter().for_each(|write| each(write, true));
    } else {
        state.reads.iter().for_each(|read| each(read, false));
    }
}

/// The same of a run, or of all runs of a mip level.
pub(crate) fn for_each_predecessor_of(states: &[&State], mut each: impl FnMut(&Mark, bool)) {
    for state in states {
        for_each_predecessor(state, &mut each);
    }
}

/// The first synchronization scope that an access makes.
pub(crate) fn source(mark: &Mark, memory: bool) -> Scope {
    if memory {
        mark.scope
    } else {
        mark.scope.stages_only()
    }
}

/// The mark of a pass for states that no request describes.
pub(crate) fn last_pass(states: &[&State]) -> Option<EndPass> {
    let mut last = None;
    for_each_predecessor_of(states, |mark, _| last = Some(mark.pass));
    last
}
