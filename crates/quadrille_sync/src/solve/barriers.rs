//! The ladder of dependencies: the cheapest synchronization between the previous use of a range and
//! the next.
//!
//! For each use of each pass in submission order, the first rung that suffices:
//!
//! 1. nothing: both read in one layout, and the last write is visible to this read already;
//! 2. an execution dependency, with no access in its first scope: a write after reads on the same queue;
//! 3. a memory dependency: after a write that is not yet visible to this access;
//! 4. a layout transition, which is a write;
//! 5. another queue: a wait, and from its stages a barrier if a layout changes;
//! 6. another family: release, wait, acquire (see `queues/ownership`).
//!
//! A dependency on an access of another resource in the same memory (aliasing) is a global memory barrier: a
//! barrier of a buffer or an image only covers accesses through that buffer or image. A layout transition then
//! has the same first scope.
//!
//! A write waits for all reads since the previous write (WAR). The barriers before those reads have
//! already made the previous write available, so the barrier need not name that write. The previous
//! write is the source only if there are no reads since. A pass may read only a part of its declared
//! range; a draw, for example, reads only some indirect arguments. For the other bytes of the range
//! there is a WAW hazard. So if the previous write is not visible to the write accesses of the next
//! one, the second scope names them.

pub(super) mod builder;
pub(super) mod calls;
pub(super) mod dependency;
pub(super) mod inputs;
pub(super) mod lookahead;
pub(super) mod record;
pub(super) mod request;
pub(super) mod scope;
pub(super) mod slices;
pub(super) mod waits;

use std::ops::Range;

use crate::flags::Layout;
use crate::plan::{DependencyKind, Scope};
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::dependency::{After, chain, order_after};
use crate::solve::barriers::lookahead::note_first;
use crate::solve::barriers::record::Barrier;
use crate::solve::barriers::request::Request;
use crate::solve::barriers::waits::Waits;
use crate::solve::state::predecessors::{for_each_predecessor, for_each_predecessor_of, source};
use crate::solve::state::visibility::{is_ready, is_visible, mark_visible, unready};
use crate::solve::state::{State, TrackedAccess};
use crate::topology::QueueIndex;

/// Applies the ladder to one run of a range.
pub(super) fn advance(
    waits: &mut Waits<'_>,
    calls: &mut Calls,
    request: &Request,
    interval: Range<u64>,
    state: &mut State,
) {
    note_first(waits.inputs.frame, request, state);
    let discard = request.discards(state);
    let elsewhere = request.finds_elsewhere(state);
    debug_assert!(
        discard || !elsewhere,
        "contents that are needed have been acquired"
    );
    // A discard needs no ownership transfer; the layout is lost with the contents.
    let takes_over = elsewhere && discard;
    let changes = request.image && (takes_over || state.layout != request.layout);
    if changes {
        let old_layout = if discard {
            Layout::Undefined
        } else {
            state.layout
        };
        change_layout(waits, calls, request, interval, &[state], old_layout);
    } else if !takes_over && is_ready(state, request.queue, request.scope) {
        // Nothing is left to order.
    } else if request.writes || takes_over {
        order_write(waits, calls, request, interval, state);
    } else {
        order_read(waits, calls, request, request.scope, interval, state);
    }
    update_state(request, state, changes);
}

/// Rung 4, and rung 5 with a layout transition, for one run or for all runs of a mip level.
pub(super) fn change_layout(
    waits: &mut Waits<'_>,
    calls: &mut Calls,
    request: &Request,
    interval: Range<u64>,
    states: &[&State],
    old_layout: Layout,
) {
    let mut src = Scope::default();
    let mut earlier = None;
    let mut batch = 0;
    let is_aliased = states.iter().any(|it| !it.rare.aliased().is_empty());
    let dependency_kind = if is_aliased {
        DependencyKind::Aliasing
    } else {
        DependencyKind::LayoutTransition
    };
    for_each_predecessor_of(states, |tracked, memory| {
        earlier = Some(tracked.pass);
        if tracked.queue != request.queue {
            let stages = chain(waits, request, tracked, is_aliased);
            src = src.union(Scope::of_stages(stages));
            calls.follow_wait();
            return;
        }
        src = src.union(source(tracked, memory));
        if tracked.step == request.step {
            // The range was just acquired in another layout than predicted: use the next call.
            batch = 1;
        } else {
            calls.follow(tracked);
        }
    });
    let reason = waits.reason(request, earlier, dependency_kind);
    let former = aliased_writes(states, request.queue);
    if !former.access.is_empty() {
        let reason = reason.clone();
        calls.needed(batch).merge(former, request.shared, reason);
    }
    let barrier = Barrier {
        src,
        dst: request.shared,
        old_layout,
        new_layout: request.layout,
        transfer: None,
        reason,
    };
    let resource = waits.inputs.frame.resource(request.resource);
    calls.needed(batch).push(resource, interval, barrier);
}

/// The scope of earlier writes to aliased memory on a queue.
fn aliased_writes(states: &[&State], queue: QueueIndex) -> Scope {
    let aliased = states.iter().flat_map(|state| state.rare.aliased());
    aliased
        .filter(|tracked| tracked.queue == queue && !tracked.scope.access.is_empty())
        .fold(Scope::default(), |all, tracked| all.union(tracked.scope))
}

/// Rungs 2, 3 and 5 for a write that keeps layout and owner.
pub(super) fn order_write(
    waits: &mut Waits<'_>,
    calls: &mut Calls,
    request: &Request,
    interval: Range<u64>,
    state: &mut State,
) {
    let is_aliased = !state.rare.aliased().is_empty();
    let after_reads = after_reads(request, state);
    for_each_predecessor(state, |tracked, memory| {
        let dst = if memory { request.scope } else { after_reads };
        let after = After {
            dst,
            memory,
            is_aliased,
        };
        order_after(waits, calls, request, &interval, tracked, after);
    });
    if let Some((write, reads)) = unseen_write(request, state) {
        let after = After::memory(reads, false);
        order_after(waits, calls, request, &interval, write, after);
    }
}

/// The second scope of a write after reads. Includes the write accesses if there is a write before
/// the reads that is not visible to them (WAW on bytes that the reads left out).
fn after_reads(request: &Request, state: &State) -> Scope {
    let writes = Scope {
        access: request.scope.access.writes(),
        ..request.scope
    };
    if state.write.is_none() || is_visible(state, request.queue, writes) {
        request.scope.stages_only()
    } else {
        writes
    }
}

/// Returns the last write and the read scope of a writing pass, if other passes have read that write
/// and it is not yet visible to this pass. A pass that discards counts too: it may read back its own
/// writes, and the cache must not hold older bytes. A pending release with a memory dependency is
/// excluded, since its acquire makes the released write visible to every access.
fn unseen_write<'a>(request: &Request, state: &'a State) -> Option<(&'a TrackedAccess, Scope)> {
    let reads = Scope {
        access: request.scope.access.reads(),
        ..request.scope
    };
    let pending = state.rare.pending();
    let only_read = pending.is_none_or(|pending| pending.tracked.scope.access.is_empty());
    let is_read = !reads.access.is_empty() && !state.reads.is_empty() && only_read;
    let write = state.write.as_ref().filter(|_| is_read)?;
    (!is_visible(state, request.queue, reads)).then_some((write, reads))
}

/// Rungs 1, 3 and 5 for a read that keeps layout and owner.
pub(super) fn order_read(
    waits: &mut Waits<'_>,
    calls: &mut Calls,
    request: &Request,
    dst: Scope,
    interval: Range<u64>,
    state: &State,
) {
    // A buffer may be read in a range that was never written, if any other part was written.
    for tracked in state.rare.aliased() {
        let after = After::memory(dst, true);
        order_after(waits, calls, request, &interval, tracked, after);
    }
    let Some(write) = &state.write else { return };
    if !is_visible(state, request.queue, dst) {
        let after = After::memory(dst, false);
        order_after(waits, calls, request, &interval, write, after);
    }
}

/// Updates the state after a request. `changed`: a layout transition wrote the range just before the
/// access. Acquires update the state by themselves.
pub(super) fn update_state(request: &Request, state: &mut State, changed: bool) {
    let scope = request.scope;
    state.rare.forget_pending();
    state.layout = request.layout;
    state.owner = request.exclusive.then_some(request.family);
    if request.writes || changed {
        forget_accesses(state);
    }
    if request.writes {
        state.defined = true;
        let writes = Scope {
            stages: scope.stages,
            access: scope.access.writes(),
        };
        state.write = Some(request.tracked(writes));
        return;
    }
    if changed {
        state.write = Some(request.tracked(request.shared.stages_only()));
        mark_visible(state, request.queue, request.shared);
    } else if state.write.is_some() {
        mark_visible(state, request.queue, scope);
    }
    unready(state);
    if request.is_for_level {
        // A request for a whole level only sets its layout and owner; no slice was accessed.
        return;
    }
    let read = request.tracked(scope.stages_only());
    match state
        .reads
        .iter_mut()
        .find(|tracked| tracked.queue == request.queue)
    {
        Some(tracked) => {
            *tracked = TrackedAccess {
                scope: tracked.scope.union(read.scope),
                ..read
            }
        }
        None => state.reads.push(read),
    }
}

/// Forgets the accesses before a write: an access that depends on the write also depends on them.
#[inline]
fn forget_accesses(state: &mut State) {
    state.rare.keep_pending();
    state.reads.clear();
    state.visible.clear();
}
