//! Acquires before the pass that needs a range.
//!
//! A release and its acquire must name the same range, even if the acquiring pass needs only a part
//! of it. So a range that one barrier released is acquired by one barrier. All ranges that a pass
//! needs from other families are first collected, then released, then acquired, so that adjacent
//! ranges with equal transfers share barriers.

use smallvec::smallvec;

use super::half;
use super::outside::Outside;
use super::release::{Destination, Releases};
use super::window::{complete_pending, for_each_pending};
use crate::flags::{Layout, Stages};
use crate::plan::{DependencyKind, PassRef, Scope, TransferHalf};
use crate::range::{RangeMap, for_each_union, intervals};
use crate::resource::ResourceKind;
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::inputs::Inputs;
use crate::solve::barriers::record::Barrier;
use crate::solve::barriers::request::Request;
use crate::solve::barriers::scope::scope_of;
use crate::solve::barriers::slices::for_each_whole;
use crate::solve::state::{Maps, State, TrackedAccess};
use crate::states::{Pending, VisibleScope};

/// Transfers ownership of the ranges that a pass needs to the family of its queue, and completes
/// pending acquires of ranges that the pass discards in part.
pub(crate) fn acquire_needed(
    builder: &mut Builder<'_>,
    calls: &mut Calls,
    requests: &[Request],
    maps: &mut Maps,
) {
    let frame = builder.inputs.frame;
    let moves = |request: &Request| {
        let kind = &frame.resource(request.resource).kind;
        let mut any = false;
        intervals(kind, &request.range, |interval| {
            let mut runs = maps[request.resource.0 as usize].iter_within(interval);
            any |= runs.any(|(_, state)| request.finds_elsewhere(state));
        });
        any
    };
    if !requests.iter().any(moves) {
        return;
    }
    let mut releases = Releases::default();
    for request in requests {
        let kind = &frame.resource(request.resource).kind;
        let map = &mut maps[request.resource.0 as usize];
        complete_others(builder, request, kind, map);
    }
    for (at, request) in requests.iter().enumerate() {
        if !requests[..at].iter().any(|other| is_alike(other, request)) {
            let alike = requests[at..].iter().filter(|it| is_alike(it, request));
            collect_releases(builder, alike, request, maps, &mut releases);
        }
    }
    releases.release(builder, maps);
    for request in requests {
        let kind = &frame.resource(request.resource).kind;
        let map = &mut maps[request.resource.0 as usize];
        intervals(kind, &request.range, |interval| {
            for_each_pending(
                map,
                interval,
                |state, pending| needs(request, kind, state, pending),
                |map, pending| acquire(builder, calls, request, kind, pending, map),
            );
        });
    }
}

/// Whether a request needs the acquire of a released range: it needs the contents, or discards
/// only a part.
fn needs(
    request: &Request,
    kind: &ResourceKind,
    state: &State,
    pending: &Pending<TrackedAccess>,
) -> bool {
    !request.discards(state) || !request.range.covers(&pending.range, kind)
}

/// Completes pending acquires of other families than that of a request.
fn complete_others(
    builder: &mut Builder<'_>,
    request: &Request,
    kind: &ResourceKind,
    map: &mut RangeMap<State>,
) {
    intervals(kind, &request.range, |interval| {
        for_each_pending(
            map,
            interval,
            |state, pending| pending.to != request.family && needs(request, kind, state, pending),
            |map, pending| {
                let later = PassRef::Pass(request.pass);
                complete_pending(builder, request.resource, later, &pending, map);
            },
        );
    });
}

/// Whether two requests can share a release: same resource, layout and kind of access. Overlapping
/// requests of a pass always can, since they all read.
fn is_alike(one: &Request, other: &Request) -> bool {
    let key = |it: &Request| (it.resource, it.layout, it.writes, it.discard);
    key(one) == key(other)
}

/// Collects the ranges of equal requests that other families own.
fn collect_releases<'a>(
    builder: &mut Builder<'_>,
    alike: impl Iterator<Item = &'a Request>,
    request: &Request,
    maps: &mut Maps,
    releases: &mut Releases,
) {
    let to = Destination {
        resource: request.resource,
        family: request.family,
        layout: request.layout,
        later: PassRef::Pass(request.pass),
    };
    let kind = &builder.inputs.frame.resource(request.resource).kind;
    let map = &mut maps[request.resource.0 as usize];
    let mut parts = Vec::new();
    for one in alike {
        intervals(kind, &one.range, |interval| parts.push(interval));
    }
    let mut outside = Outside::default();
    for_each_union(&mut parts, |interval| {
        for_each_whole(kind, map, interval, |run, states| {
            // All slices of a mip level have one owner.
            let [state, ..] = states else { return };
            let is_elsewhere = state.rare.pending().is_none() && request.finds_elsewhere(state);
            let discards = states.iter().all(|state| request.discards(state));
            if is_elsewhere && !discards && !outside.add(run.clone(), state) {
                releases.add(builder, &to, run, states);
            }
        });
    });
    outside.await_by(request, kind, map);
}

/// Acquires a range just before the pass of a request, and makes it visible there.
fn acquire(
    builder: &mut Builder<'_>,
    calls: &mut Calls,
    request: &Request,
    kind: &ResourceKind,
    pending: Pending<TrackedAccess>,
    map: &mut RangeMap<State>,
) {
    let dst = scope_within(builder.inputs, request, &pending);
    let stages = match builder.inputs.topology.maintenance8 {
        true if !dst.stages.is_empty() => dst.stages,
        _ => Stages::ALL_COMMANDS,
    };
    let dependency_kind = DependencyKind::OwnershipTransfer;
    // With maintenance8, the acquire can chain from stages that have waited before.
    let all = !builder.inputs.topology.maintenance8;
    let (stages, earlier) = if pending.from.is_outside() {
        // An external release signals no timeline of ours. The caller waits for it in unknown
        // stages, so the acquire chains from all of them.
        (Stages::ALL_COMMANDS, None)
    } else {
        let stages = builder
            .waits
            .require(request, &pending.tracked, stages, all, dependency_kind);
        (stages, Some(pending.tracked.pass))
    };
    calls.follow_wait();
    let barrier = Barrier {
        src: Scope::of_stages(stages),
        dst,
        old_layout: pending.old_layout,
        new_layout: pending.new_layout,
        transfer: Some(half(pending.from, pending.to, TransferHalf::Acquire)),
        reason: builder.waits.reason(request, earlier, dependency_kind),
    };
    let resource = builder.inputs.frame.resource(request.resource);
    calls.needed(0).push_half(resource, &pending.range, barrier);
    // After an unpredicted transfer, the previous frame must not predict the next one.
    let is_predicted = !builder.is_window(&pending.tracked);
    intervals(kind, &pending.range, |interval| {
        map.update(interval, |_, state| {
            state.rare.forget_pending();
            state.rare.forget_promised();
            state.rare.forget_host();
            state.layout = pending.new_layout;
            state.owner = Some(request.family);
            state.reads.clear();
            state.visible = smallvec![VisibleScope {
                queue: request.queue,
                scope: dst,
                is_ready: false,
            }];
            state.write = Some(request.tracked(dst.stages_only()));
            if !is_predicted {
                state.forget_previous();
            }
        });
    });
}

/// The union of the scopes of all uses by the request's pass that overlap the acquired range. These
/// may differ from the uses that overlap the request. For uses in another layout the acquire is only
/// an execution dependency: the transition that follows makes the memory visible to them.
fn scope_within(inputs: Inputs<'_>, request: &Request, pending: &Pending<TrackedAccess>) -> Scope {
    let supported = Stages::supported_by(inputs.topology.queue(request.queue).capabilities);
    let acquired = |scope: Scope, layout: Layout| match request.image {
        true if layout != pending.new_layout => scope.stages_only(),
        _ => scope,
    };
    let uses = inputs.frame.uses_of(request.pass).iter();
    let of_resource = uses.filter(|one| one.resource == request.resource);
    let overlapping = of_resource.filter(|one| one.range.overlaps(&pending.range));
    let scopes = overlapping.map(|one| acquired(scope_of(one, supported), one.access.layout()));
    scopes.fold(acquired(request.scope, request.layout), Scope::union)
}
