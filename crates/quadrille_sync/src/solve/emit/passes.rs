//! The walk through the passes of a frame in submission order. Each use is compared with the state
//! of its range, which gives the dependencies of the pass, and then updates that state.

use super::own_signal::{Ahead, Needs, signal_apart};
use crate::flags::{Layout, Stages};
use crate::frame::{PassIndex, Use};
use crate::plan::{HostStep, Scope, Step};
use crate::range::intervals;
use crate::solve::barriers::advance;
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::request::Request;
use crate::solve::barriers::scope::scope_of;
use crate::solve::barriers::slices::{advance_level, level_requests};
use crate::solve::barriers::waits::Waits;
use crate::solve::graph::overlap::Overlaps;
use crate::solve::queues::host;
use crate::solve::queues::ownership;
use crate::solve::queues::swapchain;
use crate::solve::schedule::split::{Draft, Split};
use crate::solve::state::clocks::Point;
use crate::solve::state::{Maps, Ranges};
use crate::topology::FamilyIndex;

/// Walks through all passes and plans the synchronization between them. Returns the host steps.
pub(crate) fn passes<'a>(
    builder: &mut Builder<'a>,
    calls: &mut Calls,
    ranges: &mut Ranges,
    split: &'a Split,
    needs: &Needs<'_>,
) -> Vec<HostStep> {
    let mut scratch = Scratch {
        last_user: vec![u32::MAX; ranges.maps.len()],
        requests: Vec::new(),
    };
    let mut host = host::Host::new(&split.host, builder.inputs.frame.passes.len());
    let ahead = Ahead::new(builder, &split.drafts, needs);
    for (at, Draft { queue, passes }) in split.drafts.iter().enumerate() {
        builder.ahead = &split.drafts[at..];
        if host.run_before(builder, &mut ranges.maps, at) {
            builder.open_windows();
        }
        signal_apart(builder, calls, ranges, &ahead, at);
        let submission = builder.open(*queue);
        let steps = &mut builder.records[submission].submission.steps;
        steps.reserve(passes.len() + passes.len() / 8);
        let site = Site::new(builder, submission);
        for pass in passes {
            builder.step += 1;
            let step = builder.step;
            one_pass(builder, calls, ranges, &site, *pass, &mut scratch);
            host.note(*pass, site.point);
            calls.put(builder, (submission, *queue), step);
            let steps = &mut builder.records[submission].submission.steps;
            steps.push(Step::Pass(*pass));
        }
        builder.records[submission].step = builder.step;
        builder.close(submission);
    }
    builder.ahead = &[];
    host.run_rest(builder, &mut ranges.maps)
}

/// Allocations that are reused from pass to pass.
struct Scratch {
    /// By resource: the last pass that used it, to detect several uses by one pass.
    last_user: Vec<u32>,
    /// The uses of the current pass.
    requests: Vec<Request>,
}

/// The submission of a pass, and properties of its queue.
pub(super) struct Site {
    pub(super) submission: usize,
    pub(super) point: Point,
    family: FamilyIndex,
    /// The pipeline stages that the queue supports.
    pub(super) stages: Stages,
}

impl Site {
    pub(super) fn new(builder: &Builder<'_>, submission: usize) -> Self {
        let point = builder.point(submission);
        let queue = builder.inputs.topology.queue(point.queue);
        Self {
            submission,
            point,
            family: queue.family,
            stages: Stages::supported_by(queue.capabilities),
        }
    }
}

/// Compares all uses of a pass with the states, plans the dependencies and updates the states.
fn one_pass(
    builder: &mut Builder<'_>,
    calls: &mut Calls,
    Ranges { maps, blocks }: &mut Ranges,
    site: &Site,
    pass: PassIndex,
    Scratch {
        last_user,
        requests,
    }: &mut Scratch,
) {
    let frame = builder.inputs.frame;
    let uses = frame.uses_of(pass);
    requests.clear();
    let mut several = false;
    for one in uses {
        let last = std::mem::replace(&mut last_user[one.resource.0 as usize], pass.0);
        several |= last == pass.0;
        let map_of = one.resource.0 as usize;
        let request = request(builder, site, pass, one);
        blocks.enter(frame, one.resource, maps);
        swapchain::acquire_image(builder, &request, &mut maps[map_of]);
        builder.note_use(one.resource, site.submission);
        requests.push(request);
    }
    if several {
        let overlaps = Overlaps::new(uses);
        for (at, request) in requests.iter_mut().enumerate() {
            request.shared = shared_scope(uses, at, &overlaps, site.stages);
        }
    }
    let levels = if builder.inputs.has_slices {
        level_requests(builder.inputs, maps, uses, requests)
    } else {
        Vec::new()
    };
    if builder.inputs.may_move && levels.is_empty() {
        ownership::acquire_needed(builder, calls, requests, maps);
    } else if builder.inputs.may_move {
        let is_asked = |request: &&Request| {
            let mut levels = levels.iter();
            levels.any(|level| level.resource == request.resource)
        };
        let others = requests.iter().filter(|it| !is_asked(it));
        let all: Vec<Request> = levels.iter().chain(others).cloned().collect();
        ownership::acquire_needed(builder, calls, &all, maps);
    }
    for request in levels.iter().chain(&*requests) {
        compare(&mut builder.waits, calls, maps, request);
    }
}

/// Compares the range of a request with its states, run by run, and updates these.
pub(super) fn compare(
    waits: &mut Waits<'_>,
    calls: &mut Calls,
    maps: &mut Maps,
    request: &Request,
) {
    let map = &mut maps[request.resource.0 as usize];
    let kind = &waits.inputs.frame.resource(request.resource).kind;
    if request.is_for_level {
        return advance_level(waits, calls, request, kind, map);
    }
    intervals(kind, &request.range, |interval| {
        map.update(interval, |interval, state| {
            advance(waits, calls, request, interval, state)
        });
    });
}

/// The request that a use makes.
#[inline]
pub(super) fn request(builder: &Builder<'_>, site: &Site, pass: PassIndex, one: &Use) -> Request {
    let image = builder.inputs.frame.resource(one.resource).is_image();
    let scope = scope_of(one, site.stages);
    Request {
        resource: one.resource,
        range: one.range,
        submission: site.submission,
        queue: site.point.queue,
        family: site.family,
        value: site.point.value,
        step: builder.step,
        pass,
        next: None,
        scope,
        shared: scope,
        layout: if image {
            one.access.layout()
        } else {
            Layout::Undefined
        },
        image,
        exclusive: builder.inputs.is_owned(one.resource),
        writes: one.access.is_write(),
        discard: one.discard,
        is_for_level: false,
    }
}

/// The union of the scopes of all uses of a pass that overlap one use, directly or through others.
/// All of them read, since `check` refuses overlapping uses that write.
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
