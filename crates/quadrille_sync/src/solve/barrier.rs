//! Phase `barrier`: the ladder from the previous use of a range to the next.
//!
//! For each use of each pass in submission order, from nothing to everything:
//!
//! 1. nothing: both read in one layout, and the last write is visible to this read already;
//! 2. an execution dependency: a write after reads on the same queue;
//! 3. a memory dependency: after a write, or for a read whose stages do not see it yet;
//! 4. a layout transition, which is a write;
//! 5. another queue: a wait, and from its stages a barrier if a layout changes;
//! 6. another family: release, wait, acquire (see [`ownership`](super::ownership)).
//!
//! Whoever writes comes after the reads since the last write; these come after that write and
//! made it available, so it needs no naming. Only if nobody has read it is the write itself the
//! source.

use std::ops::Range;

use super::after::{After, chain, order_after};
use super::early::{Early, note_first};
use super::edge;
use super::host;
use super::meet::Meetings;
use super::ownership;
use super::seen::{is_ready, is_visible, see, unready};
use super::slices::{advance_level, level_requests};
use super::split::{Draft, Split};
use super::timeline::Point;
use super::track::{Maps, Mark, State};
use super::walk::{Request, Walk};
use crate::flags::{Layout, Stages};
use crate::frame::{PassIndex, Use};
use crate::plan::{HostStep, Rung, Scope, Step};
use crate::range::intervals;
use crate::states::EndPass;
use crate::topology::FamilyIndex;

use super::record::Barrier;
use super::scope::scope_of;

/// Walks through all passes, with everything between them, and gives what the host does.
pub(super) fn barrier<'a>(walk: &mut Walk<'a>, maps: &mut Maps, split: &'a Split) -> Vec<HostStep> {
    // The pass that used a resource last, to find several uses by one pass.
    let mut last_user = vec![u32::MAX; maps.len()];
    let mut host = host::Host::new(&split.host);
    for (at, Draft { queue, passes }) in split.drafts.iter().enumerate() {
        walk.ahead = &split.drafts[at..];
        if host.run_before(walk, maps, at) {
            walk.open_windows();
        }
        let submission = walk.open(*queue);
        let steps = &mut walk.records[submission].submission.steps;
        steps.reserve(passes.len() + passes.len() / 8);
        let site = Site::new(walk, submission);
        for pass in passes {
            walk.step += 1;
            let step = walk.step;
            one_pass(walk, maps, &site, step, *pass, &mut last_user);
            walk.ran[pass.0 as usize] = Some(site.point);
            walk.put_barriers(submission, *queue, step);
            let steps = &mut walk.records[submission].submission.steps;
            steps.push(Step::Pass(*pass));
        }
        walk.records[submission].step = walk.step;
        walk.close(submission);
    }
    walk.ahead = &[];
    host.run_rest(walk, maps)
}

/// Where passes of a submission run.
pub(super) struct Site {
    pub(super) submission: usize,
    pub(super) point: Point,
    pub(super) family: FamilyIndex,
    /// What the queue has.
    pub(super) stages: Stages,
}

impl Site {
    fn new(walk: &Walk<'_>, submission: usize) -> Self {
        let point = walk.point(submission);
        let queue = walk.topology.queue(point.queue);
        Self {
            submission,
            point,
            family: queue.family,
            stages: Stages::supported_by(queue.capabilities),
        }
    }
}

/// Compares all uses of a pass with the states, and moves these on.
fn one_pass(
    walk: &mut Walk<'_>,
    maps: &mut Maps,
    site: &Site,
    step: u32,
    pass: PassIndex,
    last_user: &mut [u32],
) {
    let frame = walk.frame;
    let uses = frame.uses_of(pass);
    let mut several = false;
    for one in uses {
        let last = std::mem::replace(&mut last_user[one.resource.0 as usize], pass.0);
        several |= last == pass.0;
    }
    let meetings = several.then(|| Meetings::new(uses));
    let meetings = meetings.as_ref();
    let place = Place { site, step, pass };
    let is_of_slices = |one: &Use| frame.resource(one.resource).kind.depth() > 1;
    let has_slices = walk.has_slices && uses.iter().any(is_of_slices);
    if !walk.may_move && walk.blocks.list.is_empty() && !has_slices {
        // Nobody has to come or go before: each use can be compared at once.
        for at in 0..uses.len() {
            let request = enter(walk, maps, &place, uses, at, meetings);
            compare(walk, maps, &request);
        }
        return;
    }
    let mut requests = std::mem::take(&mut walk.requests);
    requests.clear();
    for at in 0..uses.len() {
        requests.push(enter(walk, maps, &place, uses, at, meetings));
    }
    let levels = match has_slices {
        true => level_requests(walk, maps, uses, &requests),
        false => Vec::new(),
    };
    if walk.may_move && levels.is_empty() {
        ownership::bring(walk, &requests, maps);
    } else if walk.may_move {
        let is_asked = |request: &&Request| {
            let mut levels = levels.iter();
            levels.any(|level| level.resource == request.resource)
        };
        let others = requests.iter().filter(|it| !is_asked(it));
        let all: Vec<Request> = levels.iter().chain(others).cloned().collect();
        ownership::bring(walk, &all, maps);
    }
    for request in levels.iter().chain(&requests) {
        compare(walk, maps, request);
    }
    walk.requests = requests;
}

/// A pass, and where it runs.
pub(super) struct Place<'a> {
    pub(super) site: &'a Site,
    pub(super) step: u32,
    pub(super) pass: PassIndex,
}

/// Notes one of the uses of a pass, and gives what it asks for.
fn enter(
    walk: &mut Walk<'_>,
    maps: &mut Maps,
    place: &Place<'_>,
    uses: &[Use],
    at: usize,
    meetings: Option<&Meetings>,
) -> Request {
    let Place { site, step, pass } = *place;
    let one = &uses[at];
    let mut request = request(walk, site, step, pass, one);
    if let Some(meetings) = meetings {
        request.shared = shared_scope(uses, at, meetings, site.stages);
    }
    walk.blocks.enter(walk.frame, one.resource, maps);
    edge::acquire_image(walk, &request, &mut maps[one.resource.0 as usize]);
    let Point { queue, value } = site.point;
    walk.last_uses
        .note(one.resource.0, queue, value, site.submission);
    request
}

/// Compares what a request is about with its state, run by run, and moves that on.
fn compare(walk: &mut Walk<'_>, maps: &mut Maps, request: &Request) {
    let map = &mut maps[request.resource.0 as usize];
    let kind = &walk.frame.resource(request.resource).kind;
    if request.is_for_level {
        return advance_level(walk, request, kind, map);
    }
    intervals(kind, &request.range, |interval| {
        map.update(interval, |interval, state| {
            advance(walk, request, interval, state)
        });
    });
}

/// The request that a use makes.
#[inline]
fn request(walk: &Walk<'_>, site: &Site, step: u32, pass: PassIndex, one: &Use) -> Request {
    let image = walk.frame.resource(one.resource).is_image();
    let scope = scope_of(one, site.stages);
    Request {
        resource: one.resource,
        range: one.range,
        submission: site.submission,
        queue: site.point.queue,
        family: site.family,
        value: site.point.value,
        step,
        pass,
        scope,
        shared: scope,
        layout: if image {
            one.access.layout()
        } else {
            Layout::Undefined
        },
        image,
        exclusive: walk.is_owned(one.resource),
        writes: one.access.is_write(),
        discard: one.discard,
        is_for_level: false,
    }
}

/// The scopes of all uses of the pass that meet one of them, directly or through others. They all
/// read, or the frame would have been refused.
fn shared_scope(uses: &[Use], at: usize, meetings: &Meetings, supported: Stages) -> Scope {
    let mut met = vec![at];
    let mut next = 0;
    while let Some(one) = met.get(next).map(|one| &uses[*one]) {
        next += 1;
        let others = meetings.of(at);
        let others = others.filter(|other| uses[*other].range.overlaps(&one.range));
        let new: Vec<usize> = others.filter(|other| !met.contains(other)).collect();
        met.extend(new);
    }
    let scopes = met.into_iter().map(|one| scope_of(&uses[one], supported));
    scopes.fold(Scope::default(), Scope::union)
}

/// The ladder, for one run of a range.
fn advance(walk: &mut Walk<'_>, request: &Request, interval: Range<u64>, state: &mut State) {
    let early = Early {
        pass: request.pass,
        queue: request.queue,
        family: request.family,
        step: request.step,
        scope: request.shared,
        layout: request.layout,
        writes: request.writes,
        discard: request.discard,
    };
    note_first(walk, early, state);
    let discard = request.discards(state);
    let elsewhere = request.finds_elsewhere(state);
    debug_assert!(discard || !elsewhere, "what is needed has been brought");
    // Whoever discards takes over without asking; the layout is lost with the contents.
    let takes_over = elsewhere && discard;
    let changes = request.image && (takes_over || state.layout != request.layout);
    if changes {
        let old_layout = if discard {
            Layout::Undefined
        } else {
            state.layout
        };
        change_layout(walk, request, interval, &[state], old_layout);
    } else if !takes_over && is_ready(state, request.queue, request.scope) {
        // Nothing is left to order.
    } else if request.writes || takes_over {
        order_write(walk, request, interval, state);
    } else {
        order_read(walk, request, request.scope, interval, state);
    }
    settle(request, state, changes);
}

/// Rung 4, and rung 5 for a layout transition: of a run, or of all runs of a mip level.
pub(super) fn change_layout(
    walk: &mut Walk<'_>,
    request: &Request,
    interval: Range<u64>,
    states: &[&State],
    old_layout: Layout,
) {
    let mut src = Scope::default();
    let mut earlier = None;
    let mut batch = 0;
    let is_aliased = states.iter().any(|it| !it.rare.aliased().is_empty());
    let rung = if is_aliased {
        Rung::Aliasing
    } else {
        Rung::LayoutTransition
    };
    for state in states {
        for_each_predecessor(state, |mark, memory| {
            earlier = Some(mark.pass);
            if mark.queue != request.queue {
                let stages = chain(walk, request, mark, is_aliased);
                src.stages = (src.stages | stages).simplified();
                walk.stand_behind_wait();
                return;
            }
            src = src.union(source(mark, memory));
            if mark.step == request.step {
                // Acquired just now, in another layout than predicted: the next call.
                batch = 1;
            } else {
                walk.stand_behind(mark);
            }
        });
    }
    let barrier = Barrier {
        src,
        dst: request.shared,
        old_layout,
        new_layout: request.layout,
        transfer: None,
        reason: walk.reason(request, earlier, rung),
    };
    let resource = walk.frame.resource(request.resource);
    walk.before_pass[batch].push(resource, interval, barrier);
}

/// Rungs 2, 3 and 5 for a write that changes nothing else.
pub(super) fn order_write(
    walk: &mut Walk<'_>,
    request: &Request,
    interval: Range<u64>,
    state: &mut State,
) {
    let is_aliased = !state.rare.aliased().is_empty();
    for_each_predecessor(state, |mark, memory| {
        let dst = match memory {
            true => request.scope,
            false => request.scope.stages_only(),
        };
        let after = After { memory, is_aliased };
        order_after(walk, request, dst, &interval, mark, after);
    });
    if let Some((write, reads)) = unseen_write(request, state) {
        order_after(walk, request, reads, &interval, write, After::memory(false));
    }
}

/// The last write, if others have read it and a pass that writes does not see it yet, and what that
/// pass reads. That it discards is no excuse: it reads what it has written itself, and must not find
/// older bytes instead. Who comes after the release of a write sees everything.
fn unseen_write<'a>(request: &Request, state: &'a State) -> Option<(&'a Mark, Scope)> {
    let reads = Scope {
        access: request.scope.access.reads(),
        ..request.scope
    };
    let pending = state.rare.pending();
    let only_read = pending.is_none_or(|pending| pending.mark.scope.access.is_empty());
    let is_asked = !reads.access.is_empty() && !state.reads.is_empty() && only_read;
    let write = state.write.as_ref().filter(|_| is_asked)?;
    (!is_visible(state, request.queue, reads)).then_some((write, reads))
}

/// Rungs 1, 3 and 5 for a read that changes nothing.
pub(super) fn order_read(
    walk: &mut Walk<'_>,
    request: &Request,
    dst: Scope,
    interval: Range<u64>,
    state: &State,
) {
    // A buffer may be read where nobody has written it, if it was written elsewhere.
    for mark in state.rare.aliased() {
        order_after(walk, request, dst, &interval, mark, After::memory(true));
    }
    let Some(write) = &state.write else { return };
    if !is_visible(state, request.queue, dst) {
        order_after(walk, request, dst, &interval, write, After::memory(false));
    }
}

/// The accesses that a write has to come after: the reads since the last write, or that write,
/// and a read that another stream has promised to be done with; for the first write to aliased
/// memory, what others have done to it. The flag says whether memory has to be made available.
pub(super) fn for_each_predecessor(state: &State, mut each: impl FnMut(&Mark, bool)) {
    let aliased = state.rare.aliased().iter();
    aliased.for_each(|mark| each(mark, !mark.scope.access.is_empty()));
    state
        .rare
        .promised()
        .into_iter()
        .for_each(|read| each(read, false));
    if let Some(pending) = state.rare.pending() {
        // What was only read before the release is not written since.
        each(&pending.mark, !pending.mark.scope.access.is_empty());
    } else if state.reads.is_empty() {
        state.write.iter().for_each(|write| each(write, true));
    } else {
        state.reads.iter().for_each(|read| each(read, false));
    }
}

/// The same of a run, or of all runs of a mip level.
pub(super) fn for_each_predecessor_of(states: &[&State], mut each: impl FnMut(&Mark, bool)) {
    for state in states {
        for_each_predecessor(state, &mut each);
    }
}

/// The first synchronization scope that an access makes.
pub(super) fn source(mark: &Mark, memory: bool) -> Scope {
    if memory {
        mark.scope
    } else {
        mark.scope.stages_only()
    }
}

/// The state after a request. `changed` says that a barrier has written the range just before
/// it: by a layout transition; an acquire has noted itself.
pub(super) fn settle(request: &Request, state: &mut State, changed: bool) {
    let scope = request.scope;
    state.rare.forget_pending();
    state.layout = request.layout;
    state.owner = request.exclusive.then_some(request.family);
    if request.writes || changed {
        begin_anew(state);
    }
    if request.writes {
        state.defined = true;
        let writes = Scope {
            stages: scope.stages,
            access: scope.access.writes(),
        };
        state.write = Some(request.mark(writes));
        return;
    }
    if changed {
        state.write = Some(request.mark(request.shared.stages_only()));
        see(state, request.queue, request.shared);
    } else if state.write.is_some() {
        see(state, request.queue, scope);
    }
    unready(state);
    if request.is_for_level {
        // Nobody has used any slice.
        return;
    }
    let read = request.mark(scope.stages_only());
    match state
        .reads
        .iter_mut()
        .find(|mark| mark.queue == request.queue)
    {
        Some(mark) => {
            *mark = Mark {
                scope: mark.scope.union(read.scope),
                ..read
            }
        }
        None => state.reads.push(read),
    }
}

/// Forgets what was before a write: who comes after that comes after all of it.
#[inline]
pub(super) fn begin_anew(state: &mut State) {
    state.rare.keep_pending();
    state.reads.clear();
    state.visible.clear();
}

/// The mark of a pass for states that no request describes.
pub(super) fn last_pass(states: &[&State]) -> Option<EndPass> {
    let mut last = None;
    for_each_predecessor_of(states, |mark, _| last = Some(mark.pass));
    last
}
