//! Layout and ownership of mip levels of 3D images whose depth slices are used separately.
//!
//! Writes of different slices are no hazard. But layout and owner belong to a whole mip level. A
//! layout transition or ownership transfer therefore depends on all earlier uses of any slice of
//! the level, and all later uses of any slice depend on it. So before a pass uses slices, it makes a
//! read request for their whole levels. That request acquires the levels and moves them to the
//! layout that the pass needs; it does nothing if owner and layout are right already. The requests
//! for the slices follow.
//!
//! The same request is made for levels whose slices earlier passes have used differently: one
//! barrier covers a level, whatever the states of its slices.

use std::ops::Range;

use crate::flags::{Layout, Stages};
use crate::frame::Use;
use crate::plan::Scope;
use crate::range::{RangeMap, SubRange, boxes, for_each_union, intervals, level_at};
use crate::resource::ResourceKind;
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::inputs::Inputs;
use crate::solve::barriers::request::Request;
use crate::solve::barriers::scope::scope_of;
use crate::solve::barriers::waits::Waits;
use crate::solve::barriers::{change_layout, update_state};
use crate::solve::state::{Maps, State};

/// The requests for whole mip levels that precede the requests of a pass; mostly none.
pub(crate) fn level_requests(
    inputs: Inputs<'_>,
    maps: &Maps,
    uses: &[Use],
    requests: &[Request],
) -> Vec<Request> {
    let mut levels: Vec<Request> = Vec::new();
    let frame = inputs.frame;
    let kind = |request: &Request| &frame.resource(request.resource).kind;
    let is_cut = |request: &Request| {
        let map = &maps[request.resource.0 as usize];
        kind(request).depth() > 1 && is_cut(kind(request), map, &request.range)
    };
    for (at, request) in requests.iter().enumerate() {
        let of_image = |other: &&Request| other.resource == request.resource;
        let is_first = !requests[..at].iter().any(|it| of_image(&it));
        if is_first && requests[at..].iter().filter(of_image).any(is_cut) {
            for one in requests[at..].iter().filter(of_image) {
                add_levels(inputs, maps, uses, one, kind(one), &mut levels);
            }
        }
    }
    levels
}

/// Whether a range covers only a part of a level, or includes a level whose slices differ in state.
fn is_cut(kind: &ResourceKind, map: &RangeMap<State>, range: &SubRange) -> bool {
    let mut is_cut = false;
    intervals(kind, range, |interval| {
        let is_part = |at: u64| level_at(kind, at).start != at && at < kind.length();
        is_cut |= is_part(interval.start) || is_part(interval.end);
        let mut runs = map.iter_within(interval.clone());
        is_cut |= runs.any(|(run, _)| run.start > interval.start && is_part(run.start));
    });
    is_cut
}

/// Whether the mip level of a position has the owner and the layout that a request needs. All slices
/// of a level share both, so one position is enough.
fn is_here(request: &Request, map: &RangeMap<State>, position: u64) -> bool {
    let mut runs = map.iter_within(position..position + 1);
    let owner = request.exclusive.then_some(request.family);
    runs.all(|(_, state)| {
        let is_there = !request.finds_elsewhere(state) && state.owner == owner;
        is_there && state.layout == request.layout
    })
}

/// Adds a request for each level of a use whose owner or layout is not what the use needs, unless
/// there is one already.
fn add_levels(
    inputs: Inputs<'_>,
    maps: &Maps,
    uses: &[Use],
    request: &Request,
    kind: &ResourceKind,
    levels: &mut Vec<Request>,
) {
    let map = &maps[request.resource.0 as usize];
    intervals(kind, &request.range.levels(), |interval| {
        let mut at = interval.start;
        while at < interval.end.min(kind.length()) {
            let level = level_at(kind, at);
            at = level.end;
            if is_here(request, map, level.start) {
                continue;
            }
            let mut parts = Vec::new();
            boxes(kind, level.clone(), &mut parts);
            let [part] = parts.as_slice() else {
                unreachable!("one level is one range");
            };
            let range = SubRange::Subresources(*part);
            let is_same = |it: &Request| it.resource == request.resource && it.range == range;
            if levels.iter().any(is_same) {
                continue;
            }
            let scope = scope_in(inputs, uses, request, &range);
            levels.push(Request {
                range,
                scope,
                shared: scope,
                writes: false,
                discard: is_dead(uses, request, kind, &level, map),
                is_for_level: true,
                ..request.clone()
            });
        }
    });
}

/// Returns the scope in which a pass accesses any slice of a level.
fn scope_in(inputs: Inputs<'_>, uses: &[Use], request: &Request, level: &SubRange) -> Scope {
    let supported = Stages::supported_by(inputs.topology.queue(request.queue).capabilities);
    let of_level = uses.iter().filter(|one| one.resource == request.resource);
    let of_level = of_level.filter(|one| one.range.overlaps(level));
    let scopes = of_level.map(|one| scope_of(one, supported));
    scopes.fold(Scope::default(), Scope::union)
}

/// Whether the contents of a level can be discarded: each slice is undefined, or the pass discards it.
fn is_dead(
    uses: &[Use],
    request: &Request,
    kind: &ResourceKind,
    level: &Range<u64>,
    map: &RangeMap<State>,
) -> bool {
    let mut discarded = Vec::new();
    let discards = |one: &&Use| one.resource == request.resource && one.discard;
    for one in uses.iter().filter(discards) {
        intervals(kind, &one.range, |interval| discarded.push(interval));
    }
    let mut lost = Vec::new();
    for_each_union(&mut discarded, |interval| lost.push(interval));
    let mut runs = map.iter_within(level.clone());
    runs.all(|(run, state)| {
        let (start, end) = (run.start.max(level.start), run.end.min(level.end));
        let mut lost = lost.iter();
        !state.defined || lost.any(|lost| lost.start <= start && end <= lost.end)
    })
}

/// Applies the ladder to a whole mip level: rung 4 after all accesses to any slice, if its layout
/// changes.
pub(crate) fn advance_level(
    waits: &mut Waits<'_>,
    calls: &mut Calls,
    request: &Request,
    kind: &ResourceKind,
    map: &mut RangeMap<State>,
) {
    intervals(kind, &request.range, |level| {
        let mut changes = false;
        for_each_whole(kind, map, level.clone(), |level, states| {
            let [state, ..] = states else { return };
            let takes_over = request.finds_elsewhere(state) && request.discard;
            if takes_over || state.layout != request.layout {
                let old_layout = if request.discard {
                    Layout::Undefined
                } else {
                    state.layout
                };
                change_layout(waits, calls, request, level, states, old_layout);
                changes = true;
            }
        });
        map.update(level, |_, state| match changes {
            true => update_state(request, state, true),
            // Owner and layout are right: the requests of the slices order their accesses.
            false => state.owner = request.exclusive.then_some(request.family),
        });
    });
}

/// Calls `each` for an interval of whole levels: once per run of whole levels, and once per level that
/// has several runs, with the states of all of them.
pub(crate) fn for_each_whole<'a>(
    kind: &ResourceKind,
    map: &'a RangeMap<State>,
    within: Range<u64>,
    mut each: impl FnMut(Range<u64>, &[&'a State]),
) {
    let clip = |run: Range<u64>| run.start.max(within.start)..run.end.min(within.end);
    if kind.depth() == 1 {
        for (run, state) in map.iter_within(within.clone()) {
            each(clip(run), &[state]);
        }
        return;
    }
    let mut at = within.start;
    while at < within.end {
        let mut runs = map.iter_within(at..within.end);
        let Some((run, state)) = runs.next() else {
            return;
        };
        let level = level_at(kind, at);
        let end = run.end.min(within.end);
        if end >= level.end {
            let whole_to = match level_at(kind, end - 1) {
                last if last.end == end => end,
                last => last.start,
            };
            each(at..whole_to, &[state]);
            at = whole_to;
            continue;
        }
        let states: Vec<&State> = (map.iter_within(level.clone()))
            .map(|(_, state)| state)
            .collect();
        at = level.end;
        each(level, &states);
    }
}
