//! What a request needs of one access before it: rungs 2, 3 and 5 of the ladder.

use std::ops::Range;

use super::barrier::{for_each_predecessor_of, source_for};
use super::logical::{second_scope, single};
use super::track::{Mark, State};
use super::walk::{Plain, Request, Walk};
use crate::flags::Stages;
use crate::plan::{Rung, Scope};
use crate::range::whole_levels;

/// What a request needs of one access.
pub(super) struct After {
    /// Memory has to be made available.
    pub(super) memory: bool,
    /// Others had the memory then.
    pub(super) is_aliased: bool,
    /// Whom to wait for to see the write that is shown.
    pub(super) shown: Option<Mark>,
}

impl After {
    /// A memory dependency.
    pub(super) fn memory(is_aliased: bool) -> Self {
        Self {
            memory: true,
            is_aliased,
            shown: None,
        }
    }
}

/// Orders a request after one access.
pub(super) fn order_after(
    walk: &mut Walk<'_>,
    request: &Request,
    dst: Scope,
    interval: &Range<u64>,
    mark: &Mark,
    after: After,
) {
    let After {
        memory,
        is_aliased,
        shown,
    } = after;
    let (src, dst, rung) = if mark.queue == request.queue {
        let is_barrier = memory && !is_aliased && mark.scope.access.is_empty();
        let src = source_for(mark, memory, is_barrier, dst);
        // What has the same step is the acquire for this very pass.
        if mark.step == request.step || walk.is_ordered(mark, src, dst) {
            return;
        }
        walk.stand_behind(mark);
        let rung = match memory {
            _ if is_aliased => Rung::Aliasing,
            true => Rung::Memory,
            false => Rung::Execution,
        };
        (src, dst, rung)
    } else {
        let stages = chain(walk, request, mark, is_aliased);
        // Whoever waits for a signal also sees what came before it.
        let dst = left_by_wait(dst, stages);
        if dst.stages.is_empty() || walk.is_led_on(request, stages, dst) {
            return;
        }
        walk.stand_behind_wait();
        let src = Scope {
            stages,
            ..Scope::default()
        };
        (src, dst, other_queue(is_aliased))
    };
    let kind = &walk.frame.resource(request.resource).kind;
    let (mark, interval, layout) = (*mark, whole_levels(kind, interval), request.layout);
    let shown = shown.filter(|_| !memory).map(|mark| mark.point());
    let reason = walk.reason(request, Some(mark.pass), rung);
    walk.add_plain(Plain {
        mark,
        shown,
        interval,
        src,
        is_behind_wait: mark.queue != request.queue,
        dst,
        layout,
        reason,
    });
}

/// What a wait in some stages leaves of a scope. If that only orders, all stages that come logically
/// later have waited too.
pub(super) fn left_by_wait(dst: Scope, waiting: Stages) -> Scope {
    if !dst.access.is_empty() || waiting.is_empty() {
        return dst.without(waiting);
    }
    let all = second_scope(waiting);
    match all.contains(single(dst.stages)) {
        true => Scope::default(),
        false => dst.without(waiting | all),
    }
}

/// Whether a read on another queue came before one on a third queue, which a request that comes
/// after all reads waits for anyway. What others did to aliased memory is all waited for too.
#[inline]
pub(super) fn is_implied(
    walk: &mut Walk<'_>,
    request: &Request,
    state: &State,
    mark: &Mark,
) -> bool {
    mark.queue != request.queue && is_implied_elsewhere(walk, request, state, mark)
}

/// Whether an access to some slices of a mip level came before one to others of them, on another queue
/// than that of a request, which comes after all of the level and waits for that one anyway.
#[inline]
pub(super) fn is_implied_by_others(
    walk: &mut Walk<'_>,
    request: &Request,
    states: &[&State],
    mark: &Mark,
) -> bool {
    states.len() > 1 && is_implied_by_slices(walk, request, states, mark)
}

/// The same where there are several states.
fn is_implied_by_slices(
    walk: &mut Walk<'_>,
    request: &Request,
    states: &[&State],
    mark: &Mark,
) -> bool {
    let mut found = None;
    for_each_predecessor_of(states, |other, _| {
        if comes_with(walk, request, mark, other) {
            found = Some(*other);
        }
    });
    let Some(other) = found else {
        return false;
    };
    walk.past.consult(mark, other.queue);
    walk.past.consult_exactly(&other);
    true
}

/// The same where the read is known to be on another queue.
fn is_implied_elsewhere(
    walk: &mut Walk<'_>,
    request: &Request,
    state: &State,
    mark: &Mark,
) -> bool {
    let marks = match state.rare.aliased().is_empty() {
        true => state.reads.as_slice(),
        false => state.rare.aliased(),
    };
    if marks.len() < 2 || state.rare.pending().is_some() {
        return false;
    }
    let implies = |other: &&Mark| comes_with(walk, request, mark, other);
    let Some(other) = marks.iter().find(implies) else {
        return false;
    };
    walk.past.consult(mark, other.queue);
    walk.past.consult_exactly(other);
    true
}

/// Whether a request that waits for another access, on a third queue, has waited for this one with it.
fn comes_with(walk: &Walk<'_>, request: &Request, mark: &Mark, other: &Mark) -> bool {
    let (one, two, timeline) = (mark.point(), other.point(), &walk.timeline);
    let is_waited_for = ![mark.queue, request.queue].contains(&other.queue);
    is_waited_for && timeline.implies(two, one) && !timeline.implies(one, two)
}

/// Waits for an access on another queue and returns the stages that lead on from there: those
/// of the request, if they wait themselves.
pub(super) fn chain(
    walk: &mut Walk<'_>,
    request: &Request,
    mark: &Mark,
    is_aliased: bool,
) -> Stages {
    let stages = request.scope.stages;
    walk.require(request, mark, stages, false, other_queue(is_aliased))
}

/// The rung of a wait.
fn other_queue(is_aliased: bool) -> Rung {
    if is_aliased {
        Rung::Aliasing
    } else {
        Rung::OtherQueue
    }
}
