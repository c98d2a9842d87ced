//! Visibility of the last write of a range, per queue and scope.

use smallvec::SmallVec;

use crate::plan::Scope;
use crate::solve::state::{State, TrackedAccess};
use crate::states::VisibleScope;
use crate::topology::QueueIndex;

/// The most scopes per range that are stored; the oldest is dropped first.
const VISIBLE: usize = 16;

/// Whether the last write is visible to a scope on a queue.
#[inline]
pub(crate) fn is_visible(state: &State, queue: QueueIndex, scope: Scope) -> bool {
    any(state, |seen| {
        seen.queue == queue && seen.scope.covers(scope)
    })
}

/// Whether all accesses so far precede a scope on a queue and are visible to it, so that even a write
/// needs no barrier. True if the previous frame predicted the use (see `barriers/lookahead`), or if
/// the last access is a barrier that wrote the range, for example the transition of a mip level whose
/// slices different passes then write.
#[inline]
pub(crate) fn is_ready(state: &State, queue: QueueIndex, scope: Scope) -> bool {
    let is_barrier = |write: &TrackedAccess| write.queue == queue && write.scope.access.is_empty();
    let rare = &state.rare;
    let is_kept = rare.pending().is_none() && rare.promised().is_none();
    let is_unused = state.reads.is_empty() && is_kept && rare.aliased().is_empty();
    let is_unused = is_unused && state.write.as_ref().is_some_and(is_barrier);
    any(state, |seen| {
        (is_unused || seen.is_ready) && seen.queue == queue && seen.scope.covers(scope)
    })
}

/// Whether any scope to which the last write is visible satisfies a condition. Most ranges have one
/// scope, which is checked without a loop.
#[inline]
fn any(state: &State, is_such: impl Fn(&VisibleScope) -> bool) -> bool {
    match state.visible.as_slice() {
        [] => false,
        [one] => is_such(one),
        several => several.iter().any(is_such),
    }
}

/// Notes that the last write is visible to a scope.
#[inline]
pub(crate) fn mark_visible(state: &mut State, queue: QueueIndex, scope: Scope) {
    match state.visible.as_slice() {
        [] => {
            let is_ready = false;
            state.visible = SmallVec::from_buf([VisibleScope {
                queue,
                scope,
                is_ready,
            }]);
        }
        // The common case: the first scope covers this one.
        [first, ..] if first.queue == queue && first.scope.covers(scope) => {}
        _ => add_visible(state, queue, scope),
    }
}

/// [`mark_visible`] for a scope that the first one does not cover.
fn add_visible(state: &mut State, queue: QueueIndex, scope: Scope) {
    for VisibleScope { scope: seen, .. } in of_queue(state, queue) {
        if seen.covers(scope) {
            return;
        }
        if seen.stages == scope.stages || seen.access == scope.access {
            *seen = seen.union(scope);
            return;
        }
    }
    if state.visible.len() == VISIBLE {
        // Dropping a scope is safe: at worst a barrier is repeated.
        state.visible.remove(0);
    }
    state.visible.push(VisibleScope {
        queue,
        scope,
        is_ready: false,
    });
}

/// Notes a new access: no scope is ordered after all accesses any more.
#[inline]
pub(crate) fn unready(state: &mut State) {
    let visible = state.visible.iter_mut();
    visible.for_each(|seen| seen.is_ready = false);
}

/// The scopes on a queue to which the last write is visible.
fn of_queue(state: &mut State, queue: QueueIndex) -> impl Iterator<Item = &mut VisibleScope> {
    let visible = state.visible.iter_mut();
    visible.filter(move |seen| seen.queue == queue)
}
