//! Acquires, layout transitions and releases that several submissions need: they get a submission of
//! their own, with its own signal.
//!
//! Otherwise the first pass that reads a range would acquire it or change its layout, and readers on
//! other queues would wait for that pass, which they do not depend on. So the reads of a submission
//! are inspected before it is opened. Suppose that a read needs an acquire or a transition, and a
//! later submission of another queue reads the range in the same layout without depending on this
//! one. Then the barrier is recorded in a separate submission before it. The same holds for a release
//! after reads on several queues: in the submission of the last reader, it would delay that reader
//! until the others are done.
//!
//! Frames with one queue need none of this. Images with depth slices are left out.

use std::cell::OnceCell;

use super::passes::{Site, compare, request, shared_scope};
use crate::flags::Layout;
use crate::frame::{PassIndex, Use};
use crate::range::{SubRange, intervals};
use crate::resource::{Lifetime, Resource};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::request::Request;
use crate::solve::graph::Graph;
use crate::solve::graph::hazard::Hazard;
use crate::solve::graph::overlap::Overlaps;
use crate::solve::queues::ownership;
use crate::solve::schedule::split::Draft;
use crate::solve::state::{Maps, Ranges};

/// The most changed ranges of a resource to search; with more, the barrier stays with its pass.
const FEW: usize = 16;

/// Dependencies between passes by hazards, as a graph that is built on first use.
pub(crate) struct Needs<'a> {
    hazards: &'a [Hazard],
    passes: usize,
    graph: OnceCell<Graph>,
}

impl<'a> Needs<'a> {
    pub(crate) fn new(hazards: &'a [Hazard], passes: usize) -> Self {
        Self {
            hazards,
            passes,
            graph: OnceCell::new(),
        }
    }

    /// Whether any pass of a submission depends on one of an earlier submission.
    fn depends(&self, later: &Draft, earlier: &Draft) -> bool {
        let hazards = self.hazards.iter().copied();
        let graph = self.graph.get_or_init(|| Graph::of(self.passes, hazards));
        let mut is_reached = vec![false; self.passes];
        let mut open: Vec<u32> = earlier.passes.iter().map(|pass| pass.0).collect();
        while let Some(pass) = open.pop() {
            for next in graph.after(pass) {
                if !std::mem::replace(&mut is_reached[*next as usize], true) {
                    open.push(*next);
                }
            }
        }
        later.passes.iter().any(|pass| is_reached[pass.0 as usize])
    }
}

/// Uses of resources by later submissions.
pub(super) struct Ahead<'a> {
    needs: &'a Needs<'a>,
    drafts: &'a [Draft],
    queues: usize,
    /// By resource and queue: one more than the last submission that uses it; 0 if none does.
    last: Vec<u32>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(builder: &Builder<'_>, drafts: &'a [Draft], needs: &'a Needs<'a>) -> Self {
        let queues = builder.inputs.topology.queues.len();
        let mut last = Vec::new();
        if queues > 1 {
            last.resize(builder.inputs.frame.resources.len() * queues, 0);
            for (draft, at) in drafts.iter().zip(1..) {
                for pass in &draft.passes {
                    for one in builder.inputs.frame.uses_of(*pass) {
                        last[one.resource.0 as usize * queues + usize::from(draft.queue.0)] = at;
                    }
                }
            }
        }
        Self {
            needs,
            drafts,
            queues,
            last,
        }
    }

    /// Whether a later submission on another queue uses the resource.
    fn is_used_elsewhere(&self, at: usize, one: &Use) -> bool {
        let row = one.resource.0 as usize * self.queues;
        let own = usize::from(self.drafts[at].queue.0);
        let mut queues = (0..self.queues).filter(|queue| *queue != own);
        queues.any(|queue| self.last[row + queue] as usize > at + 1)
    }

    /// Whether a later submission that does not depend on this one reads the same range in the same layout
    /// on the same family. `range` is the range that the read acquires.
    fn is_shared(&self, builder: &Builder<'_>, at: usize, one: &Use, range: &SubRange) -> bool {
        let own = &self.drafts[at];
        let frame = builder.inputs.frame;
        let resource = frame.resource(one.resource);
        let layout = |it: &Use| {
            if resource.is_image() {
                it.access.layout()
            } else {
                Layout::Undefined
            }
        };
        let family = |draft: &Draft| builder.inputs.topology.family(draft.queue);
        let is_owned = builder.inputs.is_owned(one.resource);
        let overlaps = |a: &SubRange, b: &SubRange| a.levels().overlaps(&b.levels());
        // Ranges that a pass in between changes.
        let mut changed: Vec<&SubRange> = Vec::new();
        for later in &self.drafts[at + 1..] {
            let moves = is_owned && family(later) != family(own);
            let uses = later.passes.iter().flat_map(|pass| frame.uses_of(*pass));
            let is_near = |it: &Use| overlaps(&one.range, &it.range) || overlaps(range, &it.range);
            let uses = uses.filter(|it| it.resource == one.resource && is_near(it));
            for it in uses {
                if changed
                    .iter()
                    .any(|changed| changed.covers(&it.range, &resource.kind))
                {
                    continue;
                }
                let is_alike = !it.access.is_write() && layout(it) == layout(one);
                let is_needed = !moves && (is_alike || !overlaps(&one.range, &it.range));
                if is_needed && later.queue != own.queue && !self.needs.depends(later, own) {
                    return true;
                }
                if moves || !is_alike {
                    changed.push(&it.range);
                }
            }
            if changed.len() > FEW {
                return false;
            }
        }
        false
    }
}

/// Plans separate submissions before a submission of passes that is not open yet.
pub(super) fn signal_apart(
    builder: &mut Builder<'_>,
    calls: &mut Calls,
    ranges: &mut Ranges,
    ahead: &Ahead<'_>,
    at: usize,
) {
    if ahead.queues < 2 {
        return;
    }
    release_apart(builder, &ranges.maps, ahead, at);
    let draft = &ahead.drafts[at];
    let mut site: Option<Site> = None;
    for (position, pass) in draft.passes.iter().enumerate() {
        let reads = shared_reads(builder, &ranges.maps, ahead, at, position);
        if reads.is_empty() {
            continue;
        }
        let site = site.get_or_insert_with(|| {
            let submission = builder.open(draft.queue);
            Site::new(builder, submission)
        });
        plan_reads(builder, calls, ranges, site, *pass, &reads);
    }
    if let Some(site) = site {
        builder.records[site.submission].step = builder.step;
        builder.close(site.submission);
    }
}

/// The reads of a pass whose acquire or layout transition other submissions need as well. `position` is
/// the index of the pass in its submission.
fn shared_reads(
    builder: &Builder<'_>,
    maps: &Maps,
    ahead: &Ahead<'_>,
    at: usize,
    position: usize,
) -> Vec<usize> {
    let frame = builder.inputs.frame;
    let draft = &ahead.drafts[at];
    let family = builder.inputs.topology.family(draft.queue);
    let mut reads = Vec::new();
    for (index, one) in frame.uses_of(draft.passes[position]).iter().enumerate() {
        let resource = frame.resource(one.resource);
        let is_read = !one.access.is_write() && !one.discard;
        if !is_read || !ahead.is_used_elsewhere(at, one) || !is_plain(resource) {
            continue;
        }
        let is_owned = builder.inputs.is_owned(one.resource);
        let mut range = one.range;
        let (mut needs, mut is_outside) = (false, false);
        intervals(&resource.kind, &one.range, |interval| {
            for (_, state) in maps[one.resource.0 as usize].iter_within(interval) {
                let pending = state.rare.pending();
                is_outside |= state.owner.is_some_and(|owner| owner.is_outside());
                is_outside |= pending.is_some_and(|pending| pending.from.is_outside());
                let moves = is_owned && state.owner.is_some_and(|owner| owner != family);
                needs |= pending.is_some() || moves;
                needs |= resource.is_image() && state.layout != one.access.layout();
                // A range that one barrier released has to be acquired by one barrier.
                if let Some(pending) = pending {
                    range = if range == one.range || range == pending.range {
                        pending.range
                    } else {
                        SubRange::Whole
                    };
                }
            }
        });
        // Earlier passes of the submission are not planned yet, so the states they leave are known
        // only if they read in the same layout.
        let earlier = draft.passes[..position].iter();
        let mut earlier = earlier.flat_map(|it| frame.uses_of(*it));
        let mut is_changed = || {
            earlier.any(|it| {
                let has_layout = !resource.is_image() || it.access.layout() == one.access.layout();
                let is_alike = !it.access.is_write() && has_layout;
                let overlaps = || range.levels().overlaps(&it.range.levels());
                it.resource == one.resource && !is_alike && overlaps()
            })
        };
        if needs && !is_outside && !is_changed() && ahead.is_shared(builder, at, one, &range) {
            reads.push(index);
        }
    }
    reads
}

/// Whether a resource is neither an image of a swapchain nor one with slices.
fn is_plain(resource: &Resource) -> bool {
    resource.lifetime != Lifetime::Swapchain && resource.kind.depth() == 1
}

/// Plans the barriers that reads of a pass need, in a submission before that of the pass.
fn plan_reads(
    builder: &mut Builder<'_>,
    calls: &mut Calls,
    Ranges { maps, blocks }: &mut Ranges,
    site: &Site,
    pass: PassIndex,
    reads: &[usize],
) {
    builder.step += 1;
    let step = builder.step;
    let point = site.point;
    let uses = builder.inputs.frame.uses_of(pass);
    let overlaps = Overlaps::new(uses);
    let mut requests: Vec<Request> = Vec::with_capacity(reads.len());
    for at in reads.iter().copied() {
        let resource = uses[at].resource;
        blocks.enter(builder.inputs.frame, resource, maps);
        builder.note_use(resource, site.submission);
        let mut request = request(builder, site, pass, &uses[at]);
        request.shared = shared_scope(uses, at, &overlaps, site.stages);
        requests.push(request);
    }
    if builder.inputs.may_move {
        ownership::acquire_needed(builder, calls, &requests, maps);
    }
    for request in &requests {
        compare(&mut builder.waits, calls, maps, request);
    }
    calls.put(builder, (site.submission, point.queue), step);
}

/// Opens submissions for releases after reads on several queues that a submission makes necessary.
fn release_apart(builder: &mut Builder<'_>, maps: &Maps, ahead: &Ahead<'_>, at: usize) {
    if !builder.inputs.has_families {
        return;
    }
    let draft = &ahead.drafts[at];
    let family = builder.inputs.topology.family(draft.queue);
    let frame = builder.inputs.frame;
    for one in draft.passes.iter().flat_map(|pass| frame.uses_of(*pass)) {
        if !builder.inputs.is_owned(one.resource) || one.discard {
            continue;
        }
        let kind = &frame.resource(one.resource).kind;
        let mut queue = None;
        intervals(kind, &one.range.levels(), |interval| {
            for (_, state) in maps[one.resource.0 as usize].iter_within(interval) {
                let moves = state.owner.is_some_and(|owner| owner != family);
                if moves && state.rare.pending().is_none() {
                    queue = queue.or_else(|| ownership::own_release_queue(builder, &[state]));
                }
            }
        });
        if let Some(queue) = queue {
            builder.open_release(queue);
        }
    }
}
