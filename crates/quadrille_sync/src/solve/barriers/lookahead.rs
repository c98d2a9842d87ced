//! Look-ahead: barriers for the first passes of the next frame, in existing barrier calls.
//!
//! The first passes of a frame depend on the last passes of the previous frame, so a barrier call
//! would be needed between the two. But most frames repeat, and the previous frame predicts the
//! first use of a range, as for releases (`queues/ownership`). Suppose that a queue has last used
//! a range before its last barrier call, and will be the first to use it again. Then the barrier
//! that the next frame needs, including a layout transition, is added to that call and costs no
//! call of its own.
//!
//! A prediction is useful only if it saves the next frame a call. The first call that a frame needs
//! anyway (because of hazards within the frame, or waits) can take the barriers of all later passes.
//! So can the call for the first barrier that cannot be predicted. Barriers are predicted only for
//! passes before both calls. Ranges that the frame uses after its last call are never predicted.
//!
//! A misprediction falls back to a normal barrier: the ladder finds the range in another layout,
//! or visible to another scope, and proceeds as always. A needless visibility operation costs
//! nothing further; a needless layout transition costs a second transition. So there is no
//! prediction for a range that was not used in the previous frame, and contents are never discarded
//! early.

use std::ops::Range;
use std::sync::Arc;

use crate::frame::{Frame, PassIndex};
use crate::range::{EVERYTHING, RangeMap, SubRange, is_of_levels};
use crate::resource::{Lifetime, Resource, ResourceIndex};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::request::Request;
use crate::solve::barriers::{change_layout, order_read, order_write};
use crate::solve::state::predecessors::{for_each_predecessor, last_pass};
use crate::solve::state::visibility::is_visible;
use crate::solve::state::{Maps, State, TrackedAccess};
use crate::states::{EndPass, First, FirstUse, Previous, VisibleScope};

/// Adds the predicted barriers of the next frame to the last call of each queue.
pub(crate) fn prepare(builder: &mut Builder<'_>, calls: &mut Calls, maps: &mut Maps) {
    // By queue: the step of the first pass of the next frame that has a call before it anyway.
    let queues = builder.inputs.topology.indices();
    let mut limits: Vec<u32> = queues.map(|queue| calls.first(queue)).collect();
    // Uses after every limit are skipped early: in large frames these are most uses.
    let farthest = limits.iter().copied().max().unwrap_or(0);
    let mut wanted: Vec<ResourceIndex> = Vec::new();
    for (resource, map) in (0..).map(ResourceIndex).zip(maps.iter()) {
        for (run, state) in map.iter() {
            let next = next_use(state).filter(|next| next.step < farthest);
            let Some(next) = next else {
                continue;
            };
            let limit = &mut limits[usize::from(next.used.queue.0)];
            let declared = builder.inputs.frame.resource(resource);
            if next.step >= *limit || !needs(declared, state, next.used) {
                continue;
            }
            match predicted_call(builder, calls, resource, (&run, state)) {
                Some(_) => wanted.push(resource),
                None => *limit = next.step,
            }
        }
    }
    wanted.dedup();
    for resource in wanted {
        prepare_resource(
            builder,
            calls,
            resource,
            &mut maps[resource.0 as usize],
            &limits,
        );
    }
}

/// Adds the barriers that passes before the limits need for one resource.
fn prepare_resource(
    builder: &mut Builder<'_>,
    calls: &mut Calls,
    resource: ResourceIndex,
    map: &mut RangeMap<State>,
    limits: &[u32],
) {
    let declared = builder.inputs.frame.resource(resource);
    map.update(EVERYTHING, |interval, state| {
        let is_first = |next: &Previous<'_>| next.step < limits[usize::from(next.used.queue.0)];
        let next = next_use(state).filter(is_first);
        if !next.is_some_and(|next| needs(declared, state, next.used)) {
            return;
        }
        let Some(request) = predict_request(builder, calls, resource, (&interval, state)) else {
            return;
        };
        let changes = state.layout != request.layout;
        if changes {
            change_layout(
                &mut builder.waits,
                calls,
                &request,
                interval,
                &[state],
                state.layout,
            );
        } else if request.writes {
            order_write(&mut builder.waits, calls, &request, interval, state);
        } else {
            order_read(
                &mut builder.waits,
                calls,
                &request,
                request.scope,
                interval,
                state,
            );
        }
        calls.put_ahead(builder, request.queue);
        builder.note_use(resource, request.submission);
        update_state(&request, state, changes);
    });
}

/// Whether the first use of a range in the next frame needs a barrier in that frame, if none is
/// predicted.
fn needs(resource: &Resource, state: &State, next: &FirstUse) -> bool {
    let changes = resource.is_image() && state.layout != next.layout;
    if changes || state.rare.pending().is_some() || !resource.has_past() {
        return true;
    }
    let is_here = |tracked: &TrackedAccess| tracked.queue == next.queue;
    if next.writes {
        let mut any = false;
        for_each_predecessor(state, |tracked, _| any |= is_here(tracked));
        return any;
    }
    let is_seen = is_visible(state, next.queue, next.scope);
    state.write.as_ref().is_some_and(is_here) && !is_seen
}

/// The call that can take the barrier of the first use of a range in the next frame: the last call of
/// its queue, as a submission and the step of the pass after the call. `None` if that use is
/// unknown, or depends on an access after the call.
fn predicted_call(
    builder: &Builder<'_>,
    calls: &Calls,
    resource: ResourceIndex,
    (run, state): (&Range<u64>, &State),
) -> Option<(usize, u32)> {
    let next = state.previous()?.used;
    let (submission, step) = calls.last_call(next.queue)?;
    let declared = builder.inputs.frame.resource(resource);
    let is_kept = declared.lifetime == Lifetime::Persistent && declared.has_past();
    // Ranges that the host uses, or that are given to another stream, must not change their layout.
    let stays = builder.hosted[resource.0 as usize].is_some() || builder.inputs.is_given(resource);
    let is_here = state.rare.pending().is_none() && state.owner.is_none_or(|it| it == next.family);
    let changes = declared.is_image() && state.layout != next.layout;
    // Layouts are per mip level, and this run is only a part of one.
    let is_bound = changes && !is_of_levels(&declared.kind, run);
    if !is_kept
        || is_bound
        || stays
        || !is_here
        || state.rare.promised().is_some()
        || changes && next.discard
    {
        return None;
    }
    // Steps count passes in submission order over the frame; 0 is an access before the first pass.
    let is_before = |tracked: &TrackedAccess| {
        tracked.step > 0 || builder.waits.timeline.submission(tracked.point()) <= Some(submission)
    };
    let precedes_call = |tracked: &TrackedAccess| {
        tracked.queue == next.queue && tracked.step < step && is_before(tracked)
    };
    let mut all = state.write.as_ref().is_none_or(precedes_call);
    for_each_predecessor(state, |tracked, _| {
        // Two reads in one layout need no order.
        all &= !changes && !next.writes || precedes_call(tracked);
    });
    all.then_some((submission, step))
}

/// The first use of a range in the next frame as a request at the last call of its queue, if that
/// call can take the barrier.
fn predict_request(
    builder: &Builder<'_>,
    calls: &Calls,
    resource: ResourceIndex,
    (run, state): (&Range<u64>, &State),
) -> Option<Request> {
    let (submission, step) = predicted_call(builder, calls, resource, (run, state))?;
    let next = state.previous()?.used;
    let declared = builder.inputs.frame.resource(resource);
    Some(Request {
        resource,
        range: SubRange::Whole,
        submission,
        queue: next.queue,
        family: next.family,
        value: builder.point(submission).value,
        step,
        // The pass belongs to the next frame.
        pass: PassIndex(u32::MAX),
        next: Some(Arc::clone(next_use(state)?.used)),
        scope: next.scope,
        shared: next.scope,
        layout: next.layout,
        image: declared.is_image(),
        exclusive: builder.inputs.is_owned(resource),
        writes: next.writes,
        discard: next.discard,
        is_for_level: false,
    })
}

/// The state after a barrier for the next frame.
fn update_state(request: &Request, state: &mut State, changes: bool) {
    if changes {
        let pass = last_pass(&[state]).unwrap_or(EndPass::None);
        let scope = request.scope.stages_only();
        state.write = Some(TrackedAccess {
            pass,
            ..request.tracked(scope)
        });
        state.reads.clear();
        state.visible.clear();
        state.rare.forget_host();
        state.layout = request.layout;
    }
    let Request { queue, scope, .. } = *request;
    let is_part = |seen: &VisibleScope| seen.queue == queue && scope.covers(seen.scope);
    state.visible.retain(|seen| !is_part(seen));
    state.visible.push(VisibleScope {
        queue,
        scope,
        is_ready: true,
    });
}

/// Notes the first use of a range in this frame, for predictions.
#[inline]
pub(crate) fn note_first(frame: &Frame, request: &Request, state: &mut State) {
    if state.first.is_none() {
        note(frame, request, state);
    }
}

/// Notes the first use; reuses the stored use of the previous frame if it is equal.
fn note(frame: &Frame, request: &Request, state: &mut State) {
    let pass = &frame.pass(request.pass).name;
    let is_same = |First { used, .. }: &mut First| {
        used.queue == request.queue
            && used.scope == request.shared
            && used.layout == request.layout
            && (used.writes, used.discard) == (request.writes, request.discard)
            && (Arc::ptr_eq(&used.pass, pass) || used.pass == *pass)
    };
    // Frames repeat: an equal use shares its reference-counted record, without an allocation.
    let same = state.previous_first.take_if(is_same);
    state.first = Some(First {
        step: request.step,
        again: same.as_ref().map_or(0, |same| same.step),
        used: same.map(|same| same.used).unwrap_or_else(|| {
            Arc::new(FirstUse {
                queue: request.queue,
                family: request.family,
                scope: request.shared,
                layout: request.layout,
                writes: request.writes,
                discard: request.discard,
                pass: pass.clone(),
            })
        }),
    });
}

/// The predicted first use of a range in the next frame, if this frame used it too: the first use
/// of the previous frame, or of this frame if the previous one has none.
pub(crate) fn next_use(state: &State) -> Option<Previous<'_>> {
    let first = state.first.as_ref()?;
    Some(state.previous().unwrap_or(Previous {
        step: first.step,
        used: &first.used,
    }))
}
