//! Phase `ownership`: release and acquire of exclusive resources between queue families.
//!
//! Where a pass needs a range that another family owns, the owner releases it and the pass's queue
//! acquires it just before the pass, after a wait for the release. The release is put
//!
//! - at the end of the last submission that uses the range, if that is in this frame;
//! - else in the owner's *window*: one submission before all others of its queue, for all
//!   resources that leave the family. After a host pass that device passes come after there are
//!   new windows, because what the host has touched cannot be released before.
//!
//! Windows cost a submission, so they are foreseen. Frames repeat, mostly: every frame is like the
//! last, or like the one before (two resources that change places). So [`predict`] looks at who
//! used a range first two frames before the next one, and if that is another family, appends the
//! release to this frame's last use. A prediction that proves wrong is made good in the window of
//! the family that should have acquired: it acquires, and releases to whom it may concern.
//!
//! Discarding takes over without all this: contents are lost, and only order matters.

use std::ops::Range;

use smallvec::smallvec;

use super::barrier::{for_each_predecessor, last_pass, source};
use super::record::Barrier;
use super::track::{Maps, Mark, State};
use super::walk::{Request, Walk};
use crate::error::PlanError;
use crate::flags::{AccessMask, Layout, Stages};
use crate::frame::{Frame, PassIndex};
use crate::plan::{PassRef, Reason, Rung, Scope, Transfer, TransferHalf};
use crate::range::RangeMap;
use crate::resource::{Lifetime, ResourceIndex};
use crate::states::{EndPass, Pending, States};
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// Acquires what was released as one with a part of an interval, but is not a run within it: it
/// reaches beyond, or its pieces have fared differently since. A release and its acquire name the
/// same range, however little of it the acquiring pass needs.
pub(super) fn acquire_around(
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
pub(super) fn settle(
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
pub(super) fn acquire(
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

/// Where a range goes.
pub(super) struct Destination {
    pub(super) resource: ResourceIndex,
    pub(super) family: FamilyIndex,
    pub(super) layout: Layout,
    pub(super) later: PassRef,
}

/// Lets the owner of a range release it, after all that the frame has done with it so far.
pub(super) fn release(
    walk: &mut Walk<'_>,
    to: &Destination,
    interval: &Range<u64>,
    state: &State,
) -> Pending<Mark> {
    let from = match state.owner {
        Some(owner) => owner,
        // With one family nobody keeps book of owners, until somebody outside wants to be one.
        None if to.family.is_outside() => last_family(walk, state),
        None => to.family,
    };
    let place = place(walk, to.resource, from, state);
    let hosted = walk.hosted[to.resource.0 as usize];
    let last = last_pass(state).or(hosted.map(|hosted| EndPass::Pass(hosted.pass)));
    let reason = Reason {
        resource: to.resource,
        earlier: last.map_or(PassRef::Nobody, |pass| walk.past.pass_ref(pass)),
        later: to.later.clone(),
        rung: Rung::OwnershipTransfer,
    };
    let queue = walk.point(place).queue;
    let mut src = Scope::default();
    for_each_predecessor(state, |mark, memory| {
        if mark.queue == queue {
            src = src.union(source(mark, memory));
        } else {
            src = src.union(walk.chain_late(place, mark, reason.clone()));
        }
    });
    append_release(
        walk,
        to,
        interval,
        place,
        from,
        src,
        (state.layout, last),
        reason,
    )
}

/// The family that used a range last, or else the first one.
fn last_family(walk: &Walk<'_>, state: &State) -> FamilyIndex {
    let mut queue = QueueIndex(0);
    for_each_predecessor(state, |mark, _| queue = mark.queue);
    walk.topology.family(queue)
}

/// Appends a release to a submission.
#[expect(clippy::too_many_arguments, reason = "the parts of one barrier")]
fn append_release(
    walk: &mut Walk<'_>,
    to: &Destination,
    interval: &Range<u64>,
    place: usize,
    from: FamilyIndex,
    src: Scope,
    (old_layout, last): (Layout, Option<EndPass>),
    reason: Reason,
) -> Pending<Mark> {
    // Without maintenance8 the second scope of a release is ignored.
    let maintenance8 = walk.topology.maintenance8;
    let stages = if maintenance8 {
        Stages::ALL_COMMANDS
    } else {
        Stages::empty()
    };
    let barrier = Barrier {
        src,
        dst: Scope {
            stages,
            ..Scope::default()
        },
        old_layout,
        new_layout: to.layout,
        transfer: Some(half(from, to.family, TransferHalf::Release)),
        reason,
    };
    let resource = walk.frame.resource(to.resource);
    walk.records[place].tail[1].push(resource, interval.clone(), barrier);
    let point = walk.point(place);
    walk.last_uses
        .note(to.resource.0, point.queue, point.value, place);
    let mark = Mark {
        queue: point.queue,
        value: point.value,
        // For whoever takes over without an acquire: whatever was written before.
        scope: Scope {
            stages: Stages::ALL_COMMANDS,
            access: AccessMask::MEMORY_WRITE,
        },
        pass: last.unwrap_or(EndPass::Presentation),
        step: 0,
    };
    Pending {
        from,
        to: to.family,
        old_layout,
        new_layout: to.layout,
        interval: interval.clone(),
        mark,
    }
}

/// Completes a release to a family that does not want the range, and releases it to one that
/// does, in the window of the former.
fn redirect(walk: &mut Walk<'_>, to: &Destination, pending: Pending<Mark>) -> Pending<Mark> {
    let reason = Reason {
        resource: to.resource,
        earlier: walk.past.pass_ref(pending.mark.pass),
        later: to.later.clone(),
        rung: Rung::OwnershipTransfer,
    };
    let place = acquire_in_window(walk, to.resource, &pending, reason.clone());
    let last = Some(pending.mark.pass);
    release_again(walk, to, &pending, place, last, reason)
}

/// Lets the family that a range was released to acquire it in its window.
fn acquire_in_window(
    walk: &mut Walk<'_>,
    resource: ResourceIndex,
    pending: &Pending<Mark>,
    reason: Reason,
) -> usize {
    let Some(queue) = walk.queue_of(pending.to) else {
        unreachable!("frames with owners outside of the topology are refused");
    };
    let place = walk.window(queue);
    walk.require_late(place, &pending.mark, true, reason.clone());
    acquire_at(walk, resource, pending, place, reason);
    place
}

/// Lets a family of the device acquire what somebody outside has released to it and nobody needs,
/// and release it to somebody else outside.
fn return_outside(
    walk: &mut Walk<'_>,
    to: &Destination,
    owner: FamilyIndex,
    interval: &Range<u64>,
    layout: Layout,
) -> Pending<Mark> {
    let mut queues = walk.topology.indices();
    let Some(queue) = queues.find(|queue| !walk.topology.queue(*queue).is_foreign()) else {
        unreachable!("frames without queues are refused");
    };
    let place = walk.window(queue);
    let point = walk.point(place);
    let pending = Pending {
        from: owner,
        to: walk.topology.family(queue),
        old_layout: layout,
        new_layout: layout,
        interval: interval.clone(),
        mark: Mark {
            queue,
            value: point.value,
            scope: Scope::default(),
            pass: EndPass::Presentation,
            step: 0,
        },
    };
    let reason = Reason {
        resource: to.resource,
        earlier: PassRef::Nobody,
        later: to.later.clone(),
        rung: Rung::OwnershipTransfer,
    };
    acquire_at(walk, to.resource, &pending, place, reason.clone());
    release_again(walk, to, &pending, place, None, reason)
}

/// All stages, for what nobody in particular waits for.
const EVERYTHING: Scope = Scope {
    stages: Stages::ALL_COMMANDS,
    access: AccessMask::empty(),
};

/// Acquires what is on its way to a family at the beginning of a window of it.
fn acquire_at(
    walk: &mut Walk<'_>,
    resource: ResourceIndex,
    pending: &Pending<Mark>,
    place: usize,
    reason: Reason,
) {
    let barrier = Barrier {
        src: EVERYTHING,
        dst: EVERYTHING,
        old_layout: pending.old_layout,
        new_layout: pending.new_layout,
        transfer: Some(half(pending.from, pending.to, TransferHalf::Acquire)),
        reason,
    };
    let resource = walk.frame.resource(resource);
    walk.records[place]
        .head
        .push(resource, pending.interval.clone(), barrier);
}

/// Releases what was acquired in a window.
fn release_again(
    walk: &mut Walk<'_>,
    to: &Destination,
    pending: &Pending<Mark>,
    place: usize,
    last: Option<EndPass>,
    reason: Reason,
) -> Pending<Mark> {
    let (interval, last) = (&pending.interval, (pending.new_layout, last));
    append_release(
        walk, to, interval, place, pending.to, EVERYTHING, last, reason,
    )
}

/// Where the owner releases a range: the last submission that uses it, or the window of the queue
/// that used it. An image that the host looks at keeps its layout until the host is done, and what
/// leaves stays until then.
fn place(walk: &Walk<'_>, resource: ResourceIndex, owner: FamilyIndex, state: &State) -> usize {
    let mut last = None;
    let mut queue = None;
    for_each_predecessor(state, |mark, _| {
        last = last.max(walk.timeline.submission(mark.point()));
        let candidate = walk.topology.queue(mark.queue);
        if candidate.family == owner && !candidate.is_foreign() {
            queue = Some(mark.queue);
        }
    });
    if walk.frame.resource(resource).is_image() || walk.is_given(resource) {
        let hosted = walk.hosted[resource.0 as usize];
        last = last.filter(|last| hosted.is_none_or(|hosted| *last >= hosted.submissions));
    }
    let queue = queue.or_else(|| walk.queue_of(owner));
    // A range that nobody of a known family has used has no owner.
    last.unwrap_or_else(|| queue.map_or(0, |queue| walk.window(queue)))
}

/// Reports owners that the topology does not have, so that later phases find a queue for each.
pub(super) fn check(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    errors: &mut Vec<PlanError>,
) {
    let exists = |family: FamilyIndex| {
        let mut queues = topology.queues.iter();
        queues.any(|queue| queue.family == family && !queue.is_foreign())
    };
    for resource in &frame.resources {
        let kept = resource.lifetime == Lifetime::Persistent;
        let Some(map) = states.map(resource.id).filter(|_| kept) else {
            continue;
        };
        let owners = map.iter().flat_map(|(_, state)| {
            // Who has released has nothing more to do with it.
            let pending = state.pending.as_ref().map(|pending| pending.to);
            pending.or(state.owner)
        });
        let given = map.iter().filter_map(|(_, state)| state.pending.as_ref());
        let mut outside = given.map(|pending| pending.to).filter(|to| to.is_outside());
        if let Some(family) = outside.next() {
            errors.push(PlanError::Outside {
                resource: resource.name.clone(),
                family,
            });
            continue;
        }
        // Who is outside and has not been given it, has released it to us.
        let mut unknown = owners.filter(|family| !exists(*family) && !family.is_outside());
        if let Some(family) = unknown.next() {
            errors.push(PlanError::UnknownOwner {
                resource: resource.name.clone(),
                family,
                topology: topology.to_string(),
            });
        }
    }
}

/// Appends releases for the next frame to this frame's last uses.
pub(super) fn predict(walk: &mut Walk<'_>, maps: &mut Maps) {
    for (at, map) in maps.iter_mut().enumerate() {
        let resource = ResourceIndex(at as u32);
        let declared = walk.frame.resource(resource);
        let persistent = declared.lifetime == Lifetime::Persistent;
        let used = walk.last_uses.submission(at as u32).is_some();
        // The host may look at an image for longer than the device; a layout must not change
        // under its eyes.
        let seen_by_host = declared.is_image() && walk.hosted[at].is_some();
        if !persistent || !walk.is_owned(resource) || !used || seen_by_host {
            continue;
        }
        map.update(crate::range::EVERYTHING, |interval, state| {
            predict_range(walk, resource, &interval, state);
        });
    }
}

/// See [`predict`].
fn predict_range(
    walk: &mut Walk<'_>,
    resource: ResourceIndex,
    interval: &Range<u64>,
    state: &mut State,
) {
    let next = state.previous_first.as_ref().or(state.first.as_ref());
    let touched = state.first.is_some() && state.pending.is_none();
    let Some(next) = next.filter(|next| touched && !next.discard) else {
        return;
    };
    let mut used_in_frame = false;
    for_each_predecessor(state, |mark, _| used_in_frame |= mark.value > 0);
    // Without a last use (the host came after it) there is no place to foresee anything.
    if !used_in_frame || state.owner.is_none_or(|owner| owner == next.family) {
        return;
    }
    let to = Destination {
        resource,
        family: next.family,
        layout: next.layout,
        later: PassRef::Next(next.pass.clone()),
    };
    let pending = release(walk, &to, interval, state);
    state.pending = Some(pending);
}

/// Releases what leaves for other streams to the families that will have it.
pub(super) fn give(walk: &mut Walk<'_>, maps: &mut Maps) {
    for give in &walk.frame.gives {
        let outside = give.family.is_outside();
        if !walk.is_owned(give.resource) && !outside {
            continue;
        }
        let to = Destination {
            resource: give.resource,
            family: give.family,
            layout: give.layout,
            later: PassRef::Next(if outside {
                give.family.to_string().into()
            } else {
                "another stream".into()
            }),
        };
        maps[give.resource.0 as usize].update(crate::range::EVERYTHING, |interval, state| {
            let other = state.owner.filter(|owner| owner.is_outside());
            let other = other.filter(|owner| *owner != give.family);
            state.pending = match state.pending.take() {
                Some(pending) if pending.to == give.family => Some(pending),
                Some(pending) => Some(redirect(walk, &to, pending)),
                // It never came.
                None if state.owner == Some(give.family) => None,
                None if state.owner.is_none() && !outside => None,
                None => Some(match other {
                    Some(owner) => return_outside(walk, &to, owner, &interval, state.layout),
                    None => release(walk, &to, &interval, state),
                }),
            };
        });
    }
}

/// One half of a transfer.
pub(super) fn half(from: FamilyIndex, to: FamilyIndex, half: TransferHalf) -> Transfer {
    Transfer { from, to, half }
}
