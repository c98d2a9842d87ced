//! What was released to one family, and another one gets: the former takes it in its window and
//! passes it on.

use std::ops::Range;

use super::half;
use super::release::{Destination, append_release};
use crate::flags::{AccessMask, Layout, Stages};
use crate::plan::{PassRef, Reason, Rung, Scope, TransferHalf};
use crate::resource::ResourceIndex;
use crate::solve::record::Barrier;
use crate::solve::track::Mark;
use crate::solve::walk::Walk;
use crate::states::{EndPass, Pending};
use crate::topology::FamilyIndex;

/// All stages, for what nobody in particular waits for.
pub(super) const EVERYTHING: Scope = Scope {
    stages: Stages::ALL_COMMANDS,
    access: AccessMask::empty(),
};

/// Completes a release to a family that does not want the range, and releases it to one that
/// does, in the window of the former.
pub(super) fn redirect(
    walk: &mut Walk<'_>,
    to: &Destination,
    pending: Pending<Mark>,
) -> Pending<Mark> {
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
pub(super) fn acquire_in_window(
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
pub(super) fn return_outside(
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
