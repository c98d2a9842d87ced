//! Who sees the last write of a range, and for whom it is ready.

use smallvec::SmallVec;

use crate::plan::Scope;
use crate::solve::state::{Mark, State};
use crate::states::Seen;
use crate::topology::QueueIndex;

/// How many scopes per range are remembered as seeing the last write.
const VISIBLE: usize = 16;

/// Whether the last write is visible to a scope on a queue.
#[inline]
pub(in crate::solve) fn is_visible(state: &State, queue: QueueIndex, scope: Scope) -> bool {
    any(state, |seen| {
        seen.queue == queue && seen.scope.covers(scope)
    })
}

/// Whether all accesses so far come before a scope on a queue, and are visible to it: the frame before
/// has foreseen it (see `barriers/lookahead`), or nobody has used the range since a barrier that
/// wrote it, as where passes write slices side by side.
#[inline]
pub(in crate::solve) fn is_ready(state: &State, queue: QueueIndex, scope: Scope) -> bool {
    let is_barrier = |write: &Mark| write.queue == queue && write.scope.access.is_empty();
    let rare = &state.rare;
    let is_kept = rare.pending().is_none() && rare.promised().is_none();
    let is_unused = state.reads.is_empty() && is_kept && rare.aliased().is_empty();
    let is_unused = is_unused && state.write.as_ref().is_some_and(is_barrier);
    any(state, |seen| {
        (is_unused || seen.is_ready) && seen.queue == queue && seen.scope.covers(scope)
    })
}

/// Whether any of those that see the last write is such. Mostly there is one.
#[inline]
fn any(state: &State, is_such: impl Fn(&Seen) -> bool) -> bool {
    match state.visible.as_slice() {
        [] => false,
        [one] => is_such(one),
        several => several.iter().any(is_such),
    }
}

/// Remembers that a scope sees the last write.
#[inline]
pub(in crate::solve) fn see(state: &mut State, queue: QueueIndex, scope: Scope) {
    match state.visible.as_slice() {
        [] => {
            let is_ready = false;
            state.visible = SmallVec::from_buf([Seen {
                queue,
                scope,
                is_ready,
            }]);
        }
        // Mostly it was seen in the same way before.
        [first, ..] if first.queue == queue && first.scope.covers(scope) => {}
        _ => see_anew(state, queue, scope),
    }
}

/// The same where it is not the first scope that covers this one.
fn see_anew(state: &mut State, queue: QueueIndex, scope: Scope) {
    for Seen { scope: seen, .. } in of_queue(state, queue) {
        if seen.covers(scope) {
            return;
        }
        if seen.stages == scope.stages || seen.access == scope.access {
            *seen = seen.union(scope);
            return;
        }
    }
    if state.visible.len() == VISIBLE {
        // Forgetting is safe: at worst a barrier is repeated.
        state.visible.remove(0);
    }
    state.visible.push(Seen {
        queue,
        scope,
        is_ready: false,
    });
}

/// Notes that there is a read that nobody has come after yet.
#[inline]
pub(in crate::solve) fn unready(state: &mut State) {
    let visible = state.visible.iter_mut();
    visible.for_each(|seen| seen.is_ready = false);
}

/// To whom on a queue the last write is visible.
fn of_queue(state: &mut State, queue: QueueIndex) -> impl Iterator<Item = &mut Seen> {
    let visible = state.visible.iter_mut();
    visible.filter(move |seen| seen.queue == queue)
}
