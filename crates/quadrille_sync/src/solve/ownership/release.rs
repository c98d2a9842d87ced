//! Releases: where, after what, and to whom.

use std::ops::Range;

use super::half;
use crate::flags::{AccessMask, Layout, Stages};
use crate::plan::{PassRef, Reason, Rung, Scope, TransferHalf};
use crate::resource::ResourceIndex;
use crate::solve::barrier::{for_each_predecessor, last_pass, source};
use crate::solve::record::Barrier;
use crate::solve::track::{Mark, State};
use crate::solve::walk::Walk;
use crate::states::{EndPass, Pending};
use crate::topology::{FamilyIndex, QueueIndex};

/// Where a range goes.
pub(in crate::solve) struct Destination {
    pub(in crate::solve) resource: ResourceIndex,
    pub(in crate::solve) family: FamilyIndex,
    pub(in crate::solve) layout: Layout,
    pub(in crate::solve) later: PassRef,
}

/// Lets the owner of a range release it, after all that the frame has done with it so far.
pub(in crate::solve) fn release(
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
pub(super) fn append_release(
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
