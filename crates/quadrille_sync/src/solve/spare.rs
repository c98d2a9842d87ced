//! The ladder's first rung for most: uses that need no barrier, told without climbing.
//!
//! Of the uses of a large frame few need a barrier of their own: the last write is visible to them,
//! or a barrier that somebody before them needed stands behind all that they come after. Where a
//! resource is used as a whole, on the queue that has had it, that can be said by looking at its
//! state alone. Everything else is left to [`advance`](super::barrier).

use super::barrier::{Place, begin_anew, note};
use super::early::{Early, note_first};
use super::lower::Lowered;
use super::scope::row_scope;
use super::seen::{is_ready, is_visible, see, unready};
use super::track::{Maps, Mark, State};
use super::walk::Walk;
use crate::plan::Scope;
use crate::states::{EndPass, Seen};
use crate::topology::QueueIndex;

/// Moves the state of a resource on if a use of it needs nothing, and says whether. To be asked
/// where nothing moves between families, nothing shares memory, and the pass has no other use of
/// the resource.
#[inline]
pub(super) fn spare(
    walk: &mut Walk<'_>,
    maps: &mut Maps,
    place: &Place<'_>,
    asked: &Lowered,
) -> bool {
    let Lowered {
        row,
        resource,
        layout,
        ..
    } = *asked;
    let Some(state) = maps[resource.0 as usize].only_mut() else {
        return false;
    };
    // Buffers are in no layout, before and after.
    if state.layout != layout || asked.is_of_swapchain || state.rare.promised().is_some() {
        return false;
    }
    let point = place.site.point;
    let queue = point.queue;
    let scope = row_scope(row, place.site.stages);
    let is_spared = match row.writes {
        true => may_write(walk, state, queue, scope),
        false => may_read(walk, state, queue, scope),
    };
    if !is_spared {
        return false;
    }
    if state.first.is_none() {
        let early = Early {
            pass: place.pass,
            queue,
            family: place.site.family,
            step: place.step,
            scope,
            layout,
            writes: row.writes,
            discard: asked.discard,
        };
        note_first(walk, early, state);
    }
    let mark = Mark {
        queue,
        value: point.value,
        scope,
        pass: EndPass::Pass(place.pass),
        step: place.step,
    };
    match row.writes {
        true => settle_write(state, mark),
        false => settle_read(state, mark),
    }
    // With one family nobody keeps book of owners.
    state.owner = None;
    note(walk, place.site, resource, scope);
    true
}

/// Whether the last write is visible to a read.
#[inline]
fn may_read(walk: &Walk<'_>, state: &State, queue: QueueIndex, scope: Scope) -> bool {
    let Some(write) = &state.write else {
        return true;
    };
    is_visible(state, queue, scope)
        || write.queue == queue && walk.is_ordered(write, write.scope, scope)
}

/// Whether all that a write has to come after is behind a barrier, and visible if the write is the
/// only one of them.
#[inline]
fn may_write(walk: &Walk<'_>, state: &State, queue: QueueIndex, scope: Scope) -> bool {
    if is_ready(state, queue, scope) {
        return true;
    }
    if state.reads.is_empty() {
        let is_behind =
            |write: &Mark| write.queue == queue && walk.is_ordered(write, write.scope, scope);
        return state.write.as_ref().is_none_or(is_behind);
    }
    // Who reads what it overwrites has to see it as well.
    let mut reads = state.reads.iter();
    scope.access.reads().is_empty()
        && reads.all(|read| {
            let (src, dst) = (read.scope.stages_only(), scope.stages_only());
            read.queue == queue && walk.is_ordered(read, src, dst)
        })
}

/// The state after a write.
#[inline]
fn settle_write(state: &mut State, mark: Mark) {
    begin_anew(state);
    state.defined = true;
    let scope = Scope {
        access: mark.scope.access.writes(),
        ..mark.scope
    };
    state.write = Some(Mark { scope, ..mark });
}

/// The state after a read.
#[inline]
fn settle_read(state: &mut State, mark: Mark) {
    let Mark { queue, scope, .. } = mark;
    let is_written = state.write.is_some();
    let sees = |seen: &Seen| seen.queue == queue && seen.scope.covers(scope);
    match state.visible.as_mut_slice() {
        [] if !is_written => {}
        // Mostly it was seen in the same way before.
        [seen] if !is_written || sees(seen) => seen.is_ready = false,
        _ => {
            if is_written {
                see(state, queue, scope);
            }
            unready(state);
        }
    }
    let read = Mark {
        scope: scope.stages_only(),
        ..mark
    };
    let mut reads = state.reads.iter_mut();
    match reads.find(|before| before.queue == queue) {
        Some(before) => {
            let scope = before.scope.union(read.scope);
            *before = Mark { scope, ..read };
        }
        None => state.reads.push(read),
    }
}
