//! Acquires: before the pass that needs a range, or in a window where the host needs it.

use std::ops::Range;

use smallvec::smallvec;

use super::half;
use super::release::{Destination, release};
use super::window::{EVERYTHING, acquire_in_window, redirect};
use crate::flags::Stages;
use crate::frame::PassIndex;
use crate::plan::{PassRef, Reason, Rung, Scope, TransferHalf};
use crate::range::RangeMap;
use crate::resource::ResourceIndex;
use crate::solve::record::Barrier;
use crate::solve::track::{Mark, State};
use crate::solve::walk::{Request, Walk};
use crate::states::Pending;
use crate::topology::FamilyIndex;

/// Acquires what was released as one with a part of an interval, but is not a run within it: it
/// reaches beyond, or its pieces have fared differently since. A release and its acquire name the
/// same range, however little of it the acquiring pass needs.
pub(in crate::solve) fn acquire_around(
    walk: &mut Walk<'_>,
    request: &Request,
    interval: &Range<u64>,
    map: &mut RangeMap<State>,
) {
    let mut around: Vec<Range<u64>> = Vec::new();
    for (run, state) in map.iter_within(interval.clone()) {
        let Some(pending) = &state.pending else {
            continue;
        };
        let released = &pending.interval;
        let reaches_beyond = released.start < interval.start || interval.end < released.end;
        if (reaches_beyond || run != *released) && around.last() != Some(released) {
            around.push(released.clone());
        }
    }
    for released in around {
        let mut acquired: Option<State> = None;
        map.update(released.clone(), |_, state| match &acquired {
            Some(acquired) => {
                state.pending = None;
                state.owner = acquired.owner;
                state.layout = acquired.layout;
                state.write = acquired.write;
                state.reads.clear();
                state.promised = None;
                state.visible.clone_from(&acquired.visible);
            }
            None => {
                // Other uses of the pass may want what is beyond.
                acquire(walk, request, Some(request.together), &released, state);
                acquired = Some(state.clone());
            }
        });
    }
}

/// Acquires, each in the window of the family that it is on its way to, what was released with a
/// part of an interval of an image that the host is about to look at: its layout may change between
/// release and acquire, and the host would not know when.
pub(in crate::solve) fn settle(
    walk: &mut Walk<'_>,
    (resource, pass): (ResourceIndex, PassIndex),
    interval: &Range<u64>,
    map: &mut RangeMap<State>,
) {
    let mut released: Vec<Pending<Mark>> = Vec::new();
    for (_, state) in map.iter_within(interval.clone()) {
        let known = released.last().map(|last| &last.interval);
        if let Some(pending) = &state.pending
            && known != Some(&pending.interval)
        {
            released.push(pending.clone());
        }
    }
    for pending in released {
        let last = walk.past.pass_ref(pending.mark.pass);
        let reason = Reason {
            resource,
            earlier: last,
            later: PassRef::Pass(pass),
            rung: Rung::OwnershipTransfer,
        };
        let place = acquire_in_window(walk, resource, &pending, reason);
        let point = walk.point(place);
        walk.last_uses
            .note(resource.0, point.queue, point.value, place);
        map.update(pending.interval.clone(), |_, state| {
            *state = State {
                owner: Some(pending.to),
                layout: pending.new_layout,
                defined: state.defined,
                first: state.first.take(),
                write: Some(Mark {
                    queue: point.queue,
                    value: point.value,
                    scope: EVERYTHING,
                    pass: pending.mark.pass,
                    step: 0,
                }),
                ..State::fresh()
            };
        });
    }
}

/// Moves a range to the family of a request, and makes it visible there: to the request, or to a
/// scope that other uses of the range by the same pass have made with it.
pub(in crate::solve) fn acquire(
    walk: &mut Walk<'_>,
    request: &Request,
    others: Option<Scope>,
    interval: &Range<u64>,
    state: &mut State,
) {
    let scope = others.unwrap_or(request.shared);
    let to = Destination {
        resource: request.resource,
        family: request.family,
        layout: request.layout,
        later: PassRef::Pass(request.pass),
    };
    let outside = state.owner.filter(|owner| owner.is_outside());
    let pending = match state.pending.take() {
        Some(pending) if pending.to == request.family => pending,
        Some(pending) => redirect(walk, &to, pending),
        None => match outside {
            Some(owner) => released_outside(request, owner, interval, state),
            None => release(walk, &to, interval, state),
        },
    };
    if walk.is_window(&pending.mark) {
        // Nobody has foreseen this, so what was before is no guide to what comes.
        state.previous_first = None;
    }
    let stages = match walk.topology.maintenance8 {
        true if !scope.stages.is_empty() => scope.stages,
        _ => Stages::ALL_COMMANDS,
    };
    let rung = Rung::OwnershipTransfer;
    // With it, the acquire can lead on from what has waited before.
    let all = !walk.topology.maintenance8;
    let (stages, earlier) = match outside {
        // Its release is not on our timelines; from whatever stages the caller waits for it, this
        // leads on.
        Some(_) => (Stages::ALL_COMMANDS, None),
        None => (
            walk.require(request, &pending.mark, stages, all, rung),
            Some(pending.mark.pass),
        ),
    };
    // In another layout it serves only the transition that follows.
    let arrives = !request.image || pending.new_layout == request.layout;
    let dst = if arrives || others.is_some() {
        scope
    } else {
        scope.stages_only()
    };
    let barrier = Barrier {
        src: Scope {
            stages,
            ..Scope::default()
        },
        dst,
        old_layout: pending.old_layout,
        new_layout: pending.new_layout,
        transfer: Some(half(pending.from, pending.to, TransferHalf::Acquire)),
        reason: walk.reason(request, earlier, rung),
    };
    let resource = walk.frame.resource(request.resource);
    walk.before_pass[0].push(resource, pending.interval, barrier);
    state.layout = pending.new_layout;
    state.owner = Some(request.family);
    state.reads.clear();
    state.promised = None;
    state.visible = smallvec![(request.queue, dst)];
    state.write = Some(request.mark(dst.stages_only()));
}

/// What somebody outside of the device has released to it, in the layout that it was imported in.
fn released_outside(
    request: &Request,
    owner: FamilyIndex,
    interval: &Range<u64>,
    state: &State,
) -> Pending<Mark> {
    Pending {
        from: owner,
        to: request.family,
        old_layout: state.layout,
        new_layout: state.layout,
        interval: interval.clone(),
        mark: request.mark(Scope::default()),
    }
}
