//! Passes that run on the host.
//!
//! A host pass waits for timeline values like a queue. A device write that it reads has to be made
//! visible to the host by the queue that wrote, after the write: at the end of the submission with
//! the write, or in the queue's window if the write was in an earlier frame. The same holds for
//! memory that the host overwrites; otherwise a later write-back of a device cache could replace the
//! host's bytes. Host writes need no barrier: submission makes them visible to the device (section
//! "Host Write Ordering Guarantees").

use std::ops::Range;

use crate::flags::{AccessMask, Layout, Stages};
use crate::frame::{PassIndex, Use};
use crate::plan::{DependencyKind, HostStep, PassRef, Reason, RelativePoint, Scope};
use crate::range::{RangeMap, SubRange, intervals};
use crate::resource::{ResourceIndex, ResourceKind};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::record::Barrier;
use crate::solve::barriers::slices::for_each_whole;
use crate::solve::barriers::waits::Waits;
use crate::solve::queues::ownership;
use crate::solve::schedule::split::HostDraft;
use crate::solve::state::clocks::{Point, Timeline};
use crate::solve::state::numbers::Numbers;
use crate::solve::state::predecessors::for_each_predecessor;
use crate::solve::state::{Hosted, Maps, State, TrackedAccess};
use crate::states::{EndPass, HostVisibility, HostWait, RareParts};

/// The host's stage, without accesses.
const HOST: Scope = Scope {
    stages: Stages::HOST,
    access: AccessMask::empty(),
};

/// The host passes of a frame, and the steps planned so far.
pub(crate) struct Host<'a> {
    /// The host passes that are not planned yet, in order.
    left: &'a [HostDraft],
    steps: Vec<HostStep>,
    /// By pass: the timeline point of its submission, once it is planned.
    ran: Vec<Option<Point>>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(passes: &'a [HostDraft], count: usize) -> Self {
        Self {
            left: passes,
            steps: Vec::new(),
            ran: vec![None; count],
        }
    }

    /// Notes the timeline point of a device pass.
    pub(crate) fn note(&mut self, pass: PassIndex, point: Point) {
        self.ran[pass.0 as usize] = Some(point);
    }

    /// Plans the host passes that run right before a submission. Returns whether there are any.
    pub(crate) fn run_before(
        &mut self,
        builder: &mut Builder<'_>,
        maps: &mut Maps,
        draft: usize,
    ) -> bool {
        let gates = self.left.iter();
        let count = gates
            .take_while(|host| host.before.is_some_and(|before| before <= draft))
            .count();
        let (now, left) = self.left.split_at(count);
        self.left = left;
        // `number` gives the final index at the end.
        let before = Some(builder.records.len() as u32);
        for host in now {
            let step = one_pass(builder, maps, &self.ran, host.pass, before);
            self.steps.push(step);
        }
        count > 0
    }

    /// Plans the host passes that no device pass depends on. A resource that they use may be given to
    /// another stream; its release is submitted after they have run.
    pub(crate) fn run_rest(mut self, builder: &mut Builder<'_>, maps: &mut Maps) -> Vec<HostStep> {
        let uses = |host: &HostDraft| builder.inputs.frame.uses_of(host.pass);
        let mut uses = self.left.iter().flat_map(uses);
        let leaves = uses.any(|one| builder.inputs.is_given(one.resource));
        let before = leaves.then_some(builder.records.len() as u32);
        for host in self.left {
            self.steps
                .push(one_pass(builder, maps, &self.ran, host.pass, before));
        }
        if leaves {
            builder.open_windows();
        }
        self.steps
    }
}

/// Plans one host pass.
fn one_pass(
    builder: &mut Builder<'_>,
    maps: &mut Maps,
    ran: &[Option<Point>],
    pass: PassIndex,
    before: Option<u32>,
) -> HostStep {
    let frame = builder.inputs.frame;
    let mut step = HostStep {
        pass,
        waits: Vec::new(),
        before,
    };
    // Waits for all device passes that are declared to precede it, even without a hazard: a host
    // callback relies on their completion.
    for earlier in frame.after_of(pass) {
        if let Some(point) = ran[earlier.0 as usize] {
            wait_for(&mut step, point);
        }
    }
    for one in frame.uses_of(pass) {
        let kind = &frame.resource(one.resource).kind;
        let map = &mut maps[one.resource.0 as usize];
        builder.hosted[one.resource.0 as usize] = Some(Hosted {
            pass,
            submissions: builder.records.len(),
        });
        if frame.resource(one.resource).is_image() {
            prepare_levels(builder, &mut step, one, kind, map);
        }
        intervals(kind, &one.range, |interval| {
            map.update(interval, |interval, state| {
                advance(builder, &mut step, one, interval, state);
            });
        });
    }
    step
}

/// Completes pending acquires of the ranges of an image that a host pass uses. Also moves mip
/// levels that have slices to the layout that the pass needs, since a slice has no layout of its
/// own.
fn prepare_levels(
    builder: &mut Builder<'_>,
    step: &mut HostStep,
    one: &Use,
    kind: &ResourceKind,
    map: &mut RangeMap<State>,
) {
    let layout = one.access.layout();
    intervals(kind, &one.range.levels(), |interval| {
        if interval.is_empty() {
            return;
        }
        ownership::complete_for_host(builder, (one.resource, step.pass), layout, &interval, map);
        if kind.depth() == 1 {
            return;
        }
        let mut changed = Vec::new();
        for_each_whole(kind, map, interval, |run, states| {
            if states.iter().any(|state| state.layout != layout) {
                let view = change_layout(builder, step, one, run.clone(), states);
                changed.push((run, view));
            }
        });
        for (run, mut view) in changed {
            // The pass waits only for the slices that it uses; those waits are added for each
            // slice.
            view.wait = HostWait::None;
            map.update(run, |_, state| {
                layout_changed(builder, one, view.clone(), state);
            });
        }
    });
}

/// Drops waits that other waits imply, and assigns final values to the rest.
pub(crate) fn number(steps: &mut [HostStep], timeline: &Timeline, numbers: &Numbers) {
    for HostStep { waits, before, .. } in steps {
        *before = before.map(|before| numbers.index(before));
        *before = before.filter(|before| *before < numbers.count);
        let all = waits.clone();
        let is_implied = |point: Point| all.iter().any(|it| timeline.implies((*it).into(), point));
        waits.retain(|wait| !is_implied((*wait).into()));
        for wait in waits {
            wait.offset = numbers.value(wait.queue, wait.offset);
        }
    }
}

/// Plans one use of one run of a range.
fn advance(
    builder: &mut Builder<'_>,
    step: &mut HostStep,
    one: &Use,
    interval: Range<u64>,
    state: &mut State,
) {
    let writes = one.access.is_write();
    // After a release, only another host pass can have written, and it has already waited for the
    // release.
    let is_free = state.rare.pending().is_some() && state.write.is_none() && state.reads.is_empty();
    if writes && !is_free {
        for_each_predecessor(state, |tracked, _| {
            if !is_over(&mut builder.waits, state, tracked) {
                wait(&mut builder.waits, step, tracked);
            }
        });
    }
    let image = builder.inputs.frame.resource(one.resource).is_image();
    let layout_fits = !image || state.layout == one.access.layout();
    match (&state.write, state.rare.host_mut()) {
        (None, _) if layout_fits => {}
        // Once the host can see a write, it can also overwrite it.
        (Some(_), Some(host)) if layout_fits => {
            if host.wait != HostWait::Before {
                host.wait = HostWait::Now;
                wait(&mut builder.waits, step, &host.tracked);
            }
        }
        _ if layout_fits => make_visible(builder, step, one, state),
        _ => {
            let view = change_layout(builder, step, one, interval, &[state]);
            layout_changed(builder, one, view, state);
        }
    }
    if writes {
        state.rare.keep_pending();
        *state = State {
            layout: state.layout,
            owner: state.owner,
            defined: true,
            rare: std::mem::replace(&mut state.rare, RareParts::NOTHING),
            first: state.first.take(),
            previous_first: state.previous_first.take(),
            ..State::fresh()
        };
    }
}

/// Whether an access is known to have completed, because a host pass of an earlier frame has waited for
/// it. That pass waited for the submission that made the last write visible to the host. So the write
/// and every earlier submission of that queue have completed.
fn is_over(waits: &mut Waits<'_>, state: &State, tracked: &TrackedAccess) -> bool {
    let host = state.rare.host();
    let Some(host) = host.filter(|host| host.wait == HostWait::Before) else {
        return false;
    };
    if state.write.as_ref() == Some(tracked) {
        return true;
    }
    // The comparison below makes the plan depend on both values.
    waits.past.consult_exactly(tracked);
    waits.past.consult_exactly(&host.tracked);
    host.tracked.queue == tracked.queue && tracked.value <= host.tracked.value
}

/// The scope of a use by a host pass. Host access to memory that is visible for reads may also
/// write, and either access mask makes the device's writes visible to the host.
fn scope_of(one: &Use) -> Scope {
    let reads = one.access.is_read() && !one.discard;
    Scope {
        stages: Stages::HOST,
        access: if reads {
            AccessMask::HOST_READ
        } else {
            AccessMask::HOST_WRITE
        },
    }
}

/// Makes the last write of a run visible to a host pass, by a barrier at the end of a submission.
fn make_visible(builder: &mut Builder<'_>, step: &mut HostStep, one: &Use, state: &mut State) {
    let Some(tracked) = state.write else {
        unreachable!("contents without a write need no visibility");
    };
    let submission = barrier_submission(builder, one.resource, &[state], false);
    let reason = reason(builder, step.pass, one, &[state], DependencyKind::Memory);
    let src = builder.source_at(submission, &tracked, true, &reason);
    builder.records[submission]
        .tail
        .merge(src, scope_of(one), reason);
    builder.note_use(one.resource, submission);
    let view = view(builder, step.pass, submission);
    wait(&mut builder.waits, step, &view.tracked);
    state.rare.set_host(view);
}

/// Transitions a run of an image, or all runs of a mip level, to the layout that a host pass needs.
fn change_layout(
    builder: &mut Builder<'_>,
    step: &mut HostStep,
    one: &Use,
    interval: Range<u64>,
    states: &[&State],
) -> HostVisibility<TrackedAccess> {
    let old_layout = states.first().map_or(Layout::Undefined, |it| it.layout);
    let reason = reason(
        builder,
        step.pass,
        one,
        states,
        DependencyKind::LayoutTransition,
    );
    let submission = barrier_submission(builder, one.resource, states, true);
    let src = sources(builder, submission, &reason, states);
    let mut dst = scope_of(one);
    if let SubRange::Slices(_) = one.range {
        // Other passes may read the slices of the level that this pass does not write.
        dst.access = AccessMask::HOST_READ;
    }
    let mut barrier = Barrier::plain(src, dst, old_layout, reason);
    barrier.new_layout = one.access.layout();
    let resource = builder.inputs.frame.resource(one.resource);
    builder.records[submission]
        .changes
        .push(resource, interval, barrier);
    builder.note_use(one.resource, submission);
    let view = view(builder, step.pass, submission);
    wait(&mut builder.waits, step, &view.tracked);
    view
}

/// Updates the state after a layout transition: every later access depends on it.
fn layout_changed(
    builder: &Builder<'_>,
    one: &Use,
    view: HostVisibility<TrackedAccess>,
    state: &mut State,
) {
    let pass = state.write.map_or(view.tracked.pass, |write| write.pass);
    state.write = Some(TrackedAccess {
        pass,
        ..view.tracked
    });
    state.reads.clear();
    state.rare.forget_promised();
    state.visible.clear();
    state.layout = one.access.layout();
    if builder.inputs.is_owned(one.resource) {
        // A transition is a use, so without an owner the family that performs it becomes the
        // owner.
        let family = builder.inputs.topology.family(view.tracked.queue);
        state.owner.get_or_insert(family);
    }
    state.rare.set_host(view);
}

/// Returns the visibility of a host pass at the end of a submission.
fn view(
    builder: &Builder<'_>,
    pass: PassIndex,
    submission: usize,
) -> HostVisibility<TrackedAccess> {
    let Point { queue, value } = builder.point(submission);
    HostVisibility {
        tracked: TrackedAccess {
            queue,
            value,
            scope: HOST,
            pass: EndPass::Pass(pass),
            // The step after all barriers of the submission.
            step: builder.records[submission].step,
        },
        wait: HostWait::Now,
    }
}

/// The reason for a dependency of a host pass.
fn reason(
    builder: &Builder<'_>,
    pass: PassIndex,
    one: &Use,
    states: &[&State],
    dependency_kind: DependencyKind,
) -> Reason {
    let mut states = states.iter();
    let earlier = states.find_map(|state| state.write.as_ref().or(state.reads.last()));
    Reason {
        resource: one.resource,
        earlier: earlier.map_or(PassRef::None, |tracked| {
            builder.waits.past.pass_ref(tracked.pass)
        }),
        later: PassRef::Pass(pass),
        dependency_kind,
    }
}

/// The first scope of a transition at the end of a submission: the last write, and all reads
/// since.
fn sources(
    builder: &mut Builder<'_>,
    submission: usize,
    reason: &Reason,
    states: &[&State],
) -> Scope {
    let all = states.iter().flat_map(|state| {
        let writes = state.write.iter().map(|write| (write, true));
        writes.chain(state.reads.iter().map(|read| (read, false)))
    });
    all.fold(Scope::default(), |all, (tracked, memory)| {
        all.union(builder.source_at(submission, tracked, memory, reason))
    })
}

/// The submission that ends with the barrier for the host: the last submission of this frame that
/// the barrier depends on. Without one, it is the window of the queue that wrote, read, or owns
/// the range, or else of the queue that uses the resource next.
fn barrier_submission(
    builder: &Builder<'_>,
    resource: ResourceIndex,
    states: &[&State],
    changes: bool,
) -> usize {
    let submission_of =
        |tracked: &TrackedAccess| builder.waits.timeline.submission(tracked.point());
    let mut submission = None;
    for state in states {
        submission = submission.max(state.write.as_ref().and_then(submission_of));
        if changes {
            submission = submission.max(state.reads.iter().filter_map(submission_of).max());
        }
    }
    if let Some(submission) = submission {
        return submission;
    }
    let mut last = states.iter();
    let tracked = last.find_map(|state| state.write.as_ref().or(state.reads.last()));
    let topology = builder.inputs.topology;
    let owner = states.first().and_then(|state| state.owner);
    let owning = || {
        let mut queues = topology.indices();
        queues.find(|queue| owner == Some(topology.family(*queue)))
    };
    let next = || builder.next_queue(resource);
    let queue = tracked
        .map(|tracked| tracked.queue)
        .or_else(owning)
        .or_else(next);
    builder.window(queue.unwrap_or_default())
}

/// Lets a host pass wait for an access.
fn wait(waits: &mut Waits<'_>, step: &mut HostStep, tracked: &TrackedAccess) {
    waits.past.consult_exactly(tracked);
    wait_for(step, tracked.point());
}

/// Lets a host pass wait for a point.
fn wait_for(step: &mut HostStep, point: Point) {
    match step.waits.iter_mut().find(|wait| wait.queue == point.queue) {
        Some(wait) => wait.offset = wait.offset.max(point.value),
        None => step.waits.push(RelativePoint {
            queue: point.queue,
            offset: point.value,
        }),
    }
}
