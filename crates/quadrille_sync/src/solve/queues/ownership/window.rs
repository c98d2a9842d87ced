//! Completes releases whose predicted acquire never came: a window of the destination family
//! acquires the range. From there it can be released to another family like any other range.

use std::ops::Range;

use super::half;
use super::outside::Outside;
use crate::flags::{AccessMask, Layout, Stages};
use crate::frame::PassIndex;
use crate::plan::{DependencyKind, PassRef, Reason, Scope, TransferHalf};
use crate::range::{RangeMap, intervals};
use crate::resource::ResourceIndex;
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::record::Barrier;
use crate::solve::state::{State, TrackedAccess};
use crate::states::Pending;

/// All stages, for acquires that no known stage waits for.
pub(super) const ALL: Scope = Scope {
    stages: Stages::ALL_COMMANDS,
    access: AccessMask::empty(),
};

/// Completes pending acquires of an interval of an image that the host is about to use, each in
/// the window of its destination family. A transfer whose old and new layout both are the host's
/// `layout` is left pending. Any other transfer changes the layout between release and acquire, at a
/// time that the host cannot observe. Ranges that an external owner has released in another layout
/// are acquired as well, because only an owner can change the layout.
pub(crate) fn complete_for_host(
    builder: &mut Builder<'_>,
    (resource, pass): (ResourceIndex, PassIndex),
    layout: Layout,
    interval: &Range<u64>,
    map: &mut RangeMap<State>,
) {
    let mut outside = Outside::default();
    for (run, state) in map.iter_within(interval.clone()) {
        if state.layout != layout {
            outside.add(
                run.start.max(interval.start)..run.end.min(interval.end),
                state,
            );
        }
    }
    outside.pass_on(builder, resource, &PassRef::Pass(pass), map);
    for_each_pending(
        map,
        interval.clone(),
        |_, pending| (pending.old_layout, pending.new_layout) != (layout, layout),
        |map, pending| {
            complete_pending(builder, resource, PassRef::Pass(pass), &pending, map);
        },
    );
}

/// Acquires a range in the window of the family that it was released to. `later` is the pass that
/// makes this necessary.
pub(super) fn complete_pending(
    builder: &mut Builder<'_>,
    resource: ResourceIndex,
    later: PassRef,
    pending: &Pending<TrackedAccess>,
    map: &mut RangeMap<State>,
) {
    let Some(queue) = builder.inputs.queue_of(pending.to) else {
        unreachable!("frames with owners outside of the topology are refused");
    };
    let submission = builder.window(queue);
    let reason = Reason {
        resource,
        earlier: builder.waits.past.pass_ref(pending.tracked.pass),
        later,
        dependency_kind: DependencyKind::OwnershipTransfer,
    };
    // With maintenance8 the acquire can chain from stages that have waited already, and later
    // accesses chain from the acquire. No other stage of the queue has to wait.
    let all = !builder.inputs.topology.maintenance8;
    let stages = builder.require_late(submission, &pending.tracked, all, reason.clone());
    let scope = if all { ALL } else { Scope::of_stages(stages) };
    record_acquire(builder, submission, scope, pending, reason, map);
}

/// Acquires a range at the start of a window, with `scope` (stages that have waited for its release) on
/// both sides, and updates its states.
pub(super) fn record_acquire(
    builder: &mut Builder<'_>,
    submission: usize,
    scope: Scope,
    pending: &Pending<TrackedAccess>,
    reason: Reason,
    map: &mut RangeMap<State>,
) {
    let index = reason.resource;
    let resource = builder.inputs.frame.resource(index);
    let barrier = Barrier {
        src: scope,
        dst: scope,
        old_layout: pending.old_layout,
        new_layout: pending.new_layout,
        transfer: Some(half(pending.from, pending.to, TransferHalf::Acquire)),
        reason,
    };
    builder.records[submission]
        .head
        .push_half(resource, &pending.range, barrier);
    let point = builder.point(submission);
    builder.note_use(index, submission);
    let write = TrackedAccess {
        queue: point.queue,
        value: point.value,
        scope,
        pass: pending.tracked.pass,
        step: builder.records[submission].step,
    };
    intervals(&resource.kind, &pending.range, |interval| {
        map.update(interval, |_, state| {
            state.forget_previous();
            *state = State {
                owner: Some(pending.to),
                layout: pending.new_layout,
                defined: state.defined,
                first: state.first.take(),
                write: Some(write),
                ..State::fresh()
            };
        });
    });
}

/// Calls `acquire` for each range that one barrier released and that overlaps an interval, if
/// `is_wanted` accepts one of its runs in the interval.
pub(crate) fn for_each_pending(
    map: &mut RangeMap<State>,
    within: Range<u64>,
    is_wanted: impl Fn(&State, &Pending<TrackedAccess>) -> bool,
    mut acquire: impl FnMut(&mut RangeMap<State>, Pending<TrackedAccess>),
) {
    let mut at = within.start;
    while at < within.end {
        let found = map.iter_within(at..within.end).find_map(|(run, state)| {
            let pending = state.rare.pending()?;
            is_wanted(state, pending).then(|| (run.end, Pending::clone(pending)))
        });
        let Some((end, pending)) = found else { return };
        acquire(map, pending);
        at = end;
    }
}
