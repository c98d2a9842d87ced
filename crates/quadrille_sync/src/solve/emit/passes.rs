//! The walk through the passes of a frame in submission order. Each use is compared with the state
//! of its range, which gives the dependencies of the pass, and then updates that state.

use super::own_signal::{Ahead, Needs, signal_apart};
use crate::flags::{Layout, Stages};
use crate::frame::{PassIndex, Use};
use crate::plan::{HostStep, Scope, Step};
use crate::range::intervals;
use crate::solve::barriers::advance;
use crate::solve::barriers::scope::scope_of;
use crate::solve::barriers::slices::{advance_level, level_requests};
use crate::solve::barriers::walk::{Request, Walk};
use crate::solve::graph::overlap::Overlaps;
use crate::solve::queues::host;
use crate::solve::queues::ownership;
use crate::solve::queues::swapchain;
use crate::solve::schedule::split::{Draft, Split};
use crate::solve::state::Maps;
use crate::solve::state::clocks::Point;
use crate::topology::FamilyIndex;

/// Walks through all passes and plans everything between them. Returns the steps of the host.
pub(in crate::solve) fn passes<'a>(
    walk: &mut Walk<'a>,
    maps: &mut Maps,
    split: &'a Split,
    needs: &Needs<'_>,
) -> Vec<HostStep> {
    // The pass that used a resource last, to find several uses by one pass.
    let mut last_user = vec![u32::MAX; maps.len()];
    let mut host = host::Host::new(&split.host);
    let ahead = Ahead::new(walk, &split.drafts, needs);
    for (at, Draft { queue, passes }) in split.drafts.iter().enumerate() {
        walk.ahead = &split.drafts[at..];
        if host.run_before(walk, maps, at) {
            walk.open_windows();
        }
        signal_apart(walk, maps, &ahead, at);
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
    family: FamilyIndex,
    /// The stages that the queue has.
    pub(super) stages: Stages,
}

impl Site {
    pub(super) fn new(walk: &Walk<'_>, submission: usize) -> Self {
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
    let mut requests = std::mem::take(&mut walk.requests);
    requests.clear();
    let mut several = false;
    for one in uses {
        let last = std::mem::replace(&mut last_user[one.resource.0 as usize], pass.0);
        several |= last == pass.0;
        let map_of = one.resource.0 as usize;
        let request = request(walk, site, step, pass, one);
        walk.blocks.enter(frame, one.resource, maps);
        swapchain::acquire_image(walk, &request, &mut maps[map_of]);
        let Point { queue, value } = site.point;
        walk.last_uses
            .note(one.resource.0, queue, value, site.submission);
        requests.push(request);
    }
    if several {
        let overlaps = Overlaps::new(uses);
        for (at, request) in requests.iter_mut().enumerate() {
            request.shared = shared_scope(uses, at, &overlaps, site.stages);
        }
    }
    let levels = if walk.has_slices {
        level_requests(walk, maps, uses, &requests)
    } else {
        Vec::new()
    };
    if walk.may_move && levels.is_empty() {
        ownership::acquire_needed(walk, &requests, maps);
    } else if walk.may_move {
        let is_asked = |request: &&Request| {
            let mut levels = levels.iter();
            levels.any(|level| level.resource == request.resource)
        };
        let others = requests.iter().filter(|it| !is_asked(it));
        let all: Vec<Request> = levels.iter().chain(others).cloned().collect();
        ownership::acquire_needed(walk, &all, maps);
    }
    for request in levels.iter().chain(&requests) {
        compare(walk, maps, request);
    }
    walk.requests = requests;
}

/// Compares the range of a request with its states, run by run, and updates these.
pub(super) fn compare(walk: &mut Walk<'_>, maps: &mut Maps, request: &Request) {
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
pub(super) fn request(
    walk: &Walk<'_>,
    site: &Site,
    step: u32,
    pass: PassIndex,
    one: &Use,
) -> Request {
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

/// The scopes of all uses of the pass that overlap one of them, directly or through others. They
/// all read, or the frame would have been refused.
pub(super) fn shared_scope(
    uses: &[Use],
    at: usize,
    overlaps: &Overlaps,
    supported: Stages,
) -> Scope {
    let mut met = vec![at];
    let mut next = 0;
    while let Some(one) = met.get(next).map(|one| &uses[*one]) {
        next += 1;
        let others = overlaps.of(at);
        let others = others.filter(|other| uses[*other].range.overlaps(&one.range));
        let new: Vec<usize> = others.filter(|other| !met.contains(other)).collect();
        met.extend(new);
    }
    let scopes = met.into_iter().map(|one| scope_of(&uses[one], supported));
    scopes.fold(Scope::default(), Scope::union)
}
