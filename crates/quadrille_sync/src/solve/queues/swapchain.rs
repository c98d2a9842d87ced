//! Swapchain images: the wait for the acquired image, and its transition for presentation.
//!
//! The first submission that uses an image waits for the image's binary semaphore, in the stages of
//! that first use. These stages are the first scope of the first layout transition; any other stages
//! would form no dependency chain with the wait. After the last use the image is transitioned to
//! [`Layout::PresentSrc`], at the end of that submission if its queue can present, else in a
//! submission of a queue that can.
//!
//! An image that no pass uses is neither acquired nor presented.

use std::ops::Range;

use crate::flags::{Layout, Stages};
use crate::plan::{DependencyKind, ImageAcquire, PassRef, Reason, Scope, TransferHalf};
use crate::range::{EVERYTHING, RangeMap, intervals};
use crate::resource::{Lifetime, ResourceIndex};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::record::Barrier;
use crate::solve::barriers::request::Request;
use crate::solve::queues::ownership::{self, Destination, Releases, half};
use crate::solve::state::predecessors::{for_each_predecessor, last_pass};
use crate::solve::state::{Maps, State, TrackedAccess};
use crate::states::{EndPass, Pending};
use crate::topology::QueueIndex;

/// If a request is the first of a swapchain image, adds the wait for its binary semaphore to the
/// submission. In the states, the presentation engine counts as a write in the stages of that wait.
pub(crate) fn acquire_image(
    builder: &mut Builder<'_>,
    request: &Request,
    map: &mut RangeMap<State>,
) {
    let swapchain = builder.inputs.frame.resource(request.resource).lifetime == Lifetime::Swapchain;
    if !swapchain || builder.last_uses.submission(request.resource.0).is_some() {
        return;
    }
    let stages = request.scope.stages;
    let stages = if stages.is_empty() {
        Stages::ALL_COMMANDS
    } else {
        stages
    };
    let acquire = ImageAcquire {
        resource: request.resource,
        stages,
    };
    builder.records[request.submission]
        .submission
        .acquires
        .push(acquire);
    let tracked = TrackedAccess {
        pass: EndPass::Presentation,
        step: 0,
        ..request.tracked(Scope::of_stages(stages))
    };
    map.update(EVERYTHING, |_, state| state.write = Some(tracked));
}

/// Presents the swapchain images that the frame uses.
pub(crate) fn present(builder: &mut Builder<'_>, maps: &mut Maps) {
    // One submission presents all images whose last queue cannot present.
    let mut presenter = None;
    for (at, resource) in builder.inputs.frame.resources.iter().enumerate() {
        let used = builder.last_uses.submission(at as u32);
        let Some(last) = used.filter(|_| resource.lifetime == Lifetime::Swapchain) else {
            continue;
        };
        let can_present = |queue: &QueueIndex| builder.inputs.topology.queue(*queue).can_present;
        let submission = if can_present(&builder.point(last).queue) {
            last
        } else if let Some(queue) = builder.inputs.topology.indices().find(can_present) {
            *presenter.get_or_insert_with(|| builder.open(queue))
        } else {
            unreachable!("frames whose images no queue can present are refused");
        };
        let index = ResourceIndex(at as u32);
        transfer_to_present(builder, index, submission, maps);
        maps[at].update(EVERYTHING, |interval, state| {
            finish(builder, index, submission, interval, state);
        });
        builder.records[submission].submission.presents.push(index);
        builder.note_use(index, submission);
    }
}

/// Adds the final transition of a range at the end of a submission whose queue presents.
fn finish(
    builder: &mut Builder<'_>,
    resource: ResourceIndex,
    submission: usize,
    interval: Range<u64>,
    state: &mut State,
) {
    let reason = reason(builder, resource, last_pass(&[state]));
    let (old_layout, new_layout) = (state.layout, Layout::PresentSrc);
    let mut src = Scope::default();
    for_each_predecessor(state, |tracked, memory| {
        src = src.union(builder.source_at(submission, tracked, memory, &reason));
    });
    if old_layout == new_layout {
        return;
    }
    let barrier = Barrier {
        src,
        dst: Scope::default(),
        old_layout,
        new_layout,
        transfer: None,
        reason,
    };
    builder.records[submission].tail.push(
        builder.inputs.frame.resource(resource),
        interval,
        barrier,
    );
}

/// Transfers ownership of ranges from other families to the family of the queue that presents. The
/// layout transition is part of the transfer.
fn transfer_to_present(
    builder: &mut Builder<'_>,
    resource: ResourceIndex,
    submission: usize,
    maps: &mut Maps,
) {
    let point = builder.point(submission);
    let family = builder.inputs.topology.family(point.queue);
    if !builder.inputs.is_owned(resource) {
        return;
    }
    let to = Destination {
        resource,
        family,
        layout: Layout::PresentSrc,
        later: PassRef::Presentation,
    };
    let mut releases = Releases::default();
    for (run, state) in maps[resource.0 as usize].iter() {
        if state.owner.is_some_and(|owner| owner != family) {
            releases.add(builder, &to, run, &[state]);
        }
    }
    releases.release(builder, maps);
    let map = &mut maps[resource.0 as usize];
    ownership::for_each_pending(
        map,
        EVERYTHING,
        |_, _| true,
        |map, pending| acquire_to_present(builder, resource, submission, &pending, map),
    );
}

/// Acquires the ranges that are about to be presented, at the end of a submission.
fn acquire_to_present(
    builder: &mut Builder<'_>,
    resource: ResourceIndex,
    submission: usize,
    pending: &Pending<TrackedAccess>,
    map: &mut RangeMap<State>,
) {
    let reason = reason(builder, resource, Some(pending.tracked.pass));
    let all = !builder.inputs.topology.maintenance8;
    let stages = builder.require_late(submission, &pending.tracked, all, reason.clone());
    let barrier = Barrier {
        src: Scope::of_stages(stages),
        dst: Scope::default(),
        old_layout: pending.old_layout,
        new_layout: pending.new_layout,
        transfer: Some(half(pending.from, pending.to, TransferHalf::Acquire)),
        reason,
    };
    let declared = builder.inputs.frame.resource(resource);
    builder.records[submission]
        .tail
        .push_half(declared, &pending.range, barrier);
    let point = builder.point(submission);
    let write = TrackedAccess {
        queue: point.queue,
        value: point.value,
        ..pending.tracked
    };
    intervals(&declared.kind, &pending.range, |interval| {
        map.update(interval, |_, state| {
            state.rare.forget_pending();
            state.owner = Some(pending.to);
            state.layout = pending.new_layout;
            state.reads.clear();
            state.write = Some(write);
        });
    });
}

/// The reason for a barrier or wait before presentation.
fn reason(builder: &Builder<'_>, resource: ResourceIndex, last: Option<EndPass>) -> Reason {
    let earlier = last.map_or(PassRef::None, |pass| builder.waits.past.pass_ref(pass));
    Reason {
        resource,
        earlier,
        later: PassRef::Presentation,
        dependency_kind: DependencyKind::Presentation,
    }
}
